"""Pictures of the chapter on a fast kernel: in which order memory is read, and what that gains."""

import re

import numpy as np
from IPython.display import HTML
from measured import Row, Table, read
from pictures.drawing import BLUE, Shape, bold, line, picture, rectangle, small
from pictures.layout import at, column, grid, layers
from pictures.plots import chart
from roi_pool_ctypes import HERE
from roi_pool_reference import bin_edges, whole

LINE = 64  # bytes that memory gives at once
# The variants that were measured, and what the page calls them.
WAYS = {
    "plain": "plain",
    "channels": "pixels in turn",
    "direct, baseline": "registers",
    "direct, avx512": "wider registers",
    "packed, avx512": "sweep",
}
# From a question, a way and the kind of memory to the choice that was left out.
LEFT_OUT = {
    ("stores of the sweep", "ordinary", "kept"): "ordinary stores in the sweep",
    (
        "stores of the sweep",
        "ordinary",
        "default",
    ): "ordinary stores in the sweep, by default",
    ("copy", "sweep, where it is", "kept"): "sweep without the copy",
    ("pages", "small", "default"): "small pages, by default",
    ("pages", "small", "kept"): "small pages",
}


def gains() -> dict[str, float]:
    """How many times as fast a variant is as another one, with one thread."""

    def took(way: str, workload: str) -> float:
        fields = {"task": "variants", "threads": "1"}
        (row,) = read("roi_pool").where(way=way, workload=workload, **fields)
        return float(row["milliseconds"])

    first, *_, last = WAYS
    return {
        "whole": took(first, "c") / took(last, "c"),
        "channels_gain": took("plain", "c") / took("channels", "c"),
        "registers_a": took("channels", "a") / took("direct, baseline", "a"),
    }


def registers() -> list[tuple[str, int, int, int]]:
    """Of each path: its registers, the floats of one, and the channels whose maxima a quarter of them holds."""
    source = (HERE / "roi_pool_simd.cc").read_text()
    found = re.findall(r"kBytes = (\d+), kRegisters = (\d+);", source)
    avx512, avx2, _, baseline = [(int(count), int(size) // 4) for size, count in found]
    paths = {"of every x86-64 processor": baseline, "AVX2": avx2, "AVX-512": avx512}
    return [(name, *path, path[0] * path[1] // 4) for name, path in paths.items()]


def cache_lines(pixels: int = 4) -> HTML:
    """The turn in which two kernels read each channel of some pixels that fill a cache line each."""
    channels = LINE // np.dtype(np.float32).itemsize
    turns = np.arange(pixels * channels)
    orders = {
        "plain": turns.reshape(channels, pixels).T,
        "pixels in turn": turns.reshape(pixels, channels),
    }
    lines = [len(set(np.nonzero(order < channels)[0])) for order in orders.values()]
    look = {"width": 20, "shade": 0.35, "size": 11, "stroke_opacity": 0.4}
    drawn = [
        column(bold(name), of_pixels(grid(order, order < channels, **look), pixels))
        for name, order in orders.items()
    ]
    label = (
        f"{pixels} pixels, each a row of {channels} channels. The plain kernel's first {channels} reads go down the "
        f"columns and touch {lines[0]} cache lines; those of the other one go along the first row and touch {lines[1]}."
    )
    return picture(column(*drawn, gap=16), label)


def walks(held: int, pixels: int = 4, parts_of: int = 3) -> HTML:
    """The order in which two kernels read a bin, and where their maxima are.

    Args:
      held: How many channels have maxima in registers.
      pixels: Of the bin.
      parts_of: How many times so many channels a pixel has.
    """
    turns = np.arange(pixels * parts_of)
    # The order, what is read before the maxima of other channels or pixels, and where the maxima are.
    kernels = {
        "pixels in turn": (
            turns.reshape(pixels, parts_of),
            parts_of,
            "in the cache, loaded and stored for each pixel",
        ),
        "registers": (
            turns.reshape(parts_of, pixels).T,
            pixels,
            "in registers, stored at the end of each walk",
        ),
    }
    first = range(0, parts_of * held, held)
    columns = [f"channels {channel}–{channel + held - 1}" for channel in first]
    look = {"width": 100, "height": 22, "shade": 0.35, "size": 12}
    drawn = []
    for name, (order, together, maxima) in kernels.items():
        cells = of_pixels(grid(order, order < together, **look), pixels)
        heads = (at(100 * i + 50, -4, small(c), "s") for i, c in enumerate(columns))
        shapes = layers(cells, *heads)
        drawn.append(column(bold(name), shapes, small(f"maxima: {maxima}")))
    label = (
        f"{pixels} pixels, each a row of {parts_of} parts: {', '.join(columns)}. Pixels in turn reads all parts of a "
        "pixel before the next pixel; its maxima are in the cache, loaded and stored for each pixel. The kernel with "
        "registers reads one part of all pixels before the next part; its maxima are in registers, stored at the end "
        "of each walk."
    )
    return picture(column(*drawn, gap=18), label)


def rows_of_bins(workload, regions: int) -> np.ndarray:
    """The first row of the map and the one after the last of each row of bins of some regions: [regions * bins, 2]."""
    found = []
    for roi in workload.rois()[:regions]:
        _, y1, _, y2 = whole(roi[1:] * np.float32(workload.scale))
        found.append(bin_edges(y1, y2, workload.pooled, workload.height))
    return np.concatenate(found)


def sweep(workload, regions: int) -> HTML:
    """Which rows of the map are read when: region after region, and in the order of the sweep."""
    rows = rows_of_bins(workload, regions)
    orders = {
        "region after region": rows,
        "sweep": rows[np.argsort(rows[:, 0], kind="stable")],
    }
    width, high, drawn = 300, 120, []
    for name, order in orders.items():
        shapes = [
            rectangle(width, high, stroke_opacity=0.4),
            at(-6, 0, small("row 0"), "ne"),
            at(-6, high, small(f"{workload.height - 1}"), "se"),
        ]
        for i, edges in enumerate(order):
            x, scaled = (i + 0.5) * width / len(order), high * edges / workload.height
            shapes.append(line(*((x, y) for y in scaled), colour=BLUE, width=1.5))
        drawn.append(column(bold(name), layers(*shapes)))
    label = (
        f"The rows of the map that {len(rows)} rows of bins need, in the order in which they are pooled. Region after "
        "region, the kernel goes up and down the map; the sweep goes down once."
    )
    return picture(column(*drawn, small("turn →"), gap=12, align="end"), label)


def where_the_sweep_pays(table: Table) -> HTML:
    """How many times as long the sweep takes as region after region, by size of the map and by number of regions."""
    headings = {
        "size of the map": "Size of the map",
        "number of regions": "Regions on a large map",
    }

    def name(row: Row) -> str:
        by_size = row["question"] == "size of the map"
        return f"{int(row['map']) / 2**20:.0f} MiB" if by_size else row["case"]

    return chart(
        [row for row in table.where(way="sweep") if row["question"] in headings],
        "How many times as long the sweep takes as region after region.",
        "times as long as region after region",
        heading=lambda row: headings[row["question"]],
        name=name,
    )


def without(table: Table) -> HTML:
    """How many times as long the kernel takes without a choice."""
    rows = [
        {**row, "choice": choice}
        for (question, way, kind), choice in LEFT_OUT.items()
        for row in table.where(question=question, way=way, memory=kind)
    ]
    return chart(
        rows,
        "How many times as long the kernel takes without each choice, by workload.",
        "times as long as with it",
        heading="{choice}",
        name="{case}",
    )


def of_pixels(cells: Shape, pixels: int) -> Shape:
    """Rows of cells, with the numbers of their pixels beside them."""
    high = cells.height / pixels
    names = (at(-8, high * (i + 0.5), small(f"pixel {i}"), "e") for i in range(pixels))
    return layers(cells, *names)
