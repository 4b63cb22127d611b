"""Pictures of the chapter on prototypes, drawn from what its cells computed and from `bench/prototype.csv`."""

from collections.abc import Mapping, Sequence
from functools import partial

import tensorflow as tf
from IPython.display import HTML
from measured import grouped, number, read, text_of
from pictures.anchors import entries
from pictures.drawing import COLOURS, bold, code, line, picture, small
from pictures.layout import arrow, box, chain, column, layers, row, table
from pictures.plots import Plot, chart

NODES = 30  # of the graphs in the table that have many
MANY = f"tf.function, {NODES} nodes"


def levels(lines: Mapping[str, Sequence[float]], capacity: float) -> HTML:
    """Draws at most two levels, hour by hour."""
    hours = len(next(iter(lines.values())))
    low = min(map(min, lines.values()))
    plot = Plot(400, 150, (0, hours), (low, 1.1 * capacity))
    plot.axes("hours", "kWh")
    plot.ticks("x", range(0, hours + 1, 24))
    plot.ticks("y", (0, capacity), grid=True)
    looks = {}
    for name, colour, dash in zip(lines, COLOURS, (None, "7 4")):
        looks[name] = {"colour": colour, "width": 3, "dash": dash}
        plot.line(range(1, hours + 1), lines[name], **looks[name])
    plot.legend(looks)
    label = f"Levels over {hours} hours: {' and '.join(lines)}. The first stays between 0 and {capacity:g}."
    return picture(plot.shape(), label, scale=1.25)


def a_call(traced: tf.types.experimental.ConcreteFunction) -> HTML:
    """Draws the way of the tensors through a graph with one PyFuncStateless in it, out of TensorFlow and back."""
    nodes = {node.type: node for node in traced.graph.get_operations()}
    token = nodes["PyFuncStateless"].get_attr("token").decode()
    names = "flow", "PyFuncStateless", "EnsureShape"
    _, call, _ = boxes = [box(code(name, 13)) for name in names]
    function = box(code("battery_reference(flow, capacity)", 13), 0.25)
    graph = row(bold("the graph:"), small("TensorFlow’s threads"))
    process = row(bold("your process:"), small("Python, one thread at a time"))
    above = column(graph, row(*boxes, gap=32))
    below = column(function, process, align="middle")
    shapes = column(above, below, gap=62, align="middle")
    middle = above.height + 31
    across = line((0, middle), (shapes.width, middle), dashed=True)
    arrows = [
        *chain(*boxes),
        arrow(call, function, f"tensor\n\n{token}", shift=-16),
        arrow(function, call, "array\n\n", shift=16),
    ]
    label = (
        "In the graph, flow goes to PyFuncStateless and from there to EnsureShape. PyFuncStateless knows its function "
        f"as {token}: it hands a tensor down to battery_reference in your Python process, where one thread at a time "
        "runs Python, and gets an array back."
    )
    return picture(layers(across, shapes, *arrows), label, scale=1.3)


def times() -> HTML:
    """How much longer other ways take than the op in C++, from `bench/prototype.csv`."""
    modes = {"tf.function": "", MANY: f", {NODES} nodes"}
    rows = [row for mode in modes for row in read("prototype").where(mode=mode)]
    return chart(
        [row for row in rows if row["way"] != "C++ op"],
        "times as long as the C++ op, in a tf.function",
        heading=lambda row: f"{int(row['size']):,} numbers{modes[row['mode']]}",
        series="",
    )


def battery() -> tuple[list[str], list[list[str]]]:
    """A table of what a gradient of Battery takes, by hours and ways: its header and rows."""
    rows = read("prototype").where(mode="Battery, forward and gradient")
    hours = list(dict.fromkeys(row["size"] for row in rows))
    found = []
    for (way,), some in grouped(rows, "way").items():
        times = {row["size"]: text_of(row) for row in some}
        found.append([way, *(times.get(each, "–") for each in hours)])
    return ["Way", *(f"{each} hours, ms" for each in hours)], found


def snake() -> tuple[list[str], list[list[str]]]:
    """A table of Snake of ten million numbers on one thread and on two: its header and rows."""
    ways = {
        "composed": "composed",
        "composed, XLA": "composed, under XLA",
        "polynomial, XLA": "the same with a polynomial in place of the sine",
        "for any x86-64": "our op, if threads share the input",
        "for AVX2 and FMA": "and compiled for AVX2 and FMA",
    }
    ratio = partial(read("elementwise").text, "ratio", task="Snake of 10000000")
    rows = [
        [name, *(ratio(threads=n, way=way) for n in "12")] for way, name in ways.items()
    ]
    return ["Way", "One thread", "Two threads"], rows


def figures() -> dict[str, str]:
    """What the text quotes: milliseconds that NumPy takes longer than the op for each node in a `tf.function`."""

    def more(mode: str, size: int, nodes: int = 1) -> float:
        of = {"mode": mode, "size": str(size)}
        took = partial(read("prototype").number, "milliseconds", **of)
        return (took(way="NumPy") - took(way="C++ op")) / nodes

    found = [more(MANY, 10, NODES), *(more("tf.function", size) for size in (10, 1000))]
    return {"least": number(min(found)), "most": number(max(found))}


# Each question, its lines separated by a slash, and what to do if the answer is yes.
QUESTIONS = """
Can TensorFlow compose it,/and is that fast and small enough? | compose it
Are you still trying it out? | tf.numpy_function
Must others load the model? | an op in C++
Does it take much of each step,/and would compiled code help:/a Python loop, many arrays,/one core? | an op in C++
"""


def decision() -> HTML:
    """Draws which way to take."""
    rows = []
    for question, way in entries(QUESTIONS):
        look = {"shade": 0.25, "colour": "C++" in way}
        asked = box(question.split("/"), width=244)
        asked.tells(f"{question.replace('/', ' ')} Yes: {way}")
        rows.append([asked, box(way, width=150, height=34, **look)])
    last = box("leave it in NumPy", 0.25, width=160, height=34)
    rows.append([last.tells("No to all: leave it in NumPy"), ""])
    asked = [one for one, _ in rows]
    shapes = layers(
        table(rows, (36, 24)),
        *(arrow(one, other, "yes") for one, other in rows[:-1]),
        *chain(*asked, label="no"),
    )
    return picture(shapes, "Four questions, one after the other.", scale=1.2)
