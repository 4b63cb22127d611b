"""Which of TensorFlow's Python functions make a node of a graph, and who says where it runs."""

import sys
from collections.abc import Callable
from pathlib import Path

import tensorflow as tf
from tensorflow.python.eager import context

# What does something to the node. Left out are decorators, caches and locks.
STEPS = {
    *("matmul", "mat_mul", "_apply_op_helper", "_GetOpDef", "_ExtractInputsAndAttrs"),
    *("_ExtractRemainingAttrs", "_ExtractAttrProto", "_create_op_internal", "capture"),
    *("from_node_def", "_create_c_op", "TF_NewOperation", "TF_AddInput"),
    *("TF_SetAttrValueProto", "TF_FinishOperation", "TF_SetOpStackTrace"),
    "_apply_device_functions",
}


def way_to_a_node(function: Callable, *specs: tf.TensorSpec) -> list[str]:
    """Traces a function.

    Args:
      function: Of tensors.
      *specs: Their shapes and dtypes.

    Returns:
      The `STEPS` that ran, each indented below the one that called it, with the file of a function in Python.
    """
    lines, inside = [], []

    def look(frame, event, called) -> None:
        in_c = event.startswith("c_")
        name = called.__name__ if in_c else frame.f_code.co_name
        if name not in STEPS:
            return
        if event in ("return", "c_return", "c_exception"):
            inside.pop()
            return
        file = "C++" if in_c else Path(frame.f_code.co_filename).name
        line = f"{'  ' * len(inside) + name:42}{file}"
        if [line] != lines[-1:]:  # one for each input and each attr
            lines.append(line)
        if event in ("call", "c_call"):
            inside.append(name)

    def watched(*tensors):
        before = sys.getprofile()
        sys.setprofile(look)
        try:
            return function(*tensors)
        finally:
            sys.setprofile(before)

    tf.function(watched, autograph=False).get_concrete_function(*specs)
    return lines


def devices(function: Callable, *inputs: tf.Tensor) -> dict[str, tuple[str, str]]:
    """Traces and runs a function; from each of its nodes to the device that Python asked for and that it got."""
    graph = tf.function(function, autograph=False)
    nodes = graph.get_concrete_function(*inputs).graph.get_operations()
    context.context().enable_run_metadata()
    try:
        graph(*inputs)
        ran = context.context().export_run_metadata()
    finally:
        context.context().disable_run_metadata()
    placed = {
        node.name: node.device.partition("device:")[2]
        for each in ran.function_graphs
        for part in each.partition_graphs
        for node in part.node
    }
    return {
        node.name: (node.device.partition("device:")[2], placed[node.name])
        for node in nodes
        if node.name in placed
    }
