"""The tables of the chapter on RoiPool's CUDA kernels, and the picture of what their threads read."""

import ctypes

import numpy as np
from cuda_on_host import Cuda
from IPython.display import HTML
from measured import Row, read, span
from pictures.drawing import Shape, bar, picture, rectangle, small, space
from pictures.layout import at, column, ends, layers
from roi_pool_ctypes import Launchers, Sizes, on_host

CASES = "abc"
EACH = "kernel alone, a thread for each number"
DIVIDES = "the same, with 32-bit divisions"
PARTS = "multiprocessors", "L1", "L2", "memory"
SHORT = "SpanKernel", "CountKernel"  # not in the table
NEAR = 75  # percent of the peak
CHANNELS, WARP = 256, 32


def gains() -> list[tuple[str, ...]]:
    """Of each case, for one image and for eight: what the first kernel takes, and the op."""
    lines = (read("gpu_ops").value(f"RoiPool {case}, batch 1") for case in CASES)
    names = (f"**{case}**: {described(line)}" for case, line in zip(CASES, lines))
    return [
        (name, *cells)
        for name, (_, *cells) in zip(names, by_case("with argmax", EACH, "RoiPool"))
    ]


def gradients() -> list[tuple[str, ...]]:
    """Of each case, for one image and for eight: what the gradient takes, ours and torchvision's."""
    return by_case("gradient", "RoiPoolGrad", "torchvision")


def by_case(task: str, *ways: str) -> list[tuple[str, ...]]:
    """Of each case, for one image and for eight: what each way takes."""
    columns = [(batch, way) for batch in (1, 8) for way in ways]
    return [
        (case, *(microseconds(1e3 * took(case, *each, task)) for each in columns))
        for case in CASES
    ]


def took(case: str, batch: int, way: str, task: str = "with argmax") -> float:
    """The milliseconds of one way."""
    where = {"workload": f"{case}, batch {batch}", "task": task, "way": way}
    return read("gpu_ops").number("milliseconds", op="RoiPool", **where)


def described(line: str) -> str:
    """`features 1 x 38 x 50 x 512, 300 regions, 7 x 7 bins, …` in a few words."""
    features, regions, bins, *_ = line.split(", ")
    _, size = features.split(" x ", 1)
    return f"{size}, {regions} of {bins}".replace(" x ", " × ").replace("1000", "1,000")


def microseconds(value: float) -> str:
    return f"{value:,.0f} µs"


def figures() -> dict[str, object]:
    """What the text says of the tables."""
    ops, tests = read("gpu_ops"), read("gpu_tests")
    first = ops.where(op="RoiPool", way=EACH)
    divides = [
        took(case, batch, DIVIDES) / took(case, batch, EACH)
        for case in CASES
        for batch in (1, 8)
    ]
    shorts = [row for row in read("gpu_limits").rows if row["kernel"] in SHORT]
    return {
        "team": span(first),
        "divides": 100 * (max(divides) - 1),
        "divides_least": 100 * (min(divides) - 1),
        **nearest_to_the_peak(8),
        "short": max(float(row["microseconds"]) for row in shorts),
        **{f"touch_{batch}": 100 * touch_share(batch) for batch in (1, 8)},
        "gpu": ops.value("machine").split(", ")[2],
        "tested": tests.value("date"),
    }


def nearest_to_the_peak(batch: int) -> dict[str, object]:
    """How many kernels but TouchKernel bring a part of the GPU to at least 75 % of its peak, and which do not."""
    near, far = [], []
    for row in limits_of(batch):
        share, _ = busiest(row)
        if row["kernel"] != "TouchKernel" and share >= NEAR:
            near.append(share)
        elif row["kernel"] != "TouchKernel":
            far.append(f"{row['kernel']} of {row['workload'][0]} ({share:.0f} %)")
    return {
        "others": len(near + far),
        "near_count": len(near),
        "near": f"{min(near):.0f} to {max(near):.0f}",
        "far": " and ".join(far),
    }


def busiest(row: Row) -> tuple[float, str]:
    """Of a kernel: the part of the GPU that comes closest to its peak, in percent, and its name."""
    return max((float(row[f"{part} %"]), part) for part in PARTS)


def limits_of(batch: int) -> list[Row]:
    """The rows of RoiPool's kernels for so many images, without those that take next to no time."""
    return [
        row
        for row in read("gpu_limits").rows
        if row["op"] == "RoiPool" and row["workload"].endswith(f"batch {batch}")
        if row["kernel"] not in SHORT
    ]


def touch_share(batch: int) -> float:
    """The largest share that TouchKernel has of the gradient's time."""
    shares = []
    for case in CASES:
        rows = read("gpu_limits").where(
            op="RoiPool", workload=f"{case}, batch {batch}", task="gradient"
        )
        times = {row["kernel"]: float(row["microseconds"]) for row in rows}
        shares.append(times["TouchKernel"] / sum(times.values()))
    return max(shares)


def limits() -> list[tuple[str, ...]]:
    """Each kernel: its time and the busiest part of the GPU, for one image and for eight."""
    rows = []
    for one, eight in zip(limits_of(1), limits_of(8), strict=True):
        if one["kernel"] != eight["kernel"]:
            raise ValueError(f"bench/gpu_limits.csv: {one} and {eight}")
        cells = []
        for row in one, eight:
            share, part = busiest(row)
            cells += [microseconds(float(row["microseconds"])), f"{part} {share:.0f} %"]
        rows.append((one["workload"][0], f"`{one['kernel']}`", *cells))
    return rows


def checked() -> list[tuple[str, ...]]:
    """All tests without a tool, and RoiPool's under each: how many passed, were skipped and failed, and its errors."""
    names = {"examples/gpu examples/roi_pool ": "all"}
    names["examples/roi_pool/"] = "`RoiPool`"
    found = []
    for row in read("gpu_tests").rows:
        for start, name in names.items():
            if row["tests"].startswith(start):
                tool = f"`{row['under']}`" if row["errors"] else "no tool"
                passed, errors = f"{int(row['passed']):,}", row["errors"] or "–"
                line = name, tool, passed, row["skipped"], row["failed"], errors
                found.append(line)
    return found


def writers(name: str) -> np.ndarray:
    """For each channel of a bin, the thread of the first warp that has it, of kernels that run on the host; or -1."""
    library = on_host(name)
    cuda, sizes = Cuda(library), Sizes(1, 1, 1, CHANNELS, 1, 1, 1, 1.0)
    features, rois = np.ones(CHANNELS, np.float32), np.zeros(5, np.float32)
    found = np.full(CHANNELS, -1)
    for thread in range(WARP):
        pooled = np.full(CHANNELS, np.nan, np.float32)
        argmax = np.zeros(CHANNELS, np.int32)
        places = [array.ctypes.data for array in (features, rois, pooled, argmax)]
        with cuda.only_thread(thread):
            if name == "roi_pool":
                Launchers(library).pool(sizes, "float32", *places)
            else:
                launch = ctypes.CDLL(str(library)).PoolEachLaunch
                launch.restype = ctypes.c_char_p
                pointers = map(ctypes.c_void_p, places)
                if error := launch(None, ctypes.byref(sizes), *pointers):
                    raise RuntimeError(error.decode())
        found[~np.isnan(pooled)] = thread
    return found


def reads() -> HTML:
    """The channels of a pixel that a warp reads: with a thread for each number, and with a team for each bin."""
    each, team = writers("roi_pool_each"), writers("roi_pool")
    half = np.repeat(np.arange(WARP), 4)
    if each.tolist() != [*range(WARP), *[-1] * (CHANNELS - WARP)]:
        raise ValueError(f"the threads of the first kernel have the channels {each}")
    if team.tolist() != [*half, *half]:
        raise ValueError(f"the threads of a team have the channels {team}")
    wide, high = 448, 24
    one = wide / CHANNELS

    def strip(owners: np.ndarray) -> Shape:
        shapes = [rectangle(wide, high, stroke_opacity=0.4)]
        for i in np.flatnonzero(owners >= 0):
            shade = 0.75 if i < CHANNELS / 2 else 0.35
            shapes.append(at(i * one, 0, bar(one, high, shade, owners[i] % 2)))
        return layers(*shapes)

    shapes = column(
        "A thread for each number: 32 × 4 bytes at once",
        strip(each),
        ends(wide, small("threads 0 to 31"), small(f"channel {CHANNELS - 1}")),
        space(0, 8),
        "A team for each bin: 32 × 16 bytes at once, twice",
        strip(team),
        ends(wide, small("thread 0: 0 to 3, and 128 to 131"), small("channel 255")),
    )
    label = (
        f"The {CHANNELS} channels of a pixel. Above, the 32 threads of a warp read one channel each, the first 32. "
        "Below, each of them reads 4 channels at once of the first half, then 4 of the second."
    )
    return picture(shapes, label)
