"""Pictures of the chapter on threads that share, each drawn from what ops return or what was measured."""

from collections.abc import Mapping, Sequence

import numpy as np
from IPython.display import HTML
from measured import bar_of, bars, bars_of, legend_of, read
from measured import number as two_digits
from pictures.figures import (
    COLOURS,
    END,
    FITTING,
    LINE,
    MIDDLE,
    POINTED,
    SMALL,
    TIP,
    box,
    drawing,
    text,
)

DOT = '<circle cx="{:.1f}" cy="{:.1f}" r="{}" fill="{}" fill-opacity="{}"/>'
ALONE = "alone"  # the way that uses one thread, however many there are


def ratios_of_two() -> dict[str, float]:
    """What `bench/threads.csv` has on two threads, for the sentences of the page."""
    table = read("threads")

    def ratio(task: str, way: str) -> float:
        return float(table.where(task=task, way=way)[-1]["ratio"])

    one, two = (float(row["milliseconds"]) for row in table.where(way="SteadySum"))
    return {
        "took": 1 / ratio("sum", "tf.reduce_sum"),
        "gain": one / two,
        "each": ratio("rows", "one block for each thread"),
        "shards": ratio("rows", "shard"),
        "single": ratio("rows", "1 rows"),
        "close": ratio("gains and losses", "neighbours"),
    }


def beside_the_plain_loop() -> list[tuple[str, ...]]:
    """How many times as long as a loop on one thread it takes to lock each addition, with one thread and with two."""
    table = read("threads")
    alone, *_ = table.where(task="sum", way=ALONE)
    return [
        (
            way,
            *(
                two_digits(float(row["milliseconds"]) / float(alone["milliseconds"]))
                for row in table.where(task="sum", way=way)
            ),
        )
        for way in ("lock", "atomic")
    ]


def by_threads(sums: Mapping[str, Sequence[float]], threads: Sequence[int]) -> HTML:
    """Sums of the same numbers in processes with so many threads: a level for each value that came out.

    Args:
      sums: From the names of two ops to a sum for each number of threads.
      threads: These numbers.
    """
    levels = sorted({value for values in sums.values() for value in values})
    step, left, side, top = 34, 116, 34, 52
    height = top + (len(levels) - 1) * step
    places = {value: height - i * step for i, value in enumerate(levels)}
    right = left + (len(threads) - 1) * side + 20
    parts = [text(2, y + 4, f"{value:.4f}") for value, y in places.items()]
    parts += [
        f'<path d="M{left - 16} {y}H{right}" stroke="currentColor" stroke-opacity="0.25"/>'
        for y in places.values()
    ]
    for number, (colour, (name, values)) in enumerate(zip(COLOURS, sums.items())):
        at = left - 8 + 140 * number
        parts.append(DOT.format(at, 14, 6 - 2 * number, colour, 1))
        parts.append(text(at + 12, 18, name))
        for i, value in enumerate(values):
            x = left + i * side
            parts.append(DOT.format(x, places[value], 9 - 4 * number, colour, 1))
    for i, count in enumerate(threads):
        parts.append(text(left + i * side, height + 28, f"{count}", MIDDLE))
    parts.append(text((left + right) / 2, height + 46, "threads", MIDDLE, SMALL))
    spoken = "; ".join(
        f"{name}: {', '.join(f'{value:.4f}' for value in values)}"
        for name, values in sums.items()
    )
    label = f"What came out with {', '.join(map(str, threads))} threads. {spoken}."
    return HTML(drawing(parts, right + 8, height + 52, label, style=FITTING))


def fixed_blocks(size: int, owners: Sequence[int] = (0, 1, 1, 0, 1, 0)) -> HTML:
    """How SteadySum shares numbers: blocks of a fixed size, a part for each, and one sum.

    Args:
      size: How many numbers a block has.
      owners: Of each block, which thread has taken it.
    """
    wide, high, left, apart = 70, 26, 72, 40
    right = left + len(owners) * wide
    top, middle, bottom = (4 + row * (high + apart) for row in range(3))
    centre = (left + right) / 2
    parts = [TIP]
    for name, y in ("numbers", top), ("parts", middle), ("their sum", bottom):
        parts.append(text(2, y + 18, name))
    for block, owner in enumerate(owners):
        x, end = left + (block + 0.5) * wide, centre + 9 * (block - len(owners) / 2)
        parts.append(box(x - wide / 2, top, wide, high, 0.5, owner, corner=0))
        parts.append(text(x, top + 18, f"{size}", MIDDLE, SMALL))
        parts.append(box(x - 16, middle, 32, high, 0.5, owner, corner=0))
        parts.append(f'<path d="M{x} {top + high}V{middle - 2}" {POINTED}/>')
        line = f"M{x} {middle + high}L{end + 4.5} {bottom - 2}"
        parts.append(f'<path d="{line}" {POINTED}/>')
    parts.append(box(centre - 32, bottom, 64, high, corner=0))
    top = bottom + high + 26
    for number, name in enumerate(("one thread", "another thread")):
        x = left + 140 * number
        parts.append(box(x, top - 12, 14, 14, 0.5, number, corner=0))
        parts.append(text(x + 20, top, name, SMALL))
    label = (
        f"{len(owners)} blocks of {size} numbers each. One thread has taken some of them, another thread the others. "
        "Each block has a place in parts for its sum, and at the end one thread adds the parts."
    )
    return HTML(drawing(parts, right + 4, top + 8, label, style=FITTING))


def spread(sums: Mapping[str, Sequence[float]], right: float) -> HTML:
    """Sums of the same numbers, each a dot, in a row for each way, around what is right.

    Args:
      sums: From a way to its sums; the first way has a scale of its own.
      right: What is right.
    """
    parts, width, left = [], 440, 96
    centre = left + (width - left) / 2
    first, *others = sums.values()
    scales = [
        max(abs(value - right) for row in rows for value in row)
        for rows in ([first], others)
    ]
    for number, (name, values) in enumerate(sums.items()):
        y = 30 + 46 * number
        farthest = scales[number > 0]
        room = (width - left) / 2 - 10
        parts.append(text(2, y + 4, name))
        parts.append(f'<path d="M{left} {y}H{width}" {LINE} stroke-opacity="0.3"/>')
        for value in values:
            x = centre + (value - right) / farthest * room
            parts.append(DOT.format(x, y, 5, COLOURS[0], 0.35))
        least, most = min(values), max(values)
        said = f"{least:,.2f} to {most:,.2f}" if most > least else f"{least:,.2f}"
        parts.append(text(width, y - 12, said, END, SMALL))
    bottom = 30 + 46 * len(sums) - 24
    parts.append(
        f'<path d="M{centre} 24V{bottom}" {LINE} stroke-dasharray="4 3" stroke-opacity="0.6"/>'
    )
    parts.append(text(centre, bottom + 16, f"{right:,.2f} is right", MIDDLE, SMALL))
    spoken = "; ".join(
        f"{name}: {min(values):,.2f} to {max(values):,.2f}"
        for name, values in sums.items()
    )
    label = f"Sums that came out, where {right:,.2f} is right. {spoken}."
    return HTML(drawing(parts, width + 4, bottom + 22, label, style=FITTING))


def times(ways: Mapping[str, str], task: str = "sum") -> HTML:
    """Milliseconds of ways to add, from `bench/threads.csv`.

    Args:
      ways: From a way to what the picture calls it.
      task: Which comparison of the table.
    """
    table = read("threads")
    drawn = [
        bar_of(name, rows[:1] if way == ALONE else rows, "milliseconds")
        for way, name in ways.items()
        if (rows := table.where(task=task, way=way))
    ]
    label = f"Milliseconds that ways of one task take: {task}."
    wide = max(7 * len(name) for name in ways.values())
    return bars({"": drawn}, label, "milliseconds", legend_of(table), names_width=wide)


def ratios() -> HTML:
    """How many times as long other ways to add take as SteadySum, from `bench/threads.csv`."""
    names = {
        "tf.reduce_sum": "tf.reduce_sum",
        "eigen": "Eigen",
        "alone": "one thread",
        "local": "a lock a block",
        "atomic": "an atomic",
        "lock": "a lock",
    }
    table = read("threads")
    drawn = bars_of(table, names, task="sum")
    label = "How many times as long other ways to add take as SteadySum."
    axis = "times as long as SteadySum"
    return bars({"": drawn}, label, axis, legend_of(table), names_width=100, origin=1.0)


def who_sorted(
    ways: Mapping[str, Sequence[Sequence[np.ndarray]]],
    lengths: np.ndarray,
    threads: int,
) -> HTML:
    """Which thread sorted which block of rows: a lane for each thread, and a box for each block.

    Of several runs, it is the one that shared the work best: in others, a thread was busy elsewhere.

    Args:
      ways: From a heading to runs: the first unit of the block of each row, and the number of its thread.
      lengths: Of the rows; a box is as wide as the rows of its block are long together.
      threads: How many there are.
    """
    parts, spoken, top, left, wide, high = [], [], 0, 2, 340, 11
    for heading, runs in ways.items():
        first, thread = min(
            (np.stack(run) for run in runs),
            key=lambda run: np.bincount(run[1], lengths).max(),
        )
        parts.append(text(left, top + 16, heading))
        top += 22
        lanes = sorted(set(thread.tolist()))
        if len(lanes) > threads:
            raise AssertionError(f"{heading}: {len(lanes)} threads")
        shares = []
        for lane in lanes:
            mine = thread == lane
            _, places = np.unique(first[mine], return_inverse=True)
            widths = np.bincount(places, lengths[mine]) / lengths.sum() * wide
            shares.append(widths.sum() / wide)
            x = left
            for width in [*widths[widths >= 3], widths[widths < 3].sum()]:
                if width:
                    parts.append(box(x, top, width, high, 0.45, 0, corner=0))
                x += width
            if shares[-1] == max(shares):
                most = x, top
            top += high + 2
        for _ in range(threads - len(lanes)):
            parts.append(
                f'<path d="M{left} {top + high / 2}h8" {LINE} stroke-opacity="0.4"/>'
            )
            top += high + 2
        parts.append(
            text(
                most[0] + 5,
                most[1] + 10,
                f"{max(shares):.0%}".replace("%", " %"),
                SMALL,
            )
        )
        spoken.append(f"{heading}: {', '.join(f'{share:.0%}' for share in shares)}")
        top += 6
    label = f"What share of the values each thread has sorted. {'; '.join(spoken)}."
    return HTML(
        drawing(parts, left + wide + 44, top, label, style=FITTING, font_size=13)
    )


def cache_line() -> HTML:
    """Where the sums of two threads lie: side by side in one cache line, and each in a line of its own."""
    parts, side, left, floats = [], 24, 4, 16
    # Of each line, the threads whose sums it begins with.
    rows = (
        ("side by side: one line", [(0, 0, 1, 1)]),
        ("64 bytes apart: two lines", [(0, 0), (1, 1)]),
    )
    top = 18
    for heading, lines in rows:
        parts.append(text(left, top, heading))
        for owners in lines:
            for place in range(floats):
                x, y = left + place * side, top + 8
                fill = COLOURS[owners[place]] if place < len(owners) else "none"
                parts.append(
                    f'<rect x="{x}" y="{y}" width="{side}" height="{side}" stroke="currentColor" fill="{fill}" '
                    'fill-opacity="0.6" stroke-opacity="0.5"/>'
                )
            top += side + 8
        top += 24
    for number, name in enumerate(("the sums of one thread", "those of another")):
        x = left + 200 * number
        parts.append(
            f'<rect x="{x}" y="{top - 12}" width="14" height="14" fill="{COLOURS[number]}" fill-opacity="0.6"/>'
        )
        parts.append(text(x + 20, top, name, SMALL))
    label = (
        f"Lines of {floats} floats. Above, the sums of one thread and those of another lie side by side in one line. "
        "Below, 64 bytes apart, they lie in two lines."
    )
    return HTML(drawing(parts, left + floats * side + 4, top + 8, label, style=FITTING))


def at_once(ways: Mapping[str, str]) -> HTML:
    """Milliseconds until calls that begin together have ended, from `bench/threads.csv`."""
    groups = {}
    for row in read("threads").rows:
        if row["task"].endswith(" at once"):
            count = int(row["task"].split()[0])
            heading = f"{count} calls at once" if count > 1 else "1 call"
            bar = bar_of(ways[row["way"]], [row], "milliseconds")
            groups.setdefault(heading, []).append(bar)
    label = "Milliseconds until calls of an op that begin together have ended, by whose threads it uses."
    return bars(groups, label, "milliseconds", names_width=130)
