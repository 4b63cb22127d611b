"""Pictures of the chapter on all cores of the CPU, each drawn from what ops and references return."""

from collections.abc import Sequence

import numpy as np
from IPython.display import HTML
from measured import Bar, bars, bars_of, legend_of, read
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
from ps_roi_align_reference import samples, weights

SIDE = 30


def figures() -> dict[str, float]:
    """What the text says of `bench/ps_roi_align.csv`."""
    table = read("ps_roi_align")

    def values(column: str = "ratio", **fields: str) -> list[float]:
        return [float(row[column]) for row in table.where(**fields)]

    found = {"least": min(values(task="forward", way="torchvision", threads="1"))}
    for task in "forward", "gradient":
        gains = values(task=f"{task}, one thread to two")
        found |= {f"{task}_least": min(gains), f"{task}_most": max(gains)}
    cores = values("cores", task="gradient", way="PsRoiAlign", threads="2")
    much, little = (
        values(task="cost", workload=f"{load} work") for load in ("much", "little")
    )
    alone, *_ = values("milliseconds", task="cost", workload="much work")
    return found | {
        "cores_least": min(cores),
        "cores_most": max(cores),
        "gained": 1 / min(much),
        "wasted": max(little),
        "unit_us": 1e3 * alone / 2000,
    }


def weights_of(
    roi: np.ndarray, shape: tuple[int, int], bins: int
) -> list[tuple[str, ...]]:
    """Of each row and each column of bins of a region: its samples, its first pixel, and the weights of its pixels."""
    x1, y1, x2, y2 = roi - np.float32(0.5)
    axes = {
        ("upper row", "lower row"): (y1, y2, shape[0]),
        ("left column", "right column"): (x1, x2, shape[1]),
    }
    rows = []
    for names, (start, end, size) in axes.items():
        of_bins = weights(start, end, bins, -1, size)
        for name, at, shares in zip(names, samples(start, end, bins, -1), of_bins):
            where, weighted = (
                ", ".join(f"{x:.4g}" for x in xs) for xs in (at, shares[shares > 0])
            )
            first = f"{name.split()[1]} {np.flatnonzero(shares)[0]}"
            rows.append((name, where, first, weighted))
    return rows


def _shade(x: float, y: float, share: float, colour: str) -> str:
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{SIDE}" height="{SIDE}" stroke="currentColor" stroke-opacity="0.3" '
        f'fill="{colour}" fill-opacity="{share:.2f}"/>'
    )


def own_channels(roi: np.ndarray, shape: tuple[int, int], bins: int) -> HTML:
    """A region over a map, once for each of its bins: the weights of the pixels, and the samples."""
    height, width = shape
    x1, y1, x2, y2 = roi - np.float32(0.5)
    down, across = weights(y1, y2, bins, -1, height), weights(x1, x2, bins, -1, width)
    ys, xs = samples(y1, y2, bins, -1), samples(x1, x2, bins, -1)
    parts, gap = [], 24
    for i in range(bins):
        for j in range(bins):
            left = 4 + j * (width * SIDE + gap)
            top = 22 + i * (height * SIDE + gap + 14)
            parts.append(text(left, top - 6, f"channels of bin {i}, {j}", SMALL))
            share = np.outer(down[i], across[j])
            if not np.isclose(share.sum(), 1):
                raise AssertionError(share.sum())
            for (y, x), one in np.ndenumerate(share):
                at = left + x * SIDE, top + y * SIDE
                parts.append(_shade(*at, one / share.max() * 0.6, COLOURS[0]))
            # A pixel's centre is at a whole number.
            corner = left + (x1 + 0.5) * SIDE, top + (y1 + 0.5) * SIDE
            wide, high = (x2 - x1) * SIDE, (y2 - y1) * SIDE
            parts.append(
                f'<rect x="{corner[0]:g}" y="{corner[1]:g}" width="{wide:g}" height="{high:g}" {LINE} '
                'stroke-dasharray="5 3"/>'
            )
            for y in ys[i]:
                for x in xs[j]:
                    parts.append(
                        f'<circle cx="{left + (x + 0.5) * SIDE:g}" cy="{top + (y + 0.5) * SIDE:g}" r="2.5" '
                        f'fill="{COLOURS[1]}"/>'
                    )
    size = 8 + bins * (width * SIDE + gap), 8 + bins * (height * SIDE + gap + 14)
    label = (
        f"A region of {x2 - x1:g} by {y2 - y1:g} pixels on a map of {width} by {height}, drawn once for each of its "
        f"{bins * bins} bins. In each, the pixels about the samples of that bin have a weight."
    )
    return HTML(drawing(parts, *size, label, style=FITTING))


def blocks(found: Sequence[tuple[str, np.ndarray]], units: int) -> HTML:
    """How units of work were cut into blocks: from a heading to the first unit of the block of each unit."""
    parts, top, wide, spoken = [], 4, 360, []
    for heading, first in found:
        starts = sorted(set(first.tolist()))
        parts.append(text(2, top + 14, heading))
        parts.append(
            text(
                wide + 2,
                top + 14,
                f"{len(starts)} blocks"[: None if len(starts) > 1 else -1],
                END,
            )
        )
        for number, (start, end) in enumerate(zip(starts, [*starts[1:], units])):
            x, width = 2 + start / units * wide, (end - start) / units * wide
            parts.append(box(x, top + 20, width, 20, 0.35, number % 2, corner=0))
        spoken.append(f"{heading}: {len(starts)}")
        top += 52
    label = f"{units} units of work as Shard cut them, and in how many blocks. {'; '.join(spoken)}."
    return HTML(drawing(parts, wide + 4, top, label, style=FITTING, font_size=13))


def contributions() -> HTML:
    """How many bins of three regions give something to each pixel, and the rows that one thread has."""
    three = np.float32([[0, 0, 4.5, 4], [2, 1, 8, 5], [1, 2, 7.5, 6]]) - np.float32(0.5)
    down = [weights(y1, y2, 2, -1, 6) for _, y1, _, y2 in three]
    across = [weights(x1, x2, 2, -1, 8) for x1, _, x2, _ in three]
    own = range(3)
    counts = sum(
        np.outer((rows > 0).sum(0), (cols > 0).sum(0))
        for rows, cols in zip(down, across)
    )
    height, width = counts.shape
    parts = []
    for (y, x), count in np.ndenumerate(counts):
        colour = COLOURS[0] if y in own else COLOURS[1]
        parts.append(
            _shade(
                4 + x * SIDE, 4 + y * SIDE, 0.08 + 0.5 * count / counts.max(), colour
            )
        )
        parts.append(
            text(4 + (x + 0.5) * SIDE, 4 + y * SIDE + 20, f"{count}", MIDDLE, SMALL)
        )
    right = 14 + width * SIDE
    for rows, who in ((own, "one thread"), (range(own.stop, height), "another")):
        parts.append(
            text(right, 4 + (rows.start + rows.stop) / 2 * SIDE + 4, who, BOLD, SMALL)
        )
    label = (
        f"A map of {height} rows and {width} columns, and in each pixel how many bins give something to it, at most "
        f"{counts.max()}. The first {own.stop} rows belong to one thread, the others to another."
    )
    return HTML(drawing(parts, right + 80, 8 + height * SIDE, label, style=FITTING))


def costs(load: str) -> HTML:
    """Microseconds of the same work, with what Shard was told that a unit costs."""
    groups: dict[str, list[Bar]] = {}
    for row in read("ps_roi_align").where(task="cost", workload=load):
        name = f"{int(row['way'].split()[0]):,}"
        on = {"1": "on one thread", "2": "on two threads"}[row["threads"]]
        groups.setdefault(on, []).append(Bar(name, [1e3 * float(row["milliseconds"])]))
    label = f"Microseconds that {load} takes, by the cycles that Shard was told, and how many threads it used."
    return bars(groups, label, "microseconds", names_width=66)


def times(task: str) -> HTML:
    """Milliseconds of PsRoiAlign and of torchvision's op."""
    table = read("ps_roi_align")
    ways = {"PsRoiAlign": "PsRoiAlign", "torchvision": "torchvision"}
    groups = {
        f"workload {workload}": bars_of(
            table, ways, "milliseconds", task=task, workload=workload
        )
        for workload in "abc"
    }
    return bars(
        groups,
        f"Milliseconds that the {task} takes.",
        "milliseconds",
        legend_of(table),
        names_width=76,
    )
