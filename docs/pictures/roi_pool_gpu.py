"""The tables of the chapter on RoiPool's CUDA kernels, and the picture of what their threads read."""

from measured import Row, read, span

CASES = "abc"
EACH = "kernel alone, a thread for each number"
DIVIDES = "the same, with 32-bit divisions"
PARTS = {
    "multiprocessors %": "multiprocessors",
    "L1 %": "L1",
    "L2 %": "L2",
    "memory %": "memory",
}
SHORT = "SpanKernel", "CountKernel"  # not in the table


def gains() -> list[tuple[str, ...]]:
    """Of each case, for one image and for eight: what the first kernel takes, and the op."""
    return [
        (
            f"**{case}**: {described(read('gpu_ops').value(f'RoiPool {case}, batch 1'))}",
            *(
                microseconds(1e3 * forward_of(case, batch, way))
                for batch in (1, 8)
                for way in (EACH, "RoiPool")
            ),
        )
        for case in CASES
    ]


def forward_of(case: str, batch: int, way: str) -> float:
    """The milliseconds of one way with argmax."""
    where = {"workload": f"{case}, batch {batch}", "task": "with argmax", "way": way}
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
        forward_of(case, batch, DIVIDES) / forward_of(case, batch, EACH)
        for case in CASES
        for batch in (1, 8)
    ]
    shorts = [row for row in read("gpu_limits").rows if row["kernel"] in SHORT]
    return {
        "team": span(first),
        "divides": 100 * (max(divides) - 1),
        "divides_least": 100 * (min(divides) - 1),
        **{f"busy_{batch}": busy(batch) for batch in (1, 8)},
        "short": max(float(row["microseconds"]) for row in shorts),
        **{f"touch_{batch}": 100 * touch_share(batch) for batch in (1, 8)},
        "gpu": tests.value("machine").split(", ")[2],
        "tested": tests.value("date"),
    }


def busy(batch: int) -> str:
    """From the least busy to the busiest kernel but TouchKernel: how close its busiest part comes to the peak."""
    kernels = [row for row in limits_of(batch) if row["kernel"] != "TouchKernel"]
    shares = [busiest(row)[0] for row in kernels]
    return f"{min(shares):.0f} to {max(shares):.0f}"


def busiest(row: Row) -> tuple[float, str]:
    """Of a kernel: the part of the GPU that comes closest to its peak, in percent, and its name."""
    return max((float(row[part]), name) for part, name in PARTS.items())


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
    """RoiPool's tests under each tool: how many passed and failed, and the errors that it found."""
    return [
        (f"`{row['under']}`", row["passed"], row["failed"], row["errors"])
        for row in read("gpu_tests").rows
        if row["tests"].startswith("examples/roi_pool/roi_pool_gpu_test.py")
    ]
