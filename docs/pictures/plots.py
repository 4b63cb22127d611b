"""Plots made of shapes: axes with lines and dots, and bars of what was measured."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from IPython.display import HTML
from measured import Row, number
from pictures.drawing import COLOURS, Shape, bar, dot, line, picture, small, words
from pictures.layout import at, layers, row

WIDTH = 374  # of bars with their names and numbers
THICK = 13
Limits = tuple[float, float]


class Plot:
    """A plane with axes, whose upper left corner is the origin of what is added to it.

    Args:
      x: The values at its left and at its right.
      y: The values at its bottom and at its top.
      log: The axes that are logarithmic: "x", "y" or "xy".
    """

    def __init__(
        self, width: float, height: float, x: Limits, y: Limits, log: str = ""
    ):
        self.width, self.height, self.log = width, height, log
        self.limits = {"x": x, "y": y}
        self.shapes: list[Shape] = []
        self.ends: dict[str, tuple[float, Mapping]] = {}
        self.told: list[str] = []

    def share(self, axis: str, value: float) -> float:
        scale = math.log10 if axis in self.log else float
        low, high = map(scale, self.limits[axis])
        return (scale(value) - low) / (high - low)

    def x(self, value: float) -> float:
        return self.width * self.share("x", value)

    def y(self, value: float) -> float:
        return self.height * (1 - self.share("y", value))

    def add(self, *shapes: Shape) -> None:
        self.shapes += shapes

    def tells(self, text: str) -> None:
        self.told.append(text)

    def axes(self, x: str = "", y: str = "") -> None:
        """Draws both, with what they measure."""
        self.add(line((0, 0), (0, self.height), (self.width, self.height)))
        self.add(
            at(self.width / 2, self.height + 26, small(x), "n"),
            at(-32, -8, small(y), "sw"),
        )

    def ticks(
        self,
        axis: str,
        values: Iterable[float],
        text: Callable = "{:g}".format,
        grid: bool = False,
    ) -> None:
        """Writes values beside an axis, with a short line at each, or one across the plane."""
        opacity = 0.2 if grid else None
        for value in values:
            label = small(text(value).replace("-", "−"))
            if axis == "x":
                x, bottom = self.x(value), self.height
                mark = (x, 0 if grid else bottom), (x, bottom + 4)
                name = at(x, bottom + 6, label, "n")
            else:
                y, right = self.y(value), self.width if grid else 0
                mark, name = ((-4, y), (right, y)), at(-7, y, label, "e")
            self.add(line(*mark, stroke_opacity=opacity), name)

    def line(self, xs: Iterable[float], ys: Iterable[float], **look) -> None:
        self.add(line(*((self.x(x), self.y(y)) for x, y in zip(xs, ys)), **look))

    def dots(
        self, xs: Iterable[float], ys: Iterable[float], radius: float = 3, **look
    ) -> None:
        self.add(*(dot(self.x(x), self.y(y), radius, **look) for x, y in zip(xs, ys)))

    def named(
        self, name: str, xs: Iterable[float], ys: Sequence[float], **look
    ) -> None:
        """Draws a line with its name to the right of the plane, at the value where it ends."""
        self.line(xs, ys, **look)
        self.ends[name] = self.y(ys[-1]), look

    def legend(self, looks: Mapping[str, Mapping]) -> None:
        """Writes the names of lines above the right end of the plane."""
        self.add(at(self.width, -8, legend(looks), "se"))

    def names(self) -> Iterator[Shape]:
        """The names of lines at their ends, but not over each other."""
        order = sorted(self.ends, key=lambda name: self.ends[name][0])
        places = [self.ends[name][0] for name in order]
        for i in range(1, len(places)):
            places[i] = max(places[i], places[i - 1] + 16)
        limit = max(self.height - 2, 16 * (len(places) - 1))
        for i in range(len(places) - 1, -1, -1):
            places[i] = limit = min(places[i], limit)
            limit -= 16
        for name, y in zip(order, places):
            _, look = self.ends[name]
            yield line((self.width + 5, y), (self.width + 23, y), **look)
            yield at(self.width + 28, y, small(name), "w")

    def shape(self) -> Shape:
        return layers(*self.shapes, *self.names()).tells("; ".join(self.told))


def legend(looks: Mapping[str, Mapping]) -> Shape:
    """The names of lines beside pieces of them."""
    lines = (line((0, 0), (24, 0), **look) for look in looks.values())
    return row(*map(row, lines, map(small, looks)), gap=18)


def keys(
    names: Iterable[str], shade: float = 0.75, colours: Iterable[str] = COLOURS
) -> Shape:
    """Names beside squares of the colours that stand for them."""
    squares = (bar(12, 12, shade, colour) for colour in colours)
    pairs = (row(square, small(name), gap=6) for name, square in zip(names, squares))
    return row(*pairs, gap=18)


class Bar(NamedTuple):
    value: float
    quartiles: Sequence[float]
    text: str


def steps(low: float, high: float) -> np.ndarray:
    """At least three round numbers at equal distances, between two numbers."""
    most = (high - low) / 3
    size = 10.0 ** math.floor(math.log10(most))
    step = max(each * size for each in (1, 2, 5) if each * size <= most)
    return step * np.arange(math.ceil(low / step), math.floor(high / step) + 1)


def round_numbers(low: float, high: float) -> list[float]:
    """Powers of ten between two numbers, with 2 and 5 where there would be few."""
    factors = (1,) if high / low > 160 else (1, 2, 5)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found = [factor * 10.0**decade for decade in decades for factor in factors]
    return [each for each in found if low * 0.999 <= each <= high * 1.001]


def chart(
    rows: Sequence[Row],
    axis: str,
    *,
    name: str | Mapping[str, str] | Callable[[Row], str] = "{way}",
    heading: str | Callable[[Row], str] = "",
    series: str = "threads",
    value: str = "ratio",
    factor: float = 1,
) -> HTML:
    """Draws rows of a table of `bench/` as bars; ratios with their quartiles, on a logarithmic axis.

    Args:
      axis: What it measures.
      name: Of a row's bar, from the row: a pattern, a function, or names of the ways to show, in their order.
      heading: Of the group that a row's bar is in, likewise.
      series: The column that tells the bars of one name from each other; it has at most two values.
      value: The column to draw, times the factor. Bars of ratios begin at 1, and are undecided if their quartiles lie
        on both sides of it. Others begin at 0, or, if one is more than fifty times another, at a power of ten on a
        logarithmic axis.
    """
    if isinstance(name, Mapping):
        rows = [row for way in name for row in rows if row["way"] == way]
        ways, name = name, lambda row: ways[row["way"]]
    of_name, of_heading = (
        each if callable(each) else each.format_map for each in (name, heading)
    )
    ratios = value == "ratio"
    columns = [value, "q1", "q3"] if ratios else [value]

    def bar_of(row: Row) -> Bar:
        here, *quartiles = (factor * float(row[column]) for column in columns)
        undecided = ratios and quartiles[0] < 1 < quartiles[1]
        return Bar(here, quartiles, "undecided" if undecided else number(here))

    entries = sorted({row.get(series, "") for row in rows})
    groups: dict[str, dict[str, dict[str, Bar]]] = {}
    for each in rows:
        group = groups.setdefault(of_heading(each), {})
        group.setdefault(of_name(each), {})[each.get(series, "")] = bar_of(each)
    drawn = [
        (heading, name, [some[entry] for entry in entries if entry in some])
        for heading, group in groups.items()
        for name, some in group.items()
    ]
    if series == "threads":
        entries = ["1 thread" if n == "1" else f"{n} threads" for n in entries]
    return bars(drawn, axis, entries, 1.0 if ratios else None)


def bars(
    drawn: Sequence[tuple[str, str, Sequence[Bar]]],
    axis: str,
    legend: Sequence[str],
    origin: float | None,
) -> HTML:
    """Draws bars under their headings and beside their names, as `chart` says."""
    all_bars = [each for *_, some in drawn for each in some]
    numbers = [n for each in all_bars for n in (each.value, *each.quartiles)]
    low, high = min(*numbers, origin or math.inf), max(*numbers, origin or 0)
    linear = origin is None and high <= 50 * low
    if linear:
        low = 0.0
    elif origin is None:  # else bars that hardly differ would differ most in length
        low = 10.0 ** (math.ceil(math.log10(low)) - 1)
    names = max(small(name).width for _, name, _ in drawn)
    room = max(small(each.text).width for each in all_bars)
    limits = low, high if high > low else 10 * low
    plot = Plot(WIDTH - names - room - 12, 0, limits, (0, 1), "" if linear else "x")
    start = plot.x(origin or low)
    y, above = 0.0, ""
    if len(legend) > 1:
        plot.add(at(-names - 6, 0, keys(legend)))
        y = 26
    for heading, name, some in drawn:
        if heading != above:
            plot.add(at(-names - 6, y + 4, words(heading, 13, bold=True)))
            y, above = y + 26, heading
        high = THICK * len(some) + 6
        plot.add(at(-6, y + high / 2, small(name), "e"))
        for i, each in enumerate(some):
            end, middle = plot.x(each.value), y + 3 + THICK * (i + 0.5)
            shown = bar(max(abs(end - start), 1), THICK - 3, colour=i)
            plot.add(at(min(start, end), middle, shown, "w"))
            if each.quartiles:
                plot.add(line(*((plot.x(q), middle) for q in each.quartiles)))
            plot.add(at(plot.width + 6, middle, small(each.text), "w"))
        texts = " and ".join(each.text for each in some)
        plot.tells(f"{heading} {name}: {texts}".strip())
        y += high
    plot.height = y + 6
    plot.add(line((0, plot.height), (plot.width, plot.height)))
    plot.ticks("x", (steps if linear else round_numbers)(*plot.limits["x"]))
    plot.add(at(plot.width / 2, plot.height + 22, words(axis, 13), "n"))
    if not linear:
        plot.add(at(plot.width / 2, plot.height + 40, small("(logarithmic axis)"), "n"))
    each = f", each with {' and with '.join(legend)}" if len(legend) > 1 else ""
    return picture(plot.shape(), f"A chart of bars: {axis}{each}.")
