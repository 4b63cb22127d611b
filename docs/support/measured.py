"""The tables of bench/ for the pages: read and drawn in the colours of the page."""

import csv
import html
import math
import re
import statistics
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from IPython.display import HTML, display
from pictures.figures import (
    COLOURS,
    END,
    FITTING,
    MIDDLE,
    REPOSITORY,
    SMALL,
    drawing,
    text,
)

Row = Mapping[str, str]
BENCH = Path(__file__).parents[2] / "bench"
WIDTH = 380
THICK = 13
LIMITS = ("limit", "traffic")
KEPT = ", kept memory"  # ends the names of what has other allocators than its base
ALONE = 1.2  # busy cores, of two: less than that is one thread
MEAN = "a-c"  # the workload of rows with the geometric mean of a, b and c
NAMES = {MEAN: "a–c"}


@dataclass(frozen=True)
class Table:
    """A table of bench/: its first lines, on command, machine, versions and date, and its rows."""

    first_lines: list[str]
    rows: list[dict[str, str]]
    name: str

    def about(self) -> str:
        """The first lines, to be printed: wrapped, so that they fit beside a page's margins."""
        return "\n".join(
            textwrap.fill(line, 80, subsequent_indent="    ", break_long_words=False)
            for line in self.first_lines
        )

    def show(self) -> None:
        """Shows machine and date; who opens them finds most other first lines, and the way to the table."""
        shown = "machine: ", "date: ", "load at the start: "
        lines = [line for line in self.first_lines if not line.startswith(shown)]
        lines = "\n".join(map(html.escape, lines))
        path = f"bench/{self.name}.csv"
        summary = html.escape(
            f"Measured on {self.value('date')}, {self.value('machine')}"
        )
        display(
            HTML(
                f'<details class="measured"><summary>{summary}</summary>'
                f'<pre style="white-space: pre-wrap">{lines}</pre>'
                f'<p>The table is <a href="{REPOSITORY}/{path}"><code>{path}</code></a>.</p></details>'
            )
        )

    def where(self, **fields: str) -> list[dict[str, str]]:
        """The rows that have these values."""
        return [
            row
            for row in self.rows
            if all(row[key] == value for key, value in fields.items())
        ]

    def value(self, name: str) -> str:
        """What a first line says: `value("command")`.

        Raises:
          KeyError: There is no such line.
        """
        for line in self.first_lines:
            key, _, value = line.partition(": ")
            if key == name:
                return value
        raise KeyError(name)


def read(name: str) -> Table:
    """Reads `bench/<name>.csv`.

    Raises:
      FileNotFoundError: That has not been measured.
    """
    lines = (BENCH / f"{name}.csv").read_text().splitlines()
    first_lines = [line[2:] for line in lines if line.startswith("# ")]
    rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    return Table(first_lines, list(rows), name)


@dataclass(frozen=True)
class Bar:
    """What is drawn in a line: a name, one value for each entry of the legend, and their quartiles."""

    name: str
    values: Sequence[float]
    spreads: Sequence[tuple[float, float]] = ()
    texts: Sequence[str] = field(default=())


def workloads(names: str = "abcd") -> dict[str, tuple[str, ...]]:
    """What RoiPool is measured on, by letter: the shape of the map, the number of regions, their bins."""
    described = (
        r"features (.*), (\d+) regions, (.*) bins, scale 1/\d+, (?:corners|sides) .*"
    )
    table = read("roi_pool")
    return {
        name: tuple(
            part.replace(" x ", "\u00a0×\u00a0")
            for part in re.fullmatch(described, table.value(name)).groups()
        )
        for name in names
    }


def number(value: float) -> str:
    """Two digits: 0.12, 1.2, 12, 120."""
    if value <= 0:
        return "0"
    rounded = float(f"{value:.2g}")
    return f"{rounded:.{max(0, 1 - math.floor(math.log10(rounded)))}f}"


def bars(
    groups: Mapping[str, Sequence[Bar]],
    label: str,
    axis: str,
    legend: Sequence[str] = ("",),
    names_width: int = 44,
    origin: float | None = None,
) -> HTML:
    """Draws groups of bars on one logarithmic axis.

    Args:
      groups: From a heading to the bars under it.
      label: What the picture shows, for those who do not see it; the values are added.
      axis: What the axis measures, in words of the label.
      legend: What the values of each bar are, at most two.
      names_width: How much room the names of the bars take, of the 380 units of the picture.
      origin: Where bars begin; unset: at a power of ten. A bar whose quartiles lie on both sides of it is undecided.
    """
    said, spoken_of = (
        {word[:4] for word in re.findall(r"[a-z]{4,}", words.lower())}
        for words in (axis, label)
    )
    if unknown := said - spoken_of - {"with"}:
        raise ValueError(f"`{axis}`: {unknown} is in no word of `{label}`")
    drawn = [bar for group in groups.values() for bar in group]
    numbers = [value for bar in drawn for value in bar.values]
    numbers += [edge for bar in drawn for spread in bar.spreads for edge in spread]
    numbers.append(origin or numbers[0])
    low, high = math.log10(min(numbers)), math.log10(max(numbers))
    if origin is None:  # else bars that hardly differ would differ most in length
        low = math.ceil(low) - 1
    left, right = names_width + 8, WIDTH - 68

    def place(value: float) -> float:
        return left + (right - left) * (math.log10(value) - low) / ((high - low) or 1)

    shapes, top = [], 4

    def write(x: float, y: float, what: str, *more: str) -> None:
        shapes.append(text(round(x), round(y), what, *more))

    if len(legend) > 1:
        x = 2
        for name, colour in zip(legend, COLOURS):
            shapes.append(
                f'<rect x="{x}" y="{top}" width="12" height="12" fill="{colour}"/>'
            )
            write(x + 17, top + 11, name)
            x += 110
        top += 24
    spoken = []
    for heading, group in groups.items():
        if heading:
            top += 8
            write(2, top + 12, heading, 'font-weight="600"')
            top += 20
        for bar in group:
            height = THICK * len(bar.values) + 6
            write(left - 6, top + height / 2 + 4, bar.name, END)
            texts = bar.texts or [
                "undecided" if origin and q1 < origin < q3 else number(value)
                for value, (q1, q3) in zip(
                    bar.values, bar.spreads or [(v, v) for v in bar.values]
                )
            ]
            for i, (value, colour) in enumerate(zip(bar.values, COLOURS)):
                y = top + 3 + i * THICK
                start = place(origin) if origin else left
                first, last = sorted((start, place(value)))
                shapes.append(
                    f'<rect x="{first:.1f}" y="{y}" width="{max(last - first, 1):.1f}" height="{THICK - 3}" '
                    f'fill="{colour}" fill-opacity="0.75"/>'
                )
                if bar.spreads:
                    q1, q3 = map(place, bar.spreads[i])
                    shapes.append(
                        f'<path d="M{q1:.1f} {y + (THICK - 3) / 2}H{q3:.1f}" stroke="currentColor"/>'
                    )
                write(right + 6, y + THICK - 4, texts[i], SMALL)
            spoken.append(f"{heading} {bar.name}: {' and '.join(texts)}".strip())
            top += height
    top += 6
    shapes.append(f'<path d="M{left} {top}H{right}" stroke="currentColor"/>')
    for tick in _ticks(10**low, 10**high):
        x = place(tick)
        shapes.append(f'<path d="M{x:.1f} {top}v4" stroke="currentColor"/>')
        write(x, top + 18, f"{tick:g}", MIDDLE, SMALL)
    write((left + right) / 2, top + 36, axis, MIDDLE)
    if len(legend) > 1:
        label += f" Each with {' and with '.join(legend)}."
    label = f"{label} {'; '.join(spoken)}."
    size = WIDTH, top + 42
    return HTML(drawing(shapes, *size, label, style=FITTING, font_size=13))


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers on a logarithmic axis: powers of ten, with 2 and 5 where there would be few."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    wide = math.log10(high / low) > 2.2
    factors = (1,) if wide else (1, 2, 5)
    ticks = [factor * 10.0**decade for decade in decades for factor in factors]
    return [tick for tick in ticks if low * 0.999 <= tick <= high * 1.001]


def _threads(table: Table) -> list[str]:
    return sorted({row["threads"] for row in table.rows})


def legend_of(table: Table) -> list[str]:
    """What the bars of each number of threads are called."""
    return [f"{n} thread{'s' * (n != '1')}" for n in _threads(table)]


def bar_of(
    name: str, rows: Sequence[Mapping[str, str]], field_name: str = "ratio"
) -> Bar:
    """A bar of some rows, for example of each number of threads: ratios with their quartiles, or another field."""
    values = [float(row[field_name]) for row in rows]
    if field_name != "ratio":
        return Bar(name, values)
    spreads = [(float(row["q1"]), float(row["q3"])) for row in rows]
    return Bar(name, values, spreads)


def bars_of(
    table: Table, ways: Mapping[str, str], field_name: str = "ratio", **fields: str
) -> list[Bar]:
    """A bar of each way that the table has.

    Args:
      table: One of `bench/`, each row of which has a way.
      ways: From a way to what the picture calls it.
      field_name: As in `bar_of`.
      **fields: Values that the rows have, too.
    """
    return [
        bar_of(name, rows, field_name)
        for way, name in ways.items()
        if (rows := table.where(way=way, **fields))
    ]


def takes_one_thread(table: Table, way: str) -> bool:
    """Whether a way was mostly busy on one core where it might have used more."""
    busy = [
        float(row["cores"])
        for row in table.where(way=way)
        if row["cores"] and row["threads"] != "1"
    ]
    return bool(busy) and statistics.median(busy) < ALONE


def peers(task: str = "with argmax", name: str = "roi_pool") -> HTML:
    """Draws how much longer the others take than RoiPool, from `bench/<name>.csv`.

    Args:
      task: "with argmax", "without argmax" or "gradient".
      name: Of the table.
    """
    table = read(name)
    groups = {}
    for way in dict.fromkeys(row["way"] for row in table.where(task=task)):
        rows = table.where(task=task, way=way)
        is_base = all(row["base"] == way for row in rows)
        if is_base or way in LIMITS or way.endswith(KEPT):
            continue
        heading = way + ", on one thread" * takes_one_thread(table, way)
        workloads = dict.fromkeys(row["workload"] for row in rows)
        groups[heading] = [
            bar_of(
                NAMES.get(workload, workload),
                [row for row in rows if row["workload"] == workload],
                "ratio",
            )
            for workload in workloads
        ]
    (base,) = {
        row["base"] for row in table.where(task=task) if row["way"] not in LIMITS
    }
    return bars(
        groups,
        f"How many times longer than {base} the others take, {task}, by workload.",
        f"times as long as {base}",
        legend_of(table),
        origin=1.0,
    )


def variants(ways: Mapping[str, str], workloads: str, name: str = "roi_pool") -> HTML:
    """Draws how long variants of the CPU kernel take, from `bench/<name>.csv`: milliseconds.

    Args:
      ways: From a variant to what the picture calls it.
      workloads: Their letters.
      name: Of the table.
    """
    table = read(name)
    groups = {}
    for workload in workloads:
        heading = f"workload {workload}" if len(workloads) > 1 else ""
        fields = {"task": "variants", "workload": workload}
        groups[heading] = bars_of(table, ways, "milliseconds", **fields)
    return bars(
        groups,
        f"Milliseconds that variants of the kernel take, workload {' and '.join(workloads)}.",
        f"milliseconds on workload {' and '.join(workloads)}",
        legend_of(table),
        names_width=max(7 * len(shown) for shown in ways.values()),
    )


def limits(name: str = "roi_pool") -> HTML:
    """Draws what a program that only reads and writes takes of each op's time, from `bench/<name>.csv`: percent.

    Args:
      name: Of the table.
    """
    table = read(name)
    threads = _threads(table)
    groups: dict[str, list[Bar]] = {}
    for row in table.where(way=LIMITS[0], threads=threads[0]):
        if row["workload"] == MEAN:
            continue
        same = {key: row[key] for key in ("way", "task", "workload")}
        rows = table.where(**same)
        groups.setdefault(row["task"], []).append(
            Bar(
                row["workload"],
                [100 * float(each["ratio"]) for each in rows],
                [(100 * float(each["q1"]), 100 * float(each["q3"])) for each in rows],
            )
        )
    return bars(
        groups,
        "What reading and writing alone takes of the op's time, in percent, by task and workload.",
        "percent of the op's time",
        legend_of(table),
    )


def memory(name: str = "roi_pool") -> HTML:
    """Draws how long RoiPool takes with memory that is kept, from `bench/<name>.csv`."""
    table = read(name)
    groups: dict[str, list[Bar]] = {}
    for row in table.where(threads=_threads(table)[0]):
        if not row["way"].endswith(KEPT) or row["task"] == "variants":
            continue
        if row["workload"] == MEAN:
            continue
        same = {key: row[key] for key in ("task", "way", "workload")}
        groups.setdefault(row["way"].removesuffix(KEPT), []).append(
            bar_of(row["workload"], table.where(**same), "ratio")
        )
    return bars(
        groups,
        "How many times as long ops take with kept memory as with the default, by workload.",
        "times as long as with the default",
        legend_of(table),
        origin=1.0,
    )


def is_undecided(row: Row) -> bool:
    """Whether the quartiles of a ratio are on both sides of 1."""
    return float(row["q1"]) < 1 < float(row["q3"])


def span(rows: Sequence[Mapping[str, str]]) -> tuple[str, str]:
    """From the least to the greatest of the ratios of some rows, and how many of them are undecided."""
    ratios = [float(row["ratio"]) for row in rows]
    open_ = sum(map(is_undecided, rows))
    least, most = number(min(ratios)), number(max(ratios))
    return (
        least if least == most else f"{least} to {most}",
        f"{open_} of {len(rows)}",
    )


def folded(summary: str, picture: HTML) -> HTML:
    """A picture that is shown when its summary is clicked."""
    return HTML(
        f'<details class="measured"><summary>{html.escape(summary)}</summary>{picture.data}</details>'
    )


def on_gpu(what: str = "ratio", name: str = "roi_pool_gpu") -> HTML:
    """Draws RoiPool's kernels on the GPU, from `bench/<name>.csv`.

    Args:
      what: "ratio", how many times as fast as torchvision's they are, or "share of copy", in percent.
      name: Of the table.
    """
    groups: dict[str, list[Bar]] = {}
    for row in read(name).where(way="RoiPool"):
        if what == "ratio":
            spreads = [(float(row["q1"]), float(row["q3"]))]
            bar = Bar(row["workload"], [float(row[what])], spreads)
        else:
            bar = Bar(row["workload"], [100 * float(row[what])])
        groups.setdefault(row["task"], []).append(bar)
    if what == "ratio":
        label = (
            "How many times as fast as torchvision's RoiPool's kernels on the GPU are."
        )
        return bars(groups, label, "times as fast as torchvision", origin=1.0)
    label = "What RoiPool's kernels on the GPU move, of what a copy moves in that time, in percent."
    return bars(groups, label, "percent of a copy")


def naming(picture: HTML, *names: str) -> HTML:
    """The picture, after a check that it has the names of which the text speaks."""
    for name in names:
        assert f">{html.escape(name)}</text>" in picture.data, name
    return picture


def durations(table: Table, label: str, axis: str = "seconds") -> HTML:
    """Draws a table of durations, or of what else is to be small."""
    groups = {}
    for row in table.rows:
        measured = float(row["measured"])
        text = f"{number(measured)} {row['unit']}"
        groups[row["what"]] = [Bar("", [measured], texts=[text])]
    return bars(groups, f"{label} In {axis}.", axis, names_width=0)
