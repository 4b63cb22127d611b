"""Pictures of the chapter on all cores of the CPU, each drawn from what ops and references return."""

import re
from collections.abc import Sequence
from functools import partial

import numpy as np
from IPython.display import HTML
from measured import Row, read, span, text_of
from pictures.drawing import Shape, bold, dot, picture, rectangle, small
from pictures.layout import at, column, ends, grid, layers, row, table
from pictures.performance import TO
from pictures.plots import chart
from ps_roi_align_reference import samples, weights

SIDE = 30


def figures() -> dict[str, float]:
    """What the text says of `bench/ps_roi_align.csv`."""
    found = read("ps_roi_align")
    alone, *_ = found.where(task="cost", workload="much work")
    little = found.where(task="cost", workload="little work")
    too_much = [float(row["ratio"]) for row in little if row["threads"] != "1"]
    height, _, _, num_rois, bins = map(int, re.findall(r"\d+", found.value("c"))[1:6])
    return {
        "unit_us": 1e3 * float(alone["milliseconds"]) / 2000,
        "too_much": max(too_much),
        "tests": height * num_rois * bins / 1e6,
    }


def beside_loops() -> list[tuple[str, ...]]:
    """How many times as long the loops for XLA take: task, on one thread, on two."""
    loops = partial(read("ps_roi_align_xla").where, way="loops, XLA")
    return [
        (task, *(span(loops(task=task, threads=n)) for n in "12"))
        for task in ("forward", "gradient")
    ]


def turns_and_blocks() -> list[tuple[str, ...]]:
    """Rows of a table: milliseconds on two threads with turns and in blocks, and the latter over the former."""
    lines = []
    for task in ("forward", "gradient"):
        rows = read("ps_roi_align").where(task=f"{task}, loops", threads="2")
        for turns, blocks in zip(rows[::2], rows[1::2]):
            names = "ratio", "q1", "q3"
            ratio, q1, q3 = (f"{float(blocks[name]):.2f}" for name in names)
            took = text_of(turns), text_of(blocks)
            lines.append((task, turns["workload"], *took, f"{ratio} ({q1}{TO}{q3})"))
    return lines


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
    own, both = 3, zip(down, across)
    counts = sum(np.outer((y > 0).sum(0), (x > 0).sum(0)) for y, x in both)
    height, width = counts.shape
    shades = 0.08 + 0.5 * counts / counts.max()
    look = {"width": SIDE, "size": 12, "shade": 1, "stroke_opacity": 0.3}
    rows = [
        [grid(counts[:own], shades[:own], **look), bold("one thread", 12)],
        [grid(counts[own:], shades[own:], colour=1, **look), bold("another", 12)],
    ]
    label = (
        f"A map of {height} rows and {width} columns, and in each pixel how many bins give something to it, at most "
        f"{counts.max()}. The first {own} rows belong to one thread, the others to another."
    )
    return picture(table(rows, (10, 0), "start"), label)


def costs() -> HTML:
    """Microseconds of two amounts of work, with what Shard was told that a unit costs."""
    on = {"1": "on one thread", "2": "on two threads"}
    found = read("ps_roi_align")

    def heading(row: Row) -> str:
        units = found.value(row["workload"]).split(" of ")[0]
        return f"{units}, {on[row['threads']]}"

    return chart(
        found.where(task="cost"),
        "microseconds, by the cycles that Shard was told",
        heading=heading,
        name=lambda row: f"{int(row['way'].split()[0]):,}",
        series="",
        value="milliseconds",
        factor=1e3,
    )


def times(task: str) -> HTML:
    """Milliseconds of PsRoiAlign and of torchvision's op."""
    found = read("ps_roi_align")

    def heading(row: Row) -> str:
        features, rois, *_ = found.value(row["workload"]).split(", ")
        size = features.removeprefix("features 1 x ").replace("x", "×")
        return f"{row['workload']}: {rois} of a map of {size}"

    ways = "PsRoiAlign", "PsRoiAlign, one channel at a time", "torchvision"
    return chart(
        [row for row in found.where(task=task) if row["workload"] in "abc"],
        "milliseconds",
        heading=heading,
        name={way: way.removeprefix("PsRoiAlign, ") for way in ways},
        value="milliseconds",
    )
