"""The pictures and the tables of the chapter on when kernels run."""

from collections.abc import Callable, Mapping, Sequence

import tensorflow as tf
from count_runs import WAYS, runs
from IPython.display import HTML
from pictures.drawing import bold, dot, picture
from pictures.layout import box, column, graph, layers, row
from tensorflow.python.eager import context

Graph = Mapping[str, tuple[str, Sequence[str]]]
PASSING = "Identity", "_Retval", "_DeviceRetval", "NoOp"


def ten_calls(op: Callable) -> tuple[list[str], list[list[object]]]:
    """How often a counting op runs in ten calls of each function of count_runs.py: a header, and a row for each."""
    header = ["Ten calls of", "eagerly", "in a graph"]
    return header, [
        [f"`{way.__name__}`", runs(way, op), runs(tf.function(way), op)] for way in WAYS
    ]


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
    inputs, ops = {}, {}
    for node in graph.node:
        names = (name for name in node.input if name[0] != "^")
        inputs[node.name] = [name.partition(":")[0] for name in names]
        ops[node.name] = node.op
        if node.op == "Const":
            ops[node.name] = f"{tf.make_ndarray(node.attr['value'].tensor):g}"
    passing = {name for name, op in ops.items() if op in PASSING}

    def source(name: str) -> str:
        return source(inputs[name][0]) if name in passing else name

    shown = (name for name in ops if name not in passing)
    return {name: (ops[name], [*map(source, inputs[name])]) for name in shown}


def traced_and_run(function: Callable, op: Callable) -> HTML:
    """Draws the graph of `op(x) + op(x)` as it is traced, and as it runs."""
    found = graphs(tf.function(function), op, tf.constant([1.0, 2.0, 3.0]))
    ops = [sorted(op for op, _ in nodes.values()) for nodes in found.values()]
    traced = ["AddV2", "CountRuns", "CountRuns", "_Arg"]
    if ops != [traced, ["2", "CountRuns", "Mul", "_Arg"]]:
        raise ValueError(f"the label below does not tell of {ops}")
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
    large = {"radius": 5.5, "colour": "orange", "stroke": "ink"}
    little = {"radius": 2, "fill_opacity": 0.45}
    shapes = (
        dot(14 * (i % columns), 14 * (i // columns), **(large if is_wrong else little))
        for i, is_wrong in enumerate(wrong)
    )
    label = f"{len(wrong)} dots, of which {sum(wrong)} are large: they lie scattered among the others."
    return picture(layers(*shapes), label)
