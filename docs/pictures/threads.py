"""Pictures of the chapter on threads that share, each drawn from what ops return or what was measured."""

from collections.abc import Mapping, Sequence

import numpy as np
from IPython.display import HTML
from measured import read
from pictures.drawing import dot, line, picture, rectangle, small
from pictures.layout import arrow, at, box, column, layers, row, table
from pictures.plots import keys


def figures() -> dict[str, float]:
    """What the sentences of the page say of `bench/threads.csv`."""
    table = read("threads")

    def last(task: str, way: str, field: str = "ratio") -> float:
        return float(table.where(task=task, way=way)[-1][field])

    much, little = "cost of 10000 rows of 100", "cost of 100 rows of 10"
    one, two = table.where(task=much, way="the right cost")
    alone = last("sum", "alone", "milliseconds")
    return {
        "sort_gain": float(one["milliseconds"]) / float(two["milliseconds"]),
        "too_low": last(much, "1 cycle"),
        "too_high": last(little, "10,000,000 cycles"),
        "high_anyway": last(much, "10,000,000 cycles"),
        "shards": last("rows", "shard"),
        "close": last("gains and losses", "neighbours"),
        "lock": last("sum", "lock", "milliseconds") / alone,
        "atomic": last("sum", "atomic", "milliseconds") / alone,
        "openmp_1": last("1 at once", "openmp"),
        "openmp_8": last("8 at once", "openmp"),
        "std_1": last("1 at once", "std::thread"),
        "std_8": last("8 at once", "std::thread"),
    }


def units_apart(sums: Sequence[float]) -> int:
    """How many units in the last place of float32 are between the least and the greatest of some sums."""
    return round((max(sums) - min(sums)) / np.spacing(np.float32(min(sums))))


def by_threads(sums: Mapping[str, Sequence[float]], threads: Sequence[int]) -> HTML:
    """Sums of the same numbers, by two ops, with so many threads: a level for each value that came out."""
    levels = sorted({value for values in sums.values() for value in values})
    places = {value: -34.0 * i for i, value in enumerate(levels)}
    right = 34 * (len(threads) - 1) + 20
    shapes = []
    for value, y in places.items():
        shapes.append(line((-16, y), (right, y), stroke_opacity=0.25))
        shapes.append(at(-28, y, f"{value:,.4f}", "e"))
    names = []
    for number, (name, values) in enumerate(sums.items()):
        look = {"radius": 9 - 4 * number, "colour": number}
        says = f"{name}: {', '.join(f'{value:,.4f}' for value in values)}"
        names.append(row(dot(0, 0, **look), name).tells(says))
        shapes += [dot(34 * i, places[value], **look) for i, value in enumerate(values)]
    for i, count in enumerate(threads):
        shapes.append(at(34 * i, 16, f"{count}", "n"))
    shapes.append(at((right - 16) / 2, 36, small("threads"), "n"))
    drawn = column(row(*names, gap=28), layers(*shapes), gap=14, align="end")
    label = f"What came out with {', '.join(map(str, threads))} threads."
    return picture(drawn, label)


def fixed_blocks(size: int, owners: Sequence[int] = (0, 1, 1, 0, 1, 0)) -> HTML:
    """How SteadySum shares numbers: blocks of a fixed size, each of one owner, a part for each, and one sum."""
    looks = [{"shade": 0.5, "colour": owner, "corner": 0} for owner in owners]
    numbers = [box(small(f"{size}"), width=60, height=26, **each) for each in looks]
    parts = [box(width=32, height=26, **each) for each in looks]
    total, ends = (
        rectangle(64, 26),
        9 * (np.arange(len(owners)) - (len(owners) - 1) / 2),
    )
    arrows = list(map(arrow, numbers, parts))
    arrows += (arrow(part, total, shift=(0, end)) for part, end in zip(parts, ends))
    rows = {"numbers": row(*numbers, gap=0), "parts": row(*parts, gap=28)}
    rows |= {"their sum": total}
    shapes = table(list(rows.items()), (4, 40), ("start", "middle"))
    label = (
        f"{len(owners)} blocks of {size} numbers each. One thread has taken some of them, another thread the others. "
        "Each block has a place in parts for its sum, and at the end one thread adds the parts."
    )
    names = keys(("one thread", "another thread"), 0.5)
    return picture(column(layers(shapes, *arrows), names, gap=14), label)


def spread(sums: Mapping[str, Sequence[float]], right: float) -> HTML:
    """Sums of the same numbers, a row for each way, around what is right; the first way has a scale of its own."""
    first, *others = sums.values()
    scales = [np.max(np.abs(np.array(rows) - right)) for rows in (first, others)]
    shapes = []
    for number, (name, values) in enumerate(sums.items()):
        y, scale = 46 * number, float(scales[number > 0])
        least, most = f"{min(values):,.2f}", f"{max(values):,.2f}"
        said = f"{least} to {most}"
        shapes.append(at(-266, y, name, "w").tells(f"{name}: {said}"))
        shapes.append(line((-172, y), (172, y), stroke_opacity=0.3))
        for x in (162 * (v - right) / scale for v in values):
            shapes.append(dot(x, y, 5, "blue", fill_opacity=0.35))
        shown = said if max(values) > min(values) else least
        shapes.append(at(172, y - 6, small(shown), "se"))
    bottom = 46 * len(sums) - 30
    shapes.append(line((0, -6), (0, bottom), dashed=True, stroke_opacity=0.6))
    shapes.append(at(0, bottom + 4, small(f"{right:,.2f} is right"), "n"))
    return picture(layers(*shapes), f"Sums, of which {right:,.2f} is right.")
