"""Pictures of the chapter on random numbers, each drawn from what ops return or what was measured."""

from collections.abc import Mapping, Sequence

import numpy as np
from IPython.display import HTML
from measured import read, span
from pictures.drawing import line, picture, rectangle, small
from pictures.layout import at, box, column, layers, row
from pictures.plots import Plot, chart, keys


def learning_curves(losses: Mapping[str, Sequence[float]]) -> HTML:
    """At most three losses over the steps of a training, on a logarithmic axis."""
    values = [value for some in losses.values() for value in some]
    steps = max(map(len, losses.values()))
    plot = Plot(278, 176, (0, steps), (min(values) / 2, max(values)), "y")
    plot.axes("steps", "loss")
    powers = [10.0**power for power in range(-9, 9)]
    plot.ticks("y", [each for each in powers if min(values) / 2 < each <= max(values)])
    plot.ticks("x", (0, steps // 2, steps), "{:.0f}".format)
    styles = zip(losses.items(), (None, "2 3", "7 4"), ("blue", "orange", "ink"))
    for (name, some), dash, colour in styles:
        plot.named(name, range(len(some)), some, colour=colour, width=2, dash=dash)
        plot.tells(f"{name} {some[-1]:.2g}")
    return picture(plot.shape(), f"The loss over {steps} steps. At the end:")


def shares(
    numbers: Sequence[float], rounded: np.ndarray, below: float, above: float
) -> HTML:
    """How often numbers between two neighbours, rounded again and again, become each: a column for each number."""
    times, size, height = len(rounded), len(numbers), 120
    up = (rounded == above).sum(axis=0)
    columns = []
    for count in up:
        share = count / times * height
        down = rectangle(30, height - share, 0.75, "orange")
        both = column(rectangle(30, share, 0.75), down, gap=0)
        columns.append(column(both, small(f"{count}"), gap=4, align="middle"))
    drawn = column(
        keys((f"up, to {above}", f"down, to {below}")),
        column(row(*columns), f"how often up, of {times}", gap=2, align="middle"),
        gap=10,
    )
    label = (
        f"{size} numbers from {below} to {above}, each rounded {times} times. "
        f"Up, to {above}: {', '.join(map(str, up))}. The others down, to {below}."
    )
    return picture(drawn, label)


def places(numbers: np.ndarray, block: int) -> HTML:
    """Elements, the groups of four that they are in, so many for each thread, and the random number of each."""
    side, groups = 46, len(numbers) // 4
    fractions = [f"{number / 2**32:.3f}" for number in numbers]
    names = zip((16, 52, 88), ("element", "number", "counter"))
    shapes = [at(-74, y, name, "w") for y, name in names]
    for i, fraction in enumerate(fractions):
        colour = i // 4 // block % 2
        element = box(f"{i}", 0.35, colour, width=side, height=32, corner=0)
        shapes.append(at(side * i, 0, element))
        shapes.append(at(side * (i + 0.5), 52, small(fraction), "c"))
    for group in range(groups):
        left, right = 4 * side * group + 4, 4 * side * (group + 1) - 4
        shapes.append(line((left, 64), (left, 70), (right, 70), (right, 64)))
        shapes.append(at((left + right) / 2, 88, f"first + {group}", "c"))
    label = (
        f"Elements 0 to {len(numbers) - 1}, each with a number, below 1 when it is divided by 2^32: "
        f"{', '.join(fractions)}. Each group of four has a counter, "
        f"first + 0 to first + {groups - 1}. Groups for each thread: {block}."
    )
    return picture(layers(*shapes), label)


def figures() -> dict[str, str]:
    """How many times as long stock ops take, of all sizes, and with hashes for the largest."""
    table = read("stochastic_rounding")
    return {
        "stock": span(table.where(way="stock ops", dtype="bfloat16")),
        "half": span(table.where(way="stock ops", dtype="half")),
        "hashed": span(table.where(way="hash, XLA", size="4194304")),
    }


def times() -> HTML:
    """How many times as long other ways to round take, from `bench/stochastic_rounding.csv`."""
    ways = "StochasticRound", "stock ops, XLA", "stock ops", "hash, XLA", "tf.cast"
    return chart(
        read("stochastic_rounding").rows,
        "times as long as StatelessStochasticRound",
        name={way: way for way in ways},
        heading=lambda row: f"{int(row['size']):,} numbers to {row['dtype']}",
    )
