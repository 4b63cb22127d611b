"""RoI pooling beside what does without an op of our own: `bench/roi_pool.csv` and `roi_pool_composed.csv`."""

from functools import partial
from itertools import product

from IPython.display import HTML
from measured import grouped, number, read
from pictures.drawing import picture
from pictures.plots import chart
from pictures.windows import on_pixels

# Of each task, those that return the same as our op.
LIKE = {
    "without argmax": {
        "TensorFlow, windows": "TensorFlow, windows",
        "TensorFlow, list of pixels": "TensorFlow, pixels",
        "onnxruntime": "onnxruntime",
        "OpenVINO": "OpenVINO",
        "OpenVINO, node": "OpenVINO, pooling alone",
    },
    "with argmax": {
        "TensorFlow, windows": "TensorFlow, windows",
        "Paddle": "Paddle",
        "torchvision": "torchvision",
    },
    "gradient": {"Paddle": "Paddle", "torchvision": "torchvision"},
}
OURS = {
    "without argmax": "RoiPoolInference",
    "with argmax": "RoiPool",
    "gradient": "RoiPoolGrad",
}
# Of each task, the composition that XLA has compiled.
COMPOSED = [
    ("without argmax", "XLA"),
    ("with argmax", "XLA"),
    ("gradient", "unsorted_segment_sum, XLA"),
]
HEADINGS = {
    "without argmax": "Maxima alone, beside RoiPoolInference",
    "with argmax": "With argmax, beside RoiPool",
    "gradient": "Gradient, beside RoiPoolGrad",
}


def beside_others() -> HTML:
    """How many times as long as our op others take, as the mean of three workloads."""
    table = read("roi_pool")
    rows = [
        row
        for task, ways in LIKE.items()
        for way in ways
        for row in table.where(task=task, workload="a-c", way=way)
    ]
    return chart(
        rows,
        "times as long as our op",
        name=lambda row: LIKE[row["task"]][row["way"]],
        heading=lambda row: HEADINGS[row["task"]],
    )


def composed() -> tuple[list[str], list[list[str]]]:
    """Header and rows of a table: milliseconds of our op and of a composition."""
    found = read("roi_pool_composed")
    rows = []
    for (task, way), threads in product(COMPOSED, "12"):
        took = partial(found.text, task=task, threads=threads)
        both = (
            f"{took(workload=each, way=OURS[task])} / {took(workload=each, way=way)}"
            for each in "abc"
        )
        rows.append([task, threads, *both])
    return ["", "Threads", *"abc"], rows


def two_windows(size: int) -> HTML:
    """The rows of a bin, side by side, and the windows of a power of two that cover them."""
    length = 2 ** (size.bit_length() - 1)
    windows = [range(length), range(size - length, size)]
    drawn = on_pixels(size, windows, lambda row: f"{row}")
    label = (
        f"{size} rows, and two windows of {length}: of the first rows and of the last."
    )
    return picture(drawn, label)


def by_workload() -> tuple[list[str], list[list[str]], dict[str, str]]:
    """Header and rows of a table of milliseconds on each workload with one thread, and what the workloads are."""
    table, rows = read("roi_pool"), []
    for task, ways in LIKE.items():
        for way, name in ({OURS[task]: f"`{OURS[task]}`"} | ways).items():
            took = partial(table.text, task=task, way=way, threads="1")
            rows.append([task, name, *(took(workload=each) for each in "abc")])
    sizes = {each: table.value(each).split(", corners")[0] for each in "abc"}
    return ["", "", *"abc"], rows, sizes


def figures() -> dict[str, str]:
    """What the text says: milliseconds, how much of OpenVINO's result differs, and what RoiPool's steps bring."""
    case = {"task": "without argmax", "threads": "1"}
    rows = grouped(read("roi_pool_composed").where(**case), "workload")
    a, c = (
        {row["way"]: float(row["milliseconds"]) for row in rows[each,]} for each in "ac"
    )
    ours, xla = OURS["without argmax"], "XLA"
    stock = min(each for way, each in a.items() if way not in (ours, xla))
    differ = [row for row in read("roi_pool").rows if float(row["different"] or 0)]
    ways = {row["way"].split(",")[0] for row in differ}
    assert ways == {"OpenVINO"}, "the others are equal in every bit"
    openvino = [float(row["different"]) for row in differ if row["way"] == "OpenVINO"]
    return {
        "own": number(a[ours]),
        "xla": number(a[xla]),
        "stock": number(stock),
        "saved": number(c[xla] - c[ours]),
        "openvino": f"{max(openvino):.2%}",
        "channels": gain("all channels of a pixel"),
        "steps": gain("RoiPool"),
    }


def gain(way: str) -> str:
    """How many times as fast as one channel at a time RoiPool is after a step, on one thread."""
    took = partial(read("roi_pool_steps").number, "milliseconds", threads="1")
    gains = [
        took(workload=each, way="one channel at a time") / took(workload=each, way=way)
        for each in "abc"
    ]
    return f"{number(min(gains))} to {number(max(gains))}"
