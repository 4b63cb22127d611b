"""Pictures of the chapter on random numbers, each drawn from what ops return or what was measured."""

from collections.abc import Mapping, Sequence

import numpy as np
import tensorflow as tf
from IPython.display import HTML
from measured import bars, bars_of, legend_of, read
from pictures.figures import (
    COLOURS,
    END,
    FITTING,
    LINE,
    MIDDLE,
    SMALL,
    box,
    drawing,
    text,
)

DASHES = "", "2 3", "7 4"


def learning_curves(losses: Mapping[str, Sequence[float]]) -> HTML:
    """Losses over the steps of a training, on a logarithmic axis.

    Args:
      losses: From what the weights are rounded by to the loss after each step; at most three.
    """
    left, right, top, bottom = 52, 330, 14, 190
    low, high = (
        np.log10(limit(min(some), max(some)))
        for limit, some in [
            (min, [min(one) for one in losses.values()]),
            (max, [max(one) for one in losses.values()]),
        ]
    )

    def place(value: float) -> float:
        return bottom - (np.log10(value) - low) / (high - low) * (bottom - top)

    low -= 0.15 * (high - low)  # room for the names
    steps = max(map(len, losses.values()))
    parts = [f'<path d="M{left} {top}V{bottom}H{right}" {LINE}/>']
    for exponent in range(int(np.ceil(low)), int(np.floor(high)) + 1):
        y = place(10.0**exponent)
        parts.append(f'<path d="M{left - 4} {y:.1f}h4" stroke="currentColor"/>')
        parts.append(text(left - 7, y + 4, f"{10.0**exponent:g}", END, SMALL))
    for step in (0, steps // 2, steps):
        x = left + step / steps * (right - left)
        parts.append(text(x, bottom + 16, f"{step}", MIDDLE, SMALL))
    parts.append(text((left + right) / 2, bottom + 32, "steps", MIDDLE))
    parts.append(text(4, 10, "loss"))
    for values, dashes, colour in zip(
        losses.values(), DASHES, (COLOURS[0], COLOURS[1], "currentColor")
    ):
        points = " ".join(
            f"{left + i / steps * (right - left):.1f},{place(value):.1f}"
            for i, value in enumerate(values)
        )
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2" '
            f'stroke-dasharray="{dashes}"/>'
        )
    # The names stand beside the ends of their lines, and do not overlap.
    beside, last = sorted(losses, key=lambda name: place(losses[name][-1])), -99.0
    for name in beside:
        last = max(place(losses[name][-1]), last + 16)
        parts.append(text(right + 6, last, name))
    ends = ", ".join(f"{name} {losses[name][-1]:.2g}" for name in losses)
    label = (
        f"The loss over {steps} steps, from 0 over {steps // 2} on. At the end: {ends}."
    )
    return HTML(drawing(parts, right + 128, bottom + 38, label, style=FITTING))


def shares(
    numbers: Sequence[float], rounded: np.ndarray, below: float, above: float
) -> HTML:
    """How often numbers between two neighbours are rounded to each: a column for each number.

    Args:
      numbers: From the lower neighbour to the upper one.
      rounded: `[times, len(numbers)]`, each of them rounded so often.
      below: The lower neighbour.
      above: The upper one.
    """
    times, size, side, left, top = len(rounded), len(numbers), 38, 8, 24
    height = 120
    up = (rounded == above).sum(axis=0)
    if np.any(np.abs(rounded.mean(axis=0) - numbers) > 0.05 * (above - below)):
        raise ValueError("the mean of many roundings is not the number")
    parts = []
    for i, count in enumerate(up):
        x, share = left + i * side, count / times * height
        parts.append(box(x + 4, top, side - 8, share, 0.75, corner=0))
        parts.append(box(x + 4, top + share, side - 8, height - share, 0.75, 1, 0))
        parts.append(text(x + side / 2, top + height + 16, f"{count}", MIDDLE, SMALL))
    wide = left + size * side + 8
    for x, number, colour in (
        (left + 4, f"up, to {above}", 0),
        (left + 176, f"down, to {below}", 1),
    ):
        parts.append(box(x, 2, 12, 12, 0.75, colour, 0))
        parts.append(text(x + 18, 13, number))
    parts.append(text(wide / 2, top + height + 34, f"how often up, of {times}", MIDDLE))
    counts = ", ".join(map(str, up))
    label = (
        f"{size} numbers from {below} to {above}, each rounded {times} times. "
        f"Up, to {above}: {counts}. The others down, to {below}."
    )
    return HTML(drawing(parts, wide, top + height + 42, label, style=FITTING))


def places(numbers: np.ndarray, block: int) -> HTML:
    """Elements, the groups that they are in, and the random number of each.

    Args:
      numbers: uint32, a vector; a group has four.
      block: How many groups a thread takes.
    """
    side, left, top, colours = 46, 74, 8, 2
    parts = [
        text(2, top + 26, "element"),
        text(2, top + 66, "number"),
        text(2, top + 106, "counter"),
    ]
    for i, number in enumerate(numbers):
        x, thread = left + i * side, i // 4 // block
        parts.append(box(x, top + 6, side, 32, 0.35, thread % colours, 0))
        parts.append(text(x + side / 2, top + 27, f"{i}", MIDDLE))
        shown = f"{number / 2**32:.3f}"
        parts.append(text(x + side / 2, top + 66, shown, MIDDLE, SMALL))
        if i % 4 == 0:
            x_end = x + 4 * side
            parts.append(f'<path d="M{x + 4} {top + 76}v6H{x_end - 4}v-6" {LINE}/>')
            parts.append(text(x + 2 * side, top + 106, f"first + {i // 4}", MIDDLE))
    groups = len(numbers) // 4
    label = (
        f"Elements 0 to {len(numbers) - 1}, each with a number, below 1 when it is divided by 2^32: "
        f"{', '.join(f'{number / 2**32:.3f}' for number in numbers)}. Each group of four has a counter, "
        f"first + 0 to first + {groups - 1}. Groups for each thread: {block}."
    )
    width = left + len(numbers) * side + 4
    return HTML(drawing(parts, width, top + 114, label, style=FITTING))


def reserved(begins: Sequence[int], size: int, total: int) -> HTML:
    """The numbers of one generator, in groups of four, and those that each call gets.

    Args:
      begins: The place of each call's first number.
      size: How many numbers a call needs.
      total: How many numbers are drawn.
    """
    side, gap, left, top = 12, 8, 74, 26
    group = 4 * side + gap
    parts = [text(2, top + 10, "numbers"), text(2, top + 32, "counter")]
    owner = {begin + k: n for n, begin in enumerate(begins) for k in range(size)}
    for i in range(total):
        x = left + i // 4 * group + i % 4 * side
        parts.append(box(x, top, side, side, 0.6 * (i in owner), owner.get(i, 0), 0))
        if i % 4 == 0:
            parts.append(
                text(x + 2 * side, top + 32, f"first + {i // 4}", MIDDLE, SMALL)
            )
    for n, begin in enumerate(begins):
        x = left + begin // 4 * group
        parts.append(text(x, top - 10, f"call {n + 1}"))
    calls = "; ".join(
        f"call {n + 1}: counters first + {begin // 4} to first + {(begin + size - 1) // 4}"
        for n, begin in enumerate(begins)
    )
    label = (
        f"{total} numbers in groups of four. {calls}. Each call uses {size} numbers, "
        "and leaves those behind them in its last group."
    )
    width = left + total // 4 * group
    return HTML(drawing(parts, width, top + 40, label, style=FITTING))


def seeds() -> list[tuple]:
    """The seed of `tf.random.set_seed`, that of an op, and the two attrs of two ops, eagerly and in a function."""

    def two(own: int | None) -> list[tuple]:
        return [tf.compat.v1.random.get_seed(own) for _ in range(2)]

    rows = []
    for everywhere in (None, 5):
        for own in (None, 7):
            tf.random.set_seed(everywhere)
            traced: list[tuple] = []
            function = tf.function(lambda: traced.extend(two(own)), autograph=False)  # noqa: B023
            function()
            drawn = _attrs(two(own), f"drawn from {everywhere}")
            counted = _attrs(
                traced, " and then ".join(str(seed2) for _, seed2 in traced)
            )
            rows.append((everywhere or "none", own or "none", drawn, counted))
    return rows


def _attrs(of_two: Sequence[tuple], unlike: str) -> str:
    """`seed` and `seed2` of two ops, or `unlike` where their `seed2` differs."""
    (seed, seed2), (_, other) = of_two
    return (
        "random" if seed is None else f"{seed}, {seed2 if seed2 == other else unlike}"
    )


def times(size: str) -> HTML:
    """How many times as long other ways to round take, from `bench/stochastic_rounding.csv`."""
    ways = "StochasticRound", "stock ops, XLA", "stock ops", "tf.cast"
    table = read("stochastic_rounding")
    drawn = bars_of(table, dict(zip(ways, ways)), size=size)
    label = (
        "How many times as long other ways to round take as StatelessStochasticRound."
    )
    axis = "times as long as StatelessStochasticRound"
    return bars({"": drawn}, label, axis, legend_of(table), names_width=116, origin=1.0)
