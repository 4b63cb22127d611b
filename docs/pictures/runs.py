"""The tables of the chapter on when kernels run."""

from collections.abc import Callable

import tensorflow as tf
from count_runs import WAYS, runs
from tensorflow.python.eager import context


def traced_and_run(function: Callable, op: Callable) -> list[tuple[str, str]]:
    """The ops of a function's graph as it is traced, and as it runs."""
    context.context().enable_run_metadata()
    try:
        tf.function(function)(op, tf.constant([1.0, 2.0, 3.0]))
        [graphs] = context.context().export_run_metadata().function_graphs
    finally:
        context.context().disable_run_metadata()
    found = {
        "as traced": graphs.pre_optimization_graph,
        "as it runs": graphs.post_optimization_graph,
    }
    passing = "_Arg", "Identity", "_Retval", "_DeviceRetval", "NoOp"
    ops = [
        [n.op for n in graph.node if n.op not in passing] for graph in found.values()
    ]
    return [
        (when, ", ".join(f"`{op}`" for op in each)) for when, each in zip(found, ops)
    ]


def ten_calls(op: Callable) -> tuple[list[str], list[list[object]]]:
    """How often a counting op runs in ten calls of each function of count_runs.py: a header, and a row for each."""
    header = ["Ten calls of", "eagerly", "in a graph"]
    return header, [
        [f"`{way.__name__}`", runs(way, op), runs(tf.function(way), op)] for way in WAYS
    ]
