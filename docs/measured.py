"""The tables of bench/ for the pages: read, checked against their goals, drawn in the colours of the page."""

import csv
import hashlib
import html
import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from figures import COLOURS, FITTING, drawing, text
from IPython.display import HTML

BENCH = Path(__file__).parents[1] / "bench"
WIDTH = 380
THICK = 13
LIMITS = ("limit", "traffic")
DEFAULT_MEMORY = "default memory"
SHARE_GOAL = 60.0  # percent of a copy's bandwidth on the GPU
MEAN = "a-c"  # the workload of rows with the geometric mean of a, b and c
NAMES = {MEAN: "a–c"}


@dataclass(frozen=True)
class Table:
    """A table of bench/: its first lines, on command, machine, versions and date, and its rows."""

    first_lines: list[str]
    rows: list[dict[str, str]]

    def about(self) -> str:
        """The first lines, to be printed: wrapped, so that they fit beside a page's margins."""
        return "\n".join(
            textwrap.fill(line, 80, subsequent_indent="    ", break_long_words=False)
            for line in self.first_lines
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
      ValueError: It is not as a bench wrote it.
    """
    digest, _, text = (BENCH / f"{name}.csv").read_text().partition("\n")
    if digest != f"# sha256: {hashlib.sha256(text.encode()).hexdigest()}":
        raise ValueError(
            f"bench/{name}.csv is not as the bench wrote it: its first line has another SHA-256"
        )
    lines = text.splitlines()
    first_lines = [line[2:] for line in lines if line.startswith("# ")]
    rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    return Table(first_lines, list(rows))


@dataclass(frozen=True)
class Bar:
    """What is drawn in a line: a name, one value for each entry of the legend, their quartiles, and a goal."""

    name: str
    values: Sequence[float]
    spreads: Sequence[tuple[float, float]] = ()
    goal: float | None = None
    texts: Sequence[str] = field(default=())


def number(value: float) -> str:
    """Three digits: 0.123, 1.23, 12.3, 123, 1230."""
    if value <= 0:
        return "0"
    rounded = float(f"{value:.3g}")
    return f"{rounded:.{max(0, 2 - math.floor(math.log10(rounded)))}f}"


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
      axis: What the axis measures.
      legend: What the values of each bar are, at most two.
      names_width: How much room the names of the bars take, of the 380 units of the picture.
      origin: Where bars begin; unset: at the left end of the axis.
    """
    drawn = [bar for group in groups.values() for bar in group]
    numbers = [value for bar in drawn for value in bar.values]
    numbers += [edge for bar in drawn for spread in bar.spreads for edge in spread]
    numbers += [bar.goal for bar in drawn if bar.goal] + [origin or numbers[0]]
    low, high = math.log10(min(numbers)), math.log10(max(numbers))
    if origin is None:
        low -= 0.15 * (high - low or 1)
    left, right = names_width + 8, WIDTH - 58

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
            write(left - 6, top + height / 2 + 4, bar.name, 'text-anchor="end"')
            texts = bar.texts or [number(value) for value in bar.values]
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
                write(right + 6, y + THICK - 4, texts[i], 'font-size="12"')
            if bar.goal:
                shapes.append(
                    f'<path d="M{place(bar.goal):.1f} {top}v{height}" stroke="currentColor" stroke-width="2.5" '
                    'stroke-dasharray="3 2"/>'
                )
            goal = f", goal {number(bar.goal)}" if bar.goal else ""
            spoken.append(f"{heading} {bar.name}: {' and '.join(texts)}{goal}".strip())
            top += height
    top += 6
    shapes.append(f'<path d="M{left} {top}H{right}" stroke="currentColor"/>')
    for tick in _ticks(10**low, 10**high):
        x = place(tick)
        shapes.append(f'<path d="M{x:.1f} {top}v4" stroke="currentColor"/>')
        write(x, top + 18, f"{tick:g}", 'text-anchor="middle"', 'font-size="12"')
    write((left + right) / 2, top + 36, axis, 'text-anchor="middle"')
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


def _legend(threads: Sequence[str]) -> list[str]:
    return [f"{n} thread{'s' * (n != '1')}" for n in threads]


def _bar(name: str, rows: Sequence[Mapping[str, str]], field_name: str) -> Bar:
    """A bar from the rows of each number of threads."""
    spreads = [(float(row["q1"]), float(row["q3"])) for row in rows]
    goal = rows[0]["goal"].split()[-1] if rows[0]["goal"] else None
    is_ratio = field_name == "ratio"
    return Bar(
        name,
        [float(row[field_name]) for row in rows],
        spreads if is_ratio else (),
        float(goal) if goal and is_ratio else None,
    )


def peers(task: str = "with argmax", name: str = "roi_pool") -> HTML:
    """Draws how much longer the others take than RoiPool, from `bench/<name>.csv`.

    Args:
      task: "with argmax", "without argmax" or "gradient".
      name: Of the table.
    """
    table = read(name)
    ways = dict.fromkeys(row["way"] for row in table.where(task=task))
    threads = _threads(table)
    groups = {}
    for way in ways:
        rows = table.where(task=task, way=way)
        if way in LIMITS or way.endswith(DEFAULT_MEMORY):
            continue
        if all(row["base"] == way for row in rows):
            continue
        workloads = dict.fromkeys(row["workload"] for row in rows)
        groups[way] = [
            _bar(
                NAMES.get(workload, workload),
                [row for row in rows if row["workload"] == workload],
                "ratio",
            )
            for workload in workloads
        ]
    (base,) = {row["base"] for row in table.where(task=task)}
    return bars(
        groups,
        f"How many times longer than {base} the others take, {task}, by workload.",
        f"times as long as {base}",
        _legend(threads),
        origin=1.0,
    )


def variants(workload: str = "a", name: str = "roi_pool") -> HTML:
    """Draws how long the variants of the CPU kernel take, from `bench/<name>.csv`: milliseconds.

    Args:
      workload: "a", "b" or "c".
      name: Of the table.
    """
    table = read(name)
    rows = table.where(task="variants", workload=workload)
    ways = dict.fromkeys(row["way"] for row in rows)
    threads = _threads(table)
    lines = {way: [row for row in rows if row["way"] == way] for way in ways}
    limits = table.where(task="with argmax", workload=workload, way="limit")
    lines["limit"] = limits
    groups = {way: [_bar("", each, "milliseconds")] for way, each in lines.items()}
    return bars(
        groups,
        f"Milliseconds that variants of the kernel take on workload {workload}.",
        f"milliseconds on workload {workload}",
        _legend(threads),
        names_width=0,
    )


def limits(limit: str = "limit", name: str = "roi_pool") -> HTML:
    """Draws which share of a limit set by memory each task reaches, from `bench/<name>.csv`: percent.

    Args:
      limit: "limit", where each pixel is read once, or "traffic", where it is for each region.
      name: Of the table.
    """
    table = read(name)
    threads = _threads(table)
    groups: dict[str, list[Bar]] = {}
    for row in table.where(way=limit):
        if row["threads"] != threads[0] or row["workload"] == MEAN:
            continue
        rows = table.where(way=limit, task=row["task"], workload=row["workload"])
        bar = _bar(row["workload"], rows, "ratio")
        percents = [100 * value for value in bar.values]
        spreads = [(100 * q1, 100 * q3) for q1, q3 in bar.spreads]
        goal = 100 * bar.goal if bar.goal else None
        groups.setdefault(row["task"], []).append(
            Bar(bar.name, percents, spreads, goal)
        )
    return bars(
        groups,
        "Share of what memory allows, in percent, by task and workload.",
        f"percent of the {'limit' if limit == 'limit' else 'second limit'}",
        _legend(threads),
    )


def default_memory(name: str = "roi_pool") -> HTML:
    """Draws how much longer RoiPool takes with the default allocators, from `bench/<name>.csv`."""
    table = read(name)
    threads = _threads(table)
    groups: dict[str, list[Bar]] = {}
    for row in table.rows:
        if row["way"].endswith(DEFAULT_MEMORY) and row["threads"] == threads[0]:
            same = {key: row[key] for key in ("task", "way", "workload")}
            workload = NAMES.get(row["workload"], row["workload"])
            groups.setdefault(row["base"], []).append(
                _bar(workload, table.where(**same), "ratio")
            )
    return bars(
        groups,
        "How many times longer RoiPool takes with the default allocators, by workload.",
        "times as long as with memory that is kept",
        _legend(threads),
        origin=1.0,
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
            goal = float(row["goal"].split()[-1]) if row["goal"] else None
            bar = Bar(row["workload"], [float(row[what])], spreads, goal)
        else:
            bar = Bar(row["workload"], [100 * float(row[what])], goal=SHARE_GOAL)
        groups.setdefault(row["task"], []).append(bar)
    if what == "ratio":
        label = (
            "How many times as fast as torchvision's RoiPool's kernels on the GPU are."
        )
        return bars(groups, label, "times as fast as torchvision", origin=1.0)
    label = "What RoiPool's kernels on the GPU move, of what a copy moves in that time."
    return bars(groups, label, "percent of a copy")


def missed(table: Table) -> list[str]:
    """Says of each goal that a table of ratios names and does not reach what was reached."""
    found = []
    for row in table.rows:
        if row["goal"] and not _met(row):
            found.append(
                f"{row['task']}, {row['way']}, workload {row['workload']}, {row['threads']} "
                f"thread{'s' * (row['threads'] != '1')}: {number(float(row['ratio']))}, goal {row['goal']}"
            )
    return found


def _met(row: Mapping[str, str]) -> bool:
    sign, goal = row["goal"].split()
    ratio = float(row["ratio"])
    return ratio >= float(goal) if sign == ">=" else ratio <= float(goal)


def goals(table: Table) -> HTML:
    """The goals of a table of ratios and what was reached, for each number of threads."""
    threads = _threads(table)
    lines = []
    for row in table.where(threads=threads[0]):
        if not row["goal"]:
            continue
        same = {key: row[key] for key in ("task", "way", "workload")}
        what = f"{row['task']}: {row['way']}"
        if row["way"] == "limit":
            what = f"{row['task']}: share of the limit"
        elif row["task"] == "call":
            what = f"call: {row['way']} to {row['base']}"
        what += f", {NAMES.get(row['workload'], row['workload'])}"
        sign, goal = row["goal"].split()
        cells = [{">=": "≥", "<=": "≤"}[sign] + goal]
        for each in table.where(**same):
            reached = number(float(each["ratio"]))
            cells.append(
                reached if _met(each) else f"<strong>{reached}, missed</strong>"
            )
        lines.append(_line("td", f'<th scope="row">{html.escape(what)}</th>', cells))
    titles = ["goal", *_legend(threads)]
    first = _line("th", "<td></td>", titles)
    return HTML(
        '<div class="pst-scrollable-table-container"><table class="table">'
        f"<thead>{first}</thead><tbody>{''.join(lines)}</tbody></table></div>"
    )


def durations(table: Table, label: str, axis: str = "seconds") -> HTML:
    """Draws a table of durations, or of what else is to be small, and its goals."""
    groups = {}
    for row in table.rows:
        measured, goal = float(row["measured"]), float(row["goal"])
        text = f"{measured:g} {row['unit']}"
        groups[row["what"]] = [Bar("", [measured], goal=goal, texts=[text])]
    return bars(groups, label, axis, names_width=0)


def exceeded(table: Table) -> list[str]:
    """Says of each goal of a table of durations that was not reached what was."""
    return [
        f"{row['what']}: {row['measured']} {row['unit']}, goal {row['goal']}"
        for row in table.rows
        if float(row["measured"]) > float(row["goal"])
    ]


def _line(kind: str, first: str, cells: Sequence[str]) -> str:
    """A row of an HTML table."""
    return f"<tr>{first}{''.join(f'<{kind}>{cell}</{kind}>' for cell in cells)}</tr>"
