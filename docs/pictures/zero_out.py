"""The pictures of the chapter on ZeroOut, and the flags of its compiler; each is checked before it is shown."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import tensorflow as tf
from count_runs import WAYS, count_runs, count_runs_stateful, runs
from IPython import get_ipython
from IPython.display import HTML
from pictures.figures import (
    COLOURS,
    FITTING,
    MIDDLE,
    POINTED,
    TIP,
    drawing,
    grids,
    text,
)
from tensorflow.python.eager import context
from zero_out_reference import zero_out_reference

BOX_WIDTH, BOX_HEIGHT = 100, 32
ACROSS, DOWN = BOX_WIDTH + 22, BOX_HEIGHT + 38
DOT = 14

FLAGS = {
    "-shared": "make a library, not a program",
    "-fPIC": "its code works at any address",
    "-O2": "optimize",
    "-DNDEBUG": "leave out `assert` and other checks for debugging in the headers, as TensorFlow's own build does",
    "-w": "no warnings, of which TensorFlow's headers give many; the build below shows those of your code",
    "--std=c++17": "the oldest C++ that the headers take",
    "-D_GLIBCXX_USE_CXX11_ABI=1": "`std::string` lies in memory as in TensorFlow",
    "-DEIGEN_MAX_ALIGN_BYTES=64": "Eigen, which is behind `flat`, may rely on tensors at multiples of 64 bytes",
    "-l:libtensorflow_framework.so.2": "the library that has `OpKernel` in it",
}

Graph = Mapping[str, tuple[str, Sequence[str]]]


def before_and_after(op: Callable) -> HTML:
    """Draws what ZeroOut makes of a matrix."""
    to_zero = np.int32([[5, 4, 3], [2, 1, 6]])
    zeroed = op(to_zero).numpy()
    np.testing.assert_array_equal(zeroed, zero_out_reference(to_zero), strict=True)
    return grids(
        {"to_zero": to_zero, "zero_out(to_zero)": zeroed},
        "Two rows and three columns before and after: only the 5, the first, is left.",
    )


def facts() -> dict[str, object]:
    """Which TensorFlow this is, and how many lines the example has."""
    source = Path(zero_out_reference.__code__.co_filename).with_name("zero_out.cc")
    return {"version": tf.__version__, "lines": len(source.read_text().splitlines())}


def ten_calls(op: Callable) -> tuple[list[str], list[list[object]]]:
    """How often a counting op runs in ten calls of each function of count_runs.py: a header, and a row for each."""
    rows = [[runs(way, op), runs(tf.function(way), op)] for way in WAYS]
    expected = {
        count_runs: [[10, 10], [10, 1], [10, 0], [20, 10]],
        count_runs_stateful: [[10, 10], [10, 10], [10, 10], [20, 20]],
    }
    if rows != expected[op]:
        raise ValueError(f"other counts than the text explains: {rows}")
    header = ["Ten calls of", "eagerly", "in a graph"]
    return header, [[f"`{way.__name__}`", *row] for way, row in zip(WAYS, rows)]


def flags() -> Iterator[tuple[str, str]]:
    """Each flag of the g++ command that a cell has run, those of tf.sysconfig included, and what it is for."""
    cells = "\n".join(get_ipython().history_manager.input_hist_raw)
    [command] = re.findall(r"^g\+\+ .*", cells, re.M)
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


def _rank(graph: Graph, name: str) -> int:
    """In which row a node is drawn: below its inputs; a constant right above what takes it."""
    takers = [taker for taker, (_, inputs) in graph.items() if name in inputs]
    if not graph[name][1] and graph[name][0] != "_Arg":
        return min(_rank(graph, taker) for taker in takers) - 1
    from_inputs = [
        _rank(graph, each)
        for each in graph[name][1]
        if graph[each][1] or graph[each][0] == "_Arg"
    ]
    return 1 + max(from_inputs, default=-1)


def traced_and_run(function: Callable, op: Callable) -> HTML:
    """Draws the graph of `op(x) + op(x)` as it is traced, and as it runs."""
    found = graphs(tf.function(function), op, tf.constant([1.0, 2.0, 3.0]))
    kinds = {
        when: sorted(op for op, _ in graph.values()) for when, graph in found.items()
    }
    if kinds != {
        "traced": ["AddV2", "CountRuns", "CountRuns", "_Arg"],
        "runs": ["2", "CountRuns", "Mul", "_Arg"],
    }:
        raise ValueError(f"other nodes than the text explains: {kinds}")
    return draw(
        {
            f"{function.__name__}, as traced": found["traced"],
            "and as it runs": found["runs"],
        },
        "As traced, x goes to two nodes CountRuns, and their results are added. As it runs, there is one node "
        "CountRuns, and its result is multiplied by 2.",
    )


def draw(drawn: Mapping[str, Graph], label: str) -> HTML:
    """Draws graphs side by side, what computes above what takes its result.

    Args:
      drawn: From the caption of each graph to its nodes.
      label: What the picture shows, for those who do not see it.
    """
    parts, left, bottom = [], 4, 0
    for caption, graph in drawn.items():
        rows: dict[int, list[str]] = {}
        for name in graph:
            rows.setdefault(_rank(graph, name), []).append(name)
        width = max(map(len, rows.values())) * ACROSS - (ACROSS - BOX_WIDTH)
        width = max(width, 9 * len(caption))
        place = {
            name: (
                left + width / 2 + (column - (len(row) - 1) / 2) * ACROSS,
                30 + number * DOWN,
            )
            for number, row in rows.items()
            for column, name in enumerate(row)
        }
        middle = round(left + width / 2)
        parts.append(text(middle, 16, caption, MIDDLE, 'font-weight="600"'))
        for name, (op, inputs) in graph.items():
            x, y = place[name]
            for number, source in enumerate(sorted(inputs, key=place.get)):
                apart = 28 * (number - (len(inputs) - 1) / 2)
                from_x, from_y = place[source]
                from_x += apart if inputs.count(source) > 1 else 0
                parts.append(
                    f'<path d="M{from_x:.0f} {from_y + BOX_HEIGHT}L{x + apart:.0f} {y - 2}" {POINTED}/>'
                )
            colour = COLOURS[0] if op == "CountRuns" else "none"
            parts.append(
                f'<rect x="{x - BOX_WIDTH / 2:.0f}" y="{y}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="6" '
                f'fill="{colour}" fill-opacity="0.25" stroke="currentColor"/>'
            )
            shown = {"_Arg": "x", "AddV2": "+", "Mul": "×"}.get(op, op)
            parts.append(text(round(x), y + BOX_HEIGHT / 2 + 5, shown, MIDDLE))
        bottom = max(bottom, *(y for _, y in place.values()))
        left += width + 40
    size = round(left - 36), bottom + BOX_HEIGHT + 4
    return HTML(drawing([TIP, *parts], *size, label, style=FITTING))


def dots(wrong: Sequence[bool], columns: int = 40) -> HTML:
    """Draws a dot for each call, row by row; one whose result is wrong is filled, and larger.

    Args:
      wrong: Of each call, in the order in which they were made, whether its result is wrong.
      columns: How many dots a row has.
    """
    parts = []
    label = f"{len(wrong)} dots, of which {sum(wrong)} are large: they lie scattered among the others."
    for call, is_wrong in enumerate(wrong):
        x, y = (DOT * (number + 0.5) for number in (call % columns, call // columns))
        style = (
            f'r="5.5" fill="{COLOURS[1]}" stroke="currentColor"'
            if is_wrong
            else 'r="2" fill="currentColor" fill-opacity="0.45"'
        )
        parts.append(f'<circle cx="{x:g}" cy="{y:g}" {style}/>')
    size = columns * DOT, -(-len(wrong) // columns) * DOT
    return HTML(drawing(parts, *size, label, style=FITTING))
