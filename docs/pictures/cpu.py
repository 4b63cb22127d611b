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

    def scalar(way: str) -> float:
        return took("ladder", f"{way}, scalar", LARGE)

    def too_early(sizes: dict) -> float:
        ways = "SideBySide", "SideBySideClones"
        side, cloned = (took("ladder", way, sizes) for way in ways)
        return side / cloned

    def option(way: str, level: str) -> float:
        return took("options", f"{way} {level}", SMALL)

    def unpacked(count: int) -> float:
        sizes = LARGE | {"centers": str(count)}
        return took("sets", "NotPacked", sizes) / took("sets", "PanelsClones", sizes)

    points, centers, size = (int(number) for number in LARGE.values())
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
        "scalar": scalar("Plain") / scalar("SideBySide"),
        "waits": scalar("Plain") / scalar("FourSums"),
        "too_early": too_early(LARGE),
        "small_early": too_early(SMALL),
        "side_o2": option("SideBySide", "-O2"),
        "side_o3": option("SideBySide", "-O3"),
        "avx2": took("ladder", "PanelsAvx2", LARGE),
        "avx2_gain": panels / took("ladder", "PanelsAvx2", LARGE),
        "sets": unpacked(4096),
        "no_sets": unpacked(4128),
        "features": read("cpu_composed").number(
            threads="2", way="features, XLA", **SMALL
        ),
        "row_ns": 1e6 * clones / (points * centers / 32 * size),
        "one": one,
        "unaligned": took("alignment", "PanelsClones, 4 bytes", SMALL)
        / took("alignment", "PanelsClones, 0 bytes", SMALL),
    }


def ladder() -> HTML:
    """How long each step takes: bars that begin at zero."""
    times = {STEPS[way]: (took("ladder", way, LARGE), "") for way in STEPS}
    times[CORES] = took("ops", "ManhattanDistances", LARGE, 2), " on 2 threads"
    most = max(value for value, _ in times.values())
    rows = []
    for name, (value, on) in times.items():
        text = f"{value:.0f} ms{on}"
        beside = row(bar(250 * value / most, 18), small(text), gap=6)
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
    for way in drawn:
        rows = table.where(task="size", way=way)
        counts = np.array([int(row["centers"]) for row in rows])
        times = np.array([float(row["milliseconds"]) for row in rows])
        mib = counts * int(LARGE["size"]) * 4 / MIB
        found[way] = mib, 1e9 * times / (1000 * counts * int(LARGE["size"]))
    x = found["PanelsClones"][0]
    most = max(times.max() for _, times in found.values())
    plot = Plot(300, 150, (x[0] / 1.2, x[-1] * 1.2), (0, 1.1 * most), "x")
    plot.axes("MiB of centers", "picoseconds per difference")
    plot.ticks(
        "x", [1 / 16, 1 / 4, 1, 4, 16], lambda v: f"{v:g}" if v >= 1 else f"1/{1 / v:g}"
    )
    plot.ticks("y", [0, 50, 100, 150], grid=True)
    plot.add(line((plot.x(l2), 0), (plot.x(l2), 150), dash="4 3"))
    plot.add(at(plot.x(l2) - 4, 2, small(f"L2: {l2:g} MiB"), "ne"))
    for (way, (mib, times)), colour in zip(found.items(), COLOURS):
        plot.named(drawn[way], mib, times, colour=colour, width=2)
        plot.dots(mib, times, colour=colour)
        plot.tells(f"{drawn[way]} {times[0]:.0f} to {times[-1]:.0f}")
    label = "Picoseconds for each absolute difference, for 64 KiB to 16 MiB of centers:"
    return picture(plot.shape(), label)


def order() -> HTML:
    """Which part of the centers is read while points go by."""
    points, parts = 3, 4
    turns, drawn = np.arange(points * parts), []
    for name, steps in {
        "a point at a time": turns.reshape(points, parts),
        "a panel at a time": turns.reshape(parts, points).T,
    }.items():
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
