"""The pictures of the chapter on element-wise ops: drawn from what the ops return and from what was measured."""

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from elementwise_reference import log_cosh_reference
from IPython.display import HTML
from measured import bars, bars_of, legend_of, read
from pictures.figures import (
    BOLD,
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

WIDTH, HEIGHT, LEFT, TOP = 470, 220, 34, 30
LOOKS = [
    f'stroke="{COLOURS[0]}" stroke-width="3"',
    f'stroke="{COLOURS[1]}" stroke-width="2.5" stroke-dasharray="7 3"',
    'stroke="currentColor" stroke-width="1.5" stroke-dasharray="2 3"',
]
SMALLEST, LARGEST = -6, 3  # powers of ten


def right_digits(ways: Mapping[str, Callable]) -> dict[str, np.ndarray]:
    """How many digits of log(cosh(x)) are right, at worst, in each tenth of a power of ten.

    Args:
      ways: From names to functions that compute it in float32.
    """
    edges = np.linspace(SMALLEST, LARGEST, 10 * (LARGEST - SMALLEST) + 1)
    between = np.linspace(0, 0.1, 50, endpoint=False)
    x = (10 ** (edges[:-1, None] + between)).astype(np.float32)
    with np.errstate(over="ignore"):
        expected = log_cosh_reference(x.astype(np.float64))
    digits = {}
    for name, way in ways.items():
        error = np.abs(np.asarray(way(x), np.float64) / expected - 1).max(axis=1)
        digits[name] = -np.log10(np.clip(error, 10**-7.5, 1))
    return digits


def digits_picture(ways: Mapping[str, Callable]) -> HTML:
    """Draws `right_digits` over x."""
    found = right_digits(ways)
    across, down = (WIDTH - LEFT - 26) / (LARGEST - SMALLEST), (HEIGHT - TOP - 44) / 8
    bottom = HEIGHT - 44

    def at(power: float, digits: float) -> str:
        return f"{LEFT + (power - SMALLEST) * across:.1f} {bottom - digits * down:.1f}"

    parts = [
        f'<path d="M{at(SMALLEST, 0)}L{at(LARGEST, 0)}M{at(SMALLEST, 0)}L{at(SMALLEST, 8)}" {LINE}/>',
        text((LEFT + WIDTH) / 2, HEIGHT - 4, "x", MIDDLE),
        text(2, TOP - 2, "right digits", SMALL),
    ]
    for digits in 0, 2, 4, 6:
        parts.append(
            text(LEFT - 6, bottom - digits * down + 4, str(digits), END, SMALL)
        )
    for power in range(SMALLEST, LARGEST + 1, 3):
        x, y = map(float, at(power, 0).split())
        parts.append(text(x, y + 18, f"{10.0**power:g}", MIDDLE, SMALL))
    for number, (look, (name, digits)) in enumerate(zip(LOOKS, found.items())):
        centres = SMALLEST + 0.05 + 0.1 * np.arange(len(digits))
        points = "L".join(at(*point) for point in zip(centres, digits))
        parts.append(f'<path d="M{points}" fill="none" {look}/>')
        left = LEFT + 78 + 112 * number
        parts.append(f'<path d="M{left} 12h24" {look}/>')
        parts.append(text(left + 30, 16, name, SMALL))
    says = "; ".join(
        f"{name}: {round(digits[5])} at a millionth, {round(digits[35])} at a thousandth, "
        f"{round(digits[65])} at 3, {round(digits[-5])} at 300"
        for name, digits in found.items()
    )
    label = f"How many digits of the result are right, for x between a millionth and 1000. {says}."
    return HTML(drawing(parts, WIDTH, HEIGHT, label, style=FITTING))


def packet_picture(op: Callable) -> HTML:
    """What LogCosh computes of a packet of four numbers: v twice, of which a mask selects, and the logarithm once."""
    x = np.float32([-100, 0.001, 0, 8])
    size = np.abs(x)
    near = size < 1
    # As packetOp does for floats: the first four terms of sinh.
    terms = [(size / 2) ** power / math.factorial(power) for power in (1, 3, 5, 7)]
    bit = 2 * np.square(sum(terms))
    small = np.exp(-2 * size)
    logarithm = np.log1p(np.where(near, bit, small))
    added = np.where(near, 0, size - np.float32(np.log(2)))
    result = op(x).numpy()
    np.testing.assert_allclose(result, logarithm + added, rtol=1e-6)
    rows = {
        "x": [f"{value:g}" for value in x],
        "|x|": [f"{value:g}" for value in size],
        "near: |x| < 1": ["yes" if value else "no" for value in near],
        "v near 0": [f"{value:.4g}" for value in bit],
        "v elsewhere": [f"{value:.4g}" for value in small],
        "log(1 + v)": [f"{value:.4g}" for value in logarithm],
        "|x| − log(2), or 0": [f"{value:.4g}" for value in added],
        "result": [f"{value:.4g}" for value in result],
    }
    marked = {"v near 0": near, "v elsewhere": ~near}
    parts, left, side, step = [], 130, 80, 36
    for number, (name, values) in enumerate(rows.items()):
        y = 4 + number * step
        parts.append(text(left - 10, y + 20, name, END, *[BOLD] * (name == "result")))
        for lane, value in enumerate(values):
            shade = 0.3 if name in marked and marked[name][lane] else 0
            parts.append(box(left + lane * side, y, side, 30, shade, corner=0))
            parts.append(text(left + (lane + 0.5) * side, y + 20, value, MIDDLE))
    label = ". ".join(f"{name}: {', '.join(values)}" for name, values in rows.items())
    label = f"Four numbers in the lanes of a packet. {label}."
    return HTML(
        drawing(parts, left + 4 * side + 4, len(rows) * step, label, style=FITTING)
    )


def broadcast_picture(op: Callable) -> HTML:
    """A column and a row, and what comes of them: each cell of the result names the two that it is made of."""
    x, y = np.array([[1], [4]], np.int32), np.array([6, 3, 1], np.int32)
    z = op(x, y).numpy()
    np.testing.assert_array_equal(z, np.abs(x - y))
    side = 54
    parts = []

    def cell(column: int, row: int, lines: Sequence[str], shade: float) -> None:
        left, top = 2 + column * side, 22 + row * side
        parts.append(box(left, top, side, side, shade, corner=0))
        for number, line in enumerate(lines):
            y = top + side / 2 + 5 + 13 * (2 * number - len(lines) + 1) / 2
            parts.append(text(left + side / 2, y, line, MIDDLE, *[SMALL] * number))

    for column, name in (0, "x: [2, 1]"), (1.6, "y: [3]"), (5.2, "z: [2, 3]"):
        parts.append(text(2 + column * side, 14, name))
    for row in range(2):
        cell(0, row, [str(x[row, 0])], 0.25)
    for column in range(3):
        cell(1.6 + column, 0, [str(y[column])], 0.25)
        for row in range(2):
            made_of = f"|{x[row, 0]} − {y[column]}|"
            cell(5.2 + column, row, [str(z[row, column]), made_of], 0)
    label = (
        f"A column of {x[0, 0]} and {x[1, 0]}, a row of {', '.join(map(str, y))}, and the result: "
        + "; ".join(", ".join(map(str, row)) for row in z.tolist())
        + ". Each of its six elements is made of one element of the column and one of the row."
    )
    return HTML(drawing(parts, 8.3 * side, 22 + 2 * side + 4, label, style=FITTING))


def times(task: str, ways: Mapping[str, str], label: str) -> HTML:
    """Draws milliseconds from `bench/elementwise.csv`.

    Args:
      task: Which comparison of the table.
      ways: From a way to what the picture calls it.
      label: What the picture shows, for those who do not see it.
    """
    table = read("elementwise")
    drawn = bars_of(table, ways, "milliseconds", task=task)
    return bars({"": drawn}, label, "milliseconds", legend_of(table), names_width=150)


def ratio(way: str, task: str = "float32") -> float:
    """How many times as long a way takes as our op, on one thread."""
    (row,) = read("elementwise").where(task=task, way=way, threads="1")
    return float(row["ratio"])


def ratios(tasks: Sequence[str], base: str) -> HTML:
    """How many times as long others take as one of our ops, from `bench/elementwise.csv`.

    Args:
      tasks: Which comparisons of the table.
      base: The name of our op in it.
    """
    table = read("elementwise")
    ways = {row["way"]: row["way"].replace("tf.math.", "") for row in table.rows}
    del ways[base]
    groups = {task: bars_of(table, ways, task=task) for task in tasks}
    label = f"How many times as long others take as {base}."
    axis = f"times as long as {base}"
    return bars(groups, label, axis, legend_of(table), names_width=145, origin=1.0)


def broadcasting_times() -> HTML:
    """How many times as long TensorFlow's ops take as AbsDifference, by what is broadcast."""
    rows = read("elementwise").where(way="AbsDifference")
    return ratios(list(dict.fromkeys(row["task"] for row in rows)), "AbsDifference")
