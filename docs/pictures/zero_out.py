"""The pictures of the chapter on ZeroOut, and the flags of its compiler."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import tensorflow as tf
from count_runs import WAYS, runs
from IPython import get_ipython
from IPython.display import HTML
from pictures.drawing import INK, ORANGE, bold, dot, picture
from pictures.layout import box, column, graph, grids, layers, row
from tensorflow.python.eager import context
from zero_out_reference import zero_out_reference

FLAGS = {
    "-shared": "make a library, not a program",
    "-fPIC": "its code works at any address",
    "-O2": "optimize",
    "-DNDEBUG": "leave out `assert` and other checks for debugging in the headers, as TensorFlow's own build does",
    "-w": "no warnings: TensorFlow's headers cause many; CMake, below, shows those of your own code",
    "--std=c++17": "the oldest C++ that the headers take",
    "-D_GLIBCXX_USE_CXX11_ABI=1": "`std::string` lies in memory as in TensorFlow",
    "-DEIGEN_MAX_ALIGN_BYTES=64": "Eigen, which is behind `flat`, may rely on tensors at multiples of 64 bytes",
    "-l:libtensorflow_framework.so.2": "the library that has `OpKernel` in it",
}
Graph = Mapping[str, tuple[str, Sequence[str]]]


def before_and_after(op: Callable) -> HTML:
    """Draws what ZeroOut makes of a matrix."""
    to_zero = np.int32([[5, 4, 3], [2, 1, 6]])
    return grids(
        {"to_zero": to_zero, "zero_out(to_zero)": op(to_zero).numpy()},
        "Two rows and three columns before and after: only the 5, the first, is left.",
    )


def facts() -> dict[str, object]:
    """Which TensorFlow this is, and how many lines the example has."""
    source = Path(zero_out_reference.__code__.co_filename).with_name("zero_out.cc")
    return {"version": tf.__version__, "lines": len(source.read_text().splitlines())}


def ten_calls(op: Callable) -> tuple[list[str], list[list[object]]]:
    """How often a counting op runs in ten calls of each function of count_runs.py: a header, and a row for each."""
    header = ["Ten calls of", "eagerly", "in a graph"]
    return header, [
        [f"`{way.__name__}`", runs(way, op), runs(tf.function(way), op)] for way in WAYS
    ]


def flags() -> Iterator[tuple[str, str]]:
    """Each flag of the first g++ command that a cell has run, those of tf.sysconfig included, and what it is for."""
    cells = "\n".join(get_ipython().history_manager.input_hist_raw)
    command = re.search(r"^g\+\+ .*", cells, re.M)[0]
    used = set(re.findall(r"(?<= )-\w+", command)) - {"-o"}
    asked = tf.sysconfig.get_compile_flags() + tf.sysconfig.get_link_flags()
    used |= {flag for flag in asked if flag[:2] not in ("-I", "-L")}
    if used != FLAGS.keys():
        raise ValueError(f"flags without a reason, or not used: {used ^ FLAGS.keys()}")
    return ((f"`{flag}`", why) for flag, why in FLAGS.items())


def graphs(function: Callable, *arguments: tf.Tensor) -> dict[str, Graph]:
    """Calls a `tf.function` for the first time.

    Returns:
      Its graph as "traced" and as it "runs", without the nodes that only pass on what they get: from the name of each
      node to its op, or the value of a constant, and the names of its inputs.
    """
    context.context().enable_run_metadata()
    try:
        function(*arguments)
        [of_function] = context.context().export_run_metadata().function_graphs
    finally:
        context.context().disable_run_metadata()
    return {
        "traced": _nodes(of_function.pre_optimization_graph),
        "runs": _nodes(of_function.post_optimization_graph),
    }


def _nodes(graph: tf.compat.v1.GraphDef) -> Graph:
    inputs = {
        node.name: [name.partition(":")[0] for name in node.input if name[0] != "^"]
        for node in graph.node
    }
    ops = {node.name: node.op for node in graph.node}
    for node in graph.node:
        if node.op == "Const":
            ops[node.name] = f"{tf.make_ndarray(node.attr['value'].tensor):g}"
    passing = {
        name
        for name in ops
        if ops[name] in ("Identity", "_Retval", "_DeviceRetval", "NoOp")
    }

    def source(name: str) -> str:
        return source(inputs[name][0]) if name in passing else name

    return {
        name: (op, [source(each) for each in inputs[name]])
        for name, op in ops.items()
        if name not in passing
    }


def traced_and_run(function: Callable, op: Callable) -> HTML:
    """Draws the graph of `op(x) + op(x)` as it is traced, and as it runs."""
    found = graphs(tf.function(function), op, tf.constant([1.0, 2.0, 3.0]))
    captions = f"{function.__name__}, as traced", "and as it runs"
    drawn = []
    for caption, nodes in zip(captions, found.values()):
        boxes = {}
        for name, (kind, _) in nodes.items():
            shown = {"_Arg": "x", "AddV2": "+", "Mul": "×"}.get(kind, kind)
            boxes[name] = box(shown, 0.25 * (kind == "CountRuns"), width=100, height=32)
        edges = [(each, name) for name, (_, inputs) in nodes.items() for each in inputs]
        drawn.append(column(bold(caption), graph(boxes, edges), align="middle"))
    label = (
        "As traced, x goes to two nodes CountRuns, and their results are added. As it runs, there is one node "
        "CountRuns, and its result is multiplied by 2."
    )
    return picture(row(*drawn, gap=40, align="start"), label)


def dots(wrong: Sequence[bool], columns: int = 40) -> HTML:
    """Draws a dot for each call, row by row; one whose result is wrong is filled, and larger."""
    large = {"radius": 5.5, "colour": ORANGE, "stroke": INK}
    little = {"radius": 2, "fill_opacity": 0.45}
    shapes = (
        dot(14 * (i % columns), 14 * (i // columns), **(large if is_wrong else little))
        for i, is_wrong in enumerate(wrong)
    )
    label = f"{len(wrong)} dots, of which {sum(wrong)} are large: they lie scattered among the others."
    return picture(layers(*shapes), label)
