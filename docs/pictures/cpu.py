"""Pictures of the chapter on a fast kernel: its steps, caches, and what the compiler made."""

import re

import numpy as np
from cpu_steps import SOURCE, compiler
from IPython.display import HTML
from measured import read
from pictures.drawing import COLOURS, bar, bold, line, picture, rectangle, small, words
from pictures.layout import at, box, column, layers, row, table
from pictures.plots import Plot
from roi_pool_reference import bin_edges, whole

LARGE = {"points": "1000", "centers": "4096", "size": "512"}
SMALL = {"points": "4000", "centers": "256", "size": "64"}
MIB = 2**20
# The steps, and what the page calls them.
STEPS = {
    "Plain": "plain",
    "SideBySide": "side by side",
    "Panels": "panels",
    "PanelsClones": "wider registers",
}
CORES = "all cores"


def took(task: str, way: str, sizes: dict, threads: int = 1) -> float:
    """Milliseconds, from `bench/cpu.csv`."""
    of = {"task": task, "way": way, "threads": str(threads), **sizes}
    return read("cpu").number("milliseconds", **of)


def figures() -> dict[str, float]:
    """What the sentences of the page say of `bench/cpu.csv`."""
    plain, side, panels, clones = (took("ladder", way, LARGE) for way in STEPS)
    one, two = (took("ops", "ManhattanDistances", LARGE, n) for n in (1, 2))
    avx2 = took("ladder", "PanelsAvx2", LARGE)

    def times(task: str, way: str, other: str, sizes: dict = LARGE) -> float:
        """How many times as long as the other a way takes."""
        return took(task, way, sizes) / took(task, other, sizes)

    early = "ladder", "SideBySide", "SideBySideClones"
    sets = "sets", "NotPacked", "PanelsClones"
    unaligned = (f"PanelsClones, {count} bytes" for count in (4, 0))
    points, centers, size = (int(number) for number in LARGE.values())
    composed = read("cpu_composed")
    return {
        "plain": plain,
        "clones": clones,
        "cores": two,
        "mapped": took("ops", "tf.map_fn", LARGE, 2),
        "xla": took("ops", "XLA", LARGE, 2),
        "side_gain": plain / side,
        "panels_gain": side / panels,
        "clones_gain": panels / clones,
        "cores_gain": one / two,
        "scalar": times("ladder", "Plain, scalar", "SideBySide, scalar"),
        "waits": times("ladder", "Plain, scalar", "FourSums, scalar"),
        "too_early": times(*early),
        "small_early": times(*early, SMALL),
        "side_o2": took("options", "SideBySide -O2", SMALL),
        "side_o3": took("options", "SideBySide -O3", SMALL),
        "avx2": avx2,
        "avx2_gain": panels / avx2,
        "sets": times(*sets),
        "no_sets": times(*sets, LARGE | {"centers": "4128"}),
        "features": composed.number(threads="2", way="features, XLA", **SMALL),
        "row_ns": 1e6 * clones / (points * centers / 32 * size),
        "one": one,
        "unaligned": times("alignment", *unaligned, SMALL),
    }


def ladder() -> HTML:
    """How long each step takes: bars that begin at zero."""
    times = {STEPS[way]: took("ladder", way, LARGE) for way in STEPS}
    times[CORES] = took("ops", "ManhattanDistances", LARGE, 2)
    rows = []
    for name, value in times.items():
        text = f"{value:.0f} ms{' on 2 threads' * (name == CORES)}"
        beside = row(bar(250 * value / max(times.values()), 18), small(text), gap=6)
        rows.append([words(name, 13), beside.tells(f"{name}: {text}")])
    label = "Milliseconds of each step, 1000 points and 4096 centers."
    return picture(table(rows, 8, ("end", "start")), label)


def sizes() -> HTML:
    """Time of an addition by the size of the centers, with and without panels."""
    table = read("cpu")
    caches = re.search(r"L1 (\d+)K, L2 (\d+)K", table.value("caches"))
    l2 = int(caches[2]) * 1024 / MIB
    drawn = {"SideBySideClones": "without panels", "PanelsClones": "with panels"}
    found = {}
    for way, name in drawn.items():
        rows = table.where(task="size", way=way)
        floats = np.array([int(row["centers"]) * int(LARGE["size"]) for row in rows])
        times = np.array([float(row["milliseconds"]) for row in rows])
        found[name] = 4 * floats / MIB, 1e9 * times / (1000 * floats)
    x = found["with panels"][0]
    most = max(times.max() for _, times in found.values())
    plot = Plot(300, 150, (x[0] / 1.2, x[-1] * 1.2), (0, 1.1 * most), "x")
    plot.axes("MiB of centers", "picoseconds per difference")
    plot.ticks(
        "x", [1 / 16, 1 / 4, 1, 4, 16], lambda v: f"{v:g}" if v >= 1 else f"1/{1 / v:g}"
    )
    plot.ticks("y", [0, 50, 100, 150], grid=True)
    plot.add(line((plot.x(l2), 0), (plot.x(l2), 150), dash="4 3"))
    plot.add(at(plot.x(l2) - 4, 2, small(f"L2: {l2:g} MiB"), "ne"))
    for (name, (mib, times)), colour in zip(found.items(), COLOURS):
        plot.named(name, mib, times, colour=colour, width=2)
        plot.dots(mib, times, colour=colour)
        plot.tells(f"{name} {times[0]:.0f} to {times[-1]:.0f}")
    label = "Picoseconds for each absolute difference, for 64 KiB to 16 MiB of centers:"
    return picture(plot.shape(), label)


def order() -> HTML:
    """Which part of the centers is read while points go by."""
    points, parts = 3, 4
    turns, drawn = np.arange(points * parts), []
    orders = {"a point at a time": turns.reshape(points, parts)}
    orders["a panel at a time"] = turns.reshape(parts, points).T
    for name, steps in orders.items():
        rows = [["", *(small(f"panel {c}") for c in range(parts))]]
        look = {"width": 56, "height": 26, "corner": 0, "stroke_opacity": 0.5}
        for p, step in enumerate(steps):
            cells = (box(small(f"{t}"), 0.45 * (t < points), **look) for t in step)
            rows.append([small(f"point {p}"), *cells])
        drawn.append(column(bold(name), table(rows, 4)))
    label = (
        f"{points} points and {parts} panels of centers. Point by point, each point walks over all panels. Panel by "
        "panel, all points use a panel before the next one."
    )
    return picture(column(*drawn, gap=16), label)


def additions(name: str, *options: str) -> str:
    """The instructions of x86-64 that add floats in a step, or in one of its clones."""
    code = compiler(*options, "-S", str(SOURCE), "-o", "-")
    body = re.search(rf"^{re.escape(name)}:\n(.*?)^\t\.size", code, re.M | re.S)[1]
    found = re.findall(r"^\t(v?add[sp]s)\t.*%([xyz])mm\d+$", body, re.M)
    return ", ".join(sorted({f"`{add}` {kind}mm" for add, kind in found}))


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
    for name, each in orders.items():
        shapes = [
            rectangle(width, high, stroke_opacity=0.4),
            at(-6, 0, small("row 0"), "ne"),
            at(-6, high, small(f"{workload.height - 1}"), "se"),
        ]
        for i, edges in enumerate(each):
            x, scaled = (i + 0.5) * width / len(each), high * edges / workload.height
            shapes.append(line(*((x, y) for y in scaled), colour="blue", width=1.5))
        drawn.append(column(bold(name), layers(*shapes)))
    label = (
        f"The rows of the map that {len(rows)} rows of bins need, in the order in which they are pooled. Region after "
        "region, the kernel goes up and down the map; the sweep goes down once."
    )
    return picture(column(*drawn, small("turn →"), gap=12, align="end"), label)
