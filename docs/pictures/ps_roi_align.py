"""Pictures of the chapter on all cores of the CPU, each drawn from what ops and references return."""

from collections.abc import Sequence

import numpy as np
from IPython.display import HTML
from measured import read, span
from pictures.drawing import Shape, bold, dot, picture, rectangle, small
from pictures.layout import at, column, ends, grid, layers, row, table
from pictures.performance import TO
from pictures.plots import chart
from ps_roi_align_reference import samples, weights

SIDE = 30


def figures() -> dict[str, float]:
    """What the text says of `bench/ps_roi_align.csv`."""
    alone, *_ = read("ps_roi_align").where(task="cost", workload="much work")
    return {"unit_us": 1e3 * float(alone["milliseconds"]) / 2000}


def beside_loops() -> list[tuple[str, ...]]:
    """How many times as long the loops for XLA take: task, on one thread, on two."""
    loops = read("ps_roi_align_xla")
    return [
        (
            task,
            *(span(loops.where(task=task, threads=n, way="loops, XLA")) for n in "12"),
        )
        for task in ("forward", "gradient")
    ]


def gains() -> list[tuple[str, ...]]:
    """What a second thread gains, and its quartiles: task, workload, with turns, and with the blocks of Shard."""
    found: dict[tuple[str, str], list[str]] = {}
    for task in ("forward", "gradient"):
        for one in read("ps_roi_align").where(task=f"{task}, one thread to two"):
            if one["way"] == "PsRoiAlign":
                continue  # in turns, too, and alone in its library
            ratio, q1, q3 = (float(one[each]) for each in ("ratio", "q1", "q3"))
            gain = f"{ratio:.2f} ({q1:.2f}{TO}{q3:.2f})"
            found.setdefault((task, one["workload"]), []).append(gain)
    return [(*case, *each) for case, each in found.items()]


def own_channels(roi: np.ndarray, shape: tuple[int, int], bins: int) -> HTML:
    """A region over a map, once for each of its bins: the weights of the pixels, and the samples."""
    height, width = shape
    x1, y1, x2, y2 = roi - np.float32(0.5)
    down, across = weights(y1, y2, bins, -1, height), weights(x1, x2, bins, -1, width)
    ys, xs = samples(y1, y2, bins, -1), samples(x1, x2, bins, -1)

    def of_bin(i: int, j: int) -> Shape:
        share = np.outer(down[i], across[j])
        shades = 0.6 * share / share.max()
        look = {"width": SIDE, "shade": 1, "stroke_opacity": 0.3}
        pixels = grid(np.full(shape, ""), shades, **look)
        # A pixel's centre is at a whole number.
        left, top = (x1 + 0.5) * SIDE, (y1 + 0.5) * SIDE
        region = rectangle((x2 - x1) * SIDE, (y2 - y1) * SIDE, dashed=True)
        places = ((x + 0.5, y + 0.5) for y in ys[i] for x in xs[j])
        dots = (dot(x * SIDE, y * SIDE, 2.5, "orange") for x, y in places)
        shapes = layers(pixels, at(left, top, region), *dots)
        return column(small(f"channels of bin {i}, {j}"), shapes)

    drawn = [[of_bin(i, j) for j in range(bins)] for i in range(bins)]
    label = (
        f"A region of {x2 - x1:g} by {y2 - y1:g} pixels on a map of {width} by {height}, drawn once for each of its "
        f"{bins * bins} bins. In each, the pixels about the samples of that bin have a weight."
    )
    return picture(table(drawn, 24), label)


def blocks(found: Sequence[tuple[str, np.ndarray]], units: int) -> HTML:
    """How units of work were cut into blocks: from a heading to the first unit of the block of each unit."""
    drawn, wide = [], 360
    for heading, first in found:
        starts = np.unique(first)
        count = f"{len(starts)} block{'s' if len(starts) > 1 else ''}"
        cells = (
            rectangle(size / units * wide, 20, 0.35, i % 2)
            for i, size in enumerate(np.diff([*starts, units]))
        )
        each = column(ends(wide, heading, count), row(*cells, gap=0))
        drawn.append(each.tells(f"{heading}: {len(starts)}"))
    label = f"{units} units of work as Shard cut them, and in how many blocks."
    return picture(column(*drawn, gap=12), label)


def contributions() -> HTML:
    """How many bins of three regions give something to each pixel, and the rows that one thread has."""
    three = np.float32([[0, 0, 4.5, 4], [2, 1, 8, 5], [1, 2, 7.5, 6]]) - np.float32(0.5)
    down = [weights(y1, y2, 2, -1, 6) for _, y1, _, y2 in three]
    across = [weights(x1, x2, 2, -1, 8) for x1, _, x2, _ in three]
    own = 3
    counts = sum(
        np.outer((rows > 0).sum(0), (cols > 0).sum(0))
        for rows, cols in zip(down, across)
    )
    height, width = counts.shape
    shades = 0.08 + 0.5 * counts / counts.max()
    look = {"width": SIDE, "size": 12, "shade": 1, "stroke_opacity": 0.3}
    rows = [
        [grid(counts[half], shades[half], colour=colour, **look), bold(who, 12)]
        for half, colour, who in (
            (slice(own), "blue", "one thread"),
            (slice(own, None), "orange", "another"),
        )
    ]
    label = (
        f"A map of {height} rows and {width} columns, and in each pixel how many bins give something to it, at most "
        f"{counts.max()}. The first {own} rows belong to one thread, the others to another."
    )
    return picture(table(rows, (10, 0), "start"), label)


def costs(load: str) -> HTML:
    """Microseconds of the same work, with what Shard was told that a unit costs."""
    on = {"1": "on one thread", "2": "on two threads"}
    return chart(
        read("ps_roi_align").where(task="cost", workload=load),
        "microseconds, by the cycles that Shard was told",
        heading=lambda row: on[row["threads"]],
        name=lambda row: f"{int(row['way'].split()[0]):,}",
        series="",
        value="milliseconds",
        factor=1e3,
        origin=None,
    )


def times(task: str) -> HTML:
    """Milliseconds of PsRoiAlign and of torchvision's op."""
    return chart(
        [
            row
            for row in read("ps_roi_align").where(task=task)
            if row["workload"] in "abc"
        ],
        "milliseconds",
        heading="workload {workload}",
        name={way: way for way in ("PsRoiAlign", "torchvision")},
        value="milliseconds",
        origin=None,
    )
