"""Pictures of the chapter on prototypes, drawn from what its cells computed and from `bench/prototype.csv`."""

from collections.abc import Mapping, Sequence

import tensorflow as tf
from IPython.display import HTML
from measured import number, read
from pictures.anchors import entries
from pictures.drawing import COLOURS, bold, code, line, picture, small
from pictures.layout import arrow, box, chain, column, layers, row, table
from pictures.plots import Plot, chart

NODES = 30  # of the graphs in the table that have many


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
    graph = column(bold("the graph"), small("TensorFlow’s threads"), gap=0)
    process = bold("your process"), small("Python, one thread at a time")
    rows = [[graph, row(*boxes, gap=32)], [column(*process, gap=0), function]]
    shapes = table(rows, (30, 62), ("start", "middle"))
    middle = shapes.height / 2
    across = line((0, middle), (shapes.width, middle), dashed=True)
    arrows = [
        *chain(*boxes),
        arrow(call, function, f"tensor\n{token}", shift=-16),
        arrow(function, call, "array\n", shift=16),
    ]
    label = (
        "In the graph, flow goes to PyFuncStateless and from there to EnsureShape. PyFuncStateless knows its function "
        f"as {token}: it hands a tensor down to battery_reference in your Python process, where one thread at a time "
        "runs Python, and gets an array back."
    )
    return picture(layers(across, shapes, *arrows), label, scale=1.3)


def times() -> HTML:
    """How much longer other ways take than the op in C++, from `bench/prototype.csv`."""
    rows = read("prototype").where(mode="tf.function")
    return chart(
        [row for row in rows if row["way"] != "C++ op"],
        "times as long as the C++ op, in a tf.function",
        heading=lambda row: f"{int(row['size']):,} numbers".replace(",", " "),
        series="",
    )


def figures() -> dict[str, str]:
    """What the text quotes: milliseconds of a call, and ratios to the op."""
    many = f"tf.function, {NODES} nodes"

    def value(
        mode: str, way: str = "C++ op", column: str = "milliseconds", size: int = 10
    ) -> float:
        return read("prototype").number(column, mode=mode, size=str(size), way=way)

    def more(mode: str, size: int, nodes: int = 1) -> float:
        """Milliseconds that NumPy takes longer for each node."""
        return (value(mode, "NumPy", size=size) - value(mode, size=size)) / nodes

    def snake(threads: int, way: str) -> str:
        """What part of the op's time a way takes for ten million numbers."""
        of = {"task": "Snake of 10000000", "threads": str(threads)}
        return number(read("elementwise").number(**of, way=way))

    small = 10, 1000
    nodes = [more(many, 10, NODES), *(more("tf.function", size) for size in small)]
    return {
        "least": number(min(nodes)),
        "most": number(max(nodes)),
        "eager": number(max(more("eager", size) for size in small)),
        "composed_1": snake(1, "composed"),
        "avx2_1": snake(1, "for AVX2 and FMA"),
        "shared_2": snake(2, "for any x86-64"),
        "many": number(value(many, "NumPy", "ratio")),
    }


# Each question, its lines separated by a slash, and what to do if the answer is yes.
QUESTIONS = """
Can TensorFlow compose it,/and is that fast and small enough? | compose it
Are you still trying it out? | tf.numpy_function
Must others load the model? | an op in C++
Does it take much of each step,/and can cores, a GPU/or fewer arrays help? | an op in C++
"""


def decision() -> HTML:
    """Draws which way to take."""
    rows = []
    for question, way in entries(QUESTIONS):
        look = {"shade": 0.25, "colour": "C++" in way}
        asked = box(question.split("/"), width=260)
        asked.tells(f"{question.replace('/', ' ')} Yes: {way}")
        rows.append([asked, box(way, width=150, height=34, **look)])
    last = box("leave it in NumPy", 0.25, width=160, height=34)
    rows.append([last.tells("No to all: leave it in NumPy"), ""])
    asked = [one for one, _ in rows]
    shapes = layers(
        table(rows, (44, 24)),
        *(arrow(one, other, "yes") for one, other in rows[:-1]),
        *chain(*asked, label="no"),
    )
    return picture(shapes, "Four questions, one after the other.", scale=1.2)
