"""Pictures of the chapter on random numbers, each drawn from what ops return or what was measured."""

from collections.abc import Mapping, Sequence

import numpy as np
from IPython.display import HTML
from measured import read, span
from pictures.drawing import BLUE, INK, ORANGE, picture, rectangle, small
from pictures.layout import column, row
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
    styles = zip(losses.items(), (None, "2 3", "7 4"), (BLUE, ORANGE, INK))
    for (name, some), dash, colour in styles:
        plot.named(name, range(len(some)), some, colour=colour, width=2, dash=dash)
    said = ", ".join(f"{name} {some[-1]:.2g}" for name, some in losses.items())
    label = (
        f"The loss over {steps} steps, from 0 over {steps // 2} on. At the end: {said}."
    )
    return picture(plot.shape(), label)


def shares(
    numbers: Sequence[float], rounded: np.ndarray, below: float, above: float
) -> HTML:
    """How often numbers between two neighbours, rounded again and again, become each: a column for each number."""
    times, size, height = len(rounded), len(numbers), 120
    up = (rounded == above).sum(axis=0)
    columns = []
    for count in up:
        share = count / times * height
        parts = rectangle(30, share, 0.75), rectangle(30, height - share, 0.75, ORANGE)
        both = column(*parts, gap=0)
        columns.append(column(both, small(f"{count}"), gap=4, align="middle"))
    drawn = column(
        keys((f"up, to {above}", f"down, to {below}")),
        column(row(*columns), f"how often up, of {times}", gap=2, align="middle"),
        gap=10,
    )
    label = f"{size} numbers from {below} to {above}, each rounded {times} times."
    return picture(drawn, label)


def figures() -> dict[str, str]:
    """How many times as long stock ops take, of all sizes, and with hashes for the largest."""
    table = read("stochastic_rounding")
    return {
        "stock": span(table.where(way="stock ops")),
        "hashed": span(table.where(way="hash, XLA", size="4194304")),
    }


def times(size: str) -> HTML:
    """How many times as long other ways to round take, from `bench/stochastic_rounding.csv`."""
    ways = "StochasticRound", "stock ops, XLA", "stock ops", "hash, XLA", "tf.cast"
    return chart(
        read("stochastic_rounding").where(size=size),
        "How many times as long other ways to round take as StatelessStochasticRound.",
        "times as long as StatelessStochasticRound",
        name={way: way for way in ways},
    )
