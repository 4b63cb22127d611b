"""Pictures of the chapter on prototypes, drawn from what its cells computed and from `bench/prototype.csv`."""

from collections.abc import Mapping, Sequence

from IPython.display import HTML
from measured import number, read
from pictures.drawing import COLOURS, picture
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


def times() -> HTML:
    """How much longer other ways take than the op in C++, from `bench/prototype.csv`."""
    rows = read("prototype").where(mode="tf.function")
    return chart(
        [row for row in rows if row["way"] != "C++ op"],
        "How many times as long as the op in C++ the other ways take, in a tf.function, by the size of the input.",
        "times as long as the C++ op, in a tf.function",
        heading=lambda row: f"{int(row['size']):,} numbers".replace(",", " "),
        series="",
    )


def figures() -> dict[str, str]:
    """What the text quotes: milliseconds of a call, and ratios to the op."""
    many, step = f"tf.function, {NODES} nodes", f"forward and gradient, {NODES} nodes"

    def value(
        mode: str, way: str = "C++ op", column: str = "milliseconds", size: int = 10
    ) -> float:
        return read("prototype").number(column, mode=mode, size=str(size), way=way)

    def more(mode: str, size: int, nodes: int = 1) -> float:
        """Milliseconds that NumPy takes longer for each node."""
        return (value(mode, "NumPy", size=size) - value(mode, size=size)) / nodes

    small = 10, 1000
    nodes = [more(many, 10, NODES), *(more("tf.function", size) for size in small)]
    return {
        "eagerly": number(value("eager")),
        "called": number(value("tf.function")),
        "alone": number(more("tf.function", 10)),
        "node": number(more(many, 10, NODES)),
        "least": number(min(nodes)),
        "most": number(max(nodes)),
        "eager": number(max(more("eager", size) for size in small)),
        "many": number(value(many, "NumPy", "ratio")),
        "step": number(value(step, "NumPy", "ratio")),
    }
