"""Pictures of the chapter on a fast kernel: in which order memory is read, and what that gains."""

import re

import numpy as np
from IPython.display import HTML
from measured import Bar, Table, bar_of, bars, legend_of, read
from pictures.figures import (
    BOLD,
    COLOURS,
    END,
    FITTING,
    MIDDLE,
    SMALL,
    box,
    drawing,
    text,
)
from roi_pool_ctypes import HERE
from roi_pool_reference import bin_edges, whole

LINE = 64  # bytes that memory gives at once
CELL = 20
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
    if lines != [pixels, 1]:
        raise AssertionError(lines)
    parts, top = [], 0
    for name, order in orders.items():
        parts.append(text(0, top + 14, name, 'font-weight="600"'))
        top += 22
        for (row, column), turn in np.ndenumerate(order):
            x, y = 50 + column * CELL, top + row * CELL
            first = 0.35 if turn < channels else 0
            parts.append(
                f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" stroke="currentColor" stroke-opacity="0.4" '
                f'fill="{COLOURS[0]}" fill-opacity="{first}"/>'
            )
            parts.append(
                text(x + CELL / 2, y + 14, str(turn), 'font-size="11"', MIDDLE)
            )
        for row in range(pixels):
            parts.append(text(0, top + row * CELL + 14, f"pixel {row}", SMALL))
        top += pixels * CELL + 16
    label = (
        f"{pixels} pixels, each a row of {channels} channels. The plain kernel's first {channels} reads go down the "
        f"columns and touch {lines[0]} cache lines; those of the other one go along the first row and touch {lines[1]}."
    )
    return HTML(drawing(parts, 52 + channels * CELL, top, label, style=FITTING))


def walks(held: int, pixels: int = 4, parts_of: int = 3) -> HTML:
    """The order in which two kernels read a bin, and where their maxima are.

    Args:
      held: How many channels have maxima in registers.
      pixels: Of the bin.
      parts_of: How many times so many channels a pixel has.
    """
    turns = np.arange(pixels * parts_of)
    orders = {
        "pixels in turn": (
            turns.reshape(pixels, parts_of),
            "in the cache, loaded and stored for each pixel",
        ),
        "registers": (
            turns.reshape(parts_of, pixels).T,
            "in registers, stored at the end of each walk",
        ),
    }
    wide, high, left, parts, top = 100, 22, 56, [], 0
    columns = [
        f"channels {first}–{first + held - 1}"
        for first in range(0, parts_of * held, held)
    ]
    for name, (order, maxima) in orders.items():
        # What is read before the maxima of other channels or pixels.
        together = parts_of if name == "pixels in turn" else pixels
        parts.append(text(0, top + 14, name, BOLD))
        top += 36
        for column, heading in enumerate(columns):
            x = left + column * wide + wide / 2
            parts.append(text(x, top - 5, heading, SMALL, MIDDLE))
        for (row, column), turn in np.ndenumerate(order):
            x, y = left + column * wide, top + row * high
            marked = 0.35 if turn < together else 0
            parts.append(box(x, y, wide, high, marked, corner=0))
            parts.append(text(x + wide / 2, y + 15, str(turn), SMALL, MIDDLE))
        for row in range(pixels):
            parts.append(text(0, top + row * high + 15, f"pixel {row}", SMALL))
        top += pixels * high
        parts.append(text(0, top + 17, f"maxima: {maxima}", SMALL))
        top += 38
    label = (
        f"{pixels} pixels, each a row of {parts_of} parts: {', '.join(columns)}. Pixels in turn reads all parts of a "
        "pixel before the next pixel; its maxima are in the cache, loaded and stored for each pixel. The kernel with "
        "registers reads one part of all pixels before the next part; its maxima are in registers, stored at the end "
        "of each walk."
    )
    return HTML(
        drawing(parts, left + parts_of * wide + 2, top - 8, label, style=FITTING)
    )


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
    order = np.argsort(rows[:, 0], kind="stable")
    width, high, left, parts, top = 300, 120, 44, [], 0
    for name, shown in {"region after region": rows, "sweep": rows[order]}.items():
        parts.append(text(left, top + 14, name, 'font-weight="600"'))
        top += 22
        parts.append(
            f'<rect x="{left}" y="{top}" width="{width}" height="{high}" fill="none" stroke="currentColor" '
            'stroke-opacity="0.4"/>'
        )
        path = "".join(
            f"M{left + (i + 0.5) * width / len(shown):.1f} {top + first * high / workload.height:.1f}"
            f"V{top + beyond * high / workload.height:.1f}"
            for i, (first, beyond) in enumerate(shown)
        )
        parts.append(
            f'<path d="{path}" stroke="{COLOURS[0]}" stroke-width="1.5" fill="none"/>'
        )
        parts.append(text(left - 6, top + 12, "row 0", SMALL, END))
        parts.append(text(left - 6, top + high, f"{workload.height - 1}", SMALL, END))
        top += high + 18
    parts.append(text(left + width, top - 4, "turn →", SMALL, END))
    label = (
        f"The rows of the map that {len(rows)} rows of bins need, in the order in which they are pooled. Region after "
        "region, the kernel goes up and down the map; the sweep goes down once."
    )
    return HTML(drawing(parts, left + width + 4, top + 6, label, style=FITTING))


def where_the_sweep_pays(table: Table) -> HTML:
    """How many times as long the sweep takes as region after region, by size of the map and by number of regions."""
    groups: dict[str, list[Bar]] = {}
    headings = {
        "size of the map": "Size of the map",
        "number of regions": "Regions on a large map",
    }
    for question, heading in headings.items():
        for case in dict.fromkeys(
            row["case"] for row in table.where(question=question)
        ):
            rows = table.where(question=question, case=case, way="sweep")
            size = f"{int(rows[0]['map']) / 2**20:.0f} MiB"
            groups.setdefault(heading, []).append(
                bar_of(size if question == "size of the map" else case, rows)
            )
    return bars(
        groups,
        "How many times as long the sweep takes as region after region.",
        "times as long as region after region",
        legend_of(table),
        names_width=60,
        origin=1.0,
    )


def without(table: Table) -> HTML:
    """How many times as long the kernel takes without a choice."""
    groups: dict[str, list[Bar]] = {}
    for (question, way, kind), heading in LEFT_OUT.items():
        found = table.where(question=question, way=way, memory=kind)
        for case in dict.fromkeys(row["case"] for row in found):
            groups.setdefault(heading, []).append(
                bar_of(case, [row for row in found if row["case"] == case])
            )
    return bars(
        groups,
        "How many times as long the kernel takes without each choice, by workload.",
        "times as long as with it",
        legend_of(table),
        origin=1.0,
    )
