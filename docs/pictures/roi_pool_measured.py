"""RoI pooling beside what does without an op of our own, from `bench/roi_pool.csv`."""

from IPython.display import HTML
from measured import number, read
from pictures.plots import chart

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
        heading=lambda row: {
            "without argmax": "Maxima alone, beside RoiPoolInference",
            "with argmax": "With argmax, beside RoiPool",
        }[row["task"]],
    )


def compiled() -> tuple[list[str], list[list[str]]]:
    """Header and rows of a table: how many times as long as our op a composition takes that XLA has compiled."""
    found = read("roi_pool_composed")
    header = ["", "Threads", *"abc"]
    rows = []
    for task in ("without argmax", "with argmax", "gradient"):
        for threads in "12":
            times = [
                number(float(row["ratio"]))
                for row in found.where(task=task, threads=threads)
                if row["way"].endswith("XLA")
            ]
            rows.append([task, threads, *times])
    return header, rows


def by_workload() -> tuple[list[str], list[list[str]], dict[str, str]]:
    """Header and rows of a table for each workload on one thread, and what the workloads are."""
    table = read("roi_pool")
    rows = []
    for task, ways in LIKE.items():
        for way, name in ways.items():
            found = [
                table.where(task=task, workload=each, way=way, threads="1")
                for each in "abc"
            ]
            times = [number(float(each[0]["ratio"])) if each else "–" for each in found]
            rows.append([task, name, *times])
    sizes = {each: table.value(each).split(", corners")[0] for each in "abc"}
    return ["", "Times as long as our op", "a", "b", "c"], rows, sizes


def figures() -> dict[str, str]:
    """How many times as long the fastest composition takes, and how much of OpenVINO's result differs."""
    rows = read("roi_pool").rows
    composed = [
        float(row["ratio"])
        for row in rows
        if row["workload"] == "a-c"
        and row["way"].startswith("TensorFlow, ")
        and row["way"] in LIKE.get(row["task"], ())
    ]
    differ = [row for row in rows if float(row["different"] or 0)]
    ways = {row["way"].split(",")[0] for row in differ}
    assert ways == {"OpenVINO"}, "the others are equal in every bit"
    openvino = [float(row["different"]) for row in differ if row["way"] == "OpenVINO"]
    return {"composed": number(min(composed)), "openvino": f"{max(openvino):.2%}"}
