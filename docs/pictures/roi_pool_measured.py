"""What the chapter on the measurements of RoI pooling says of bench/roi_pool.csv, and its own pictures."""

import numpy as np
from IPython.display import HTML
from measured import (
    KEPT,
    LIMITS,
    MEAN,
    Row,
    bar_of,
    bars,
    bars_of,
    legend_of,
    number,
    read,
    span,
    workloads,
)

LARGE = "abc"  # the workloads on which more than the call counts
OURS = {
    "with argmax": "RoiPool",
    "without argmax": "RoiPoolInference",
    "gradient": "RoiPoolGrad",
}


def others(task: str) -> list[Row]:
    """The rows of those that RoiPool is compared with."""
    return [
        row
        for row in read("roi_pool").where(task=task)
        if row["workload"] in LARGE and row["base"] != row["way"]
        if row["way"] not in LIMITS and not row["way"].endswith(KEPT)
    ]


def means() -> HTML:
    """Draws how many times as long as RoiPool the others and kept memory take, as the mean of the workloads."""
    table = read("roi_pool")
    found: dict[str, list[Row]] = {}
    for row in table.where(task="with argmax", workload=MEAN, base="RoiPool"):
        if row["way"] != "RoiPool":
            found.setdefault(row["way"], []).append(row)
    return bars(
        {"": [bar_of(way, rows) for way, rows in found.items()]},
        "How many times longer than RoiPool the others take, geometric mean of the workloads.",
        "times as long as RoiPool",
        legend_of(table),
        names_width=142,
        origin=1.0,
    )


def own_times(kept: str = "") -> HTML:
    """Draws how many milliseconds our ops take, by default or with `KEPT`, by workload."""
    table = read("roi_pool")
    groups = {}
    for task, way in OURS.items():
        groups[way] = [
            bars_of(
                table,
                {way + kept: workload},
                "milliseconds",
                task=task,
                workload=workload,
            )[0]
            for workload in LARGE
        ]
    label = f"Milliseconds that a call takes{kept}, by workload."
    return bars(groups, label, "milliseconds", legend_of(table))


def megabytes() -> dict[str, float]:
    """What RoiPool writes on each workload, values and argmax."""
    sizes = {
        name: [part.split("\u00a0×\u00a0") for part in parts]
        for name, parts in workloads().items()
    }
    numbers = {
        name: int(count) * np.prod([int(side) for side in bins]) * int(shape[-1])
        for name, (shape, (count,), bins) in sizes.items()
    }
    return {name: 8 * count / 1e6 for name, count in numbers.items()}


def pooling() -> dict[str, object]:
    """The figures of the section that compares RoiPool with other libraries."""
    table = read("roi_pool")
    written = megabytes()
    assert max(written, key=written.get) == "b"  # its outputs are the largest
    fields = {"task": "with argmax", "workload": "b", "threads": "1"}
    [kept] = table.where(way="RoiPool" + KEPT, **fields)
    assert float(kept["ratio"]) < 0.5  # most of its time goes into new memory
    shares = [
        float(one["milliseconds"]) / float(call["milliseconds"])
        for one in table.where(way="OpenVINO, node")
        for call in table.where(
            way="OpenVINO",
            **{key: one[key] for key in ("task", "workload", "threads")},
        )
        if one["milliseconds"]
    ]
    forward = others("with argmax") + others("without argmax")
    nodes = [row for row in forward if row["way"] == "OpenVINO, node"]
    calls = [row for row in forward if row not in nodes]
    best_node = min(nodes, key=lambda row: float(row["ratio"]))
    assert len(forward) >= 48
    assert float(best_node["ratio"]) < 1
    return {
        "megabytes": written["b"],
        "kept": f"{float(kept['ratio']):.0%}",
        "node": f"{np.median(shares):.0%}",
        "node_where": best_node["workload"],
        "lost": sum(float(row["q1"]) <= 1 for row in calls),
        "compared": len(calls),
        "node_lost": sum(float(row["q1"]) <= 1 for row in nodes),
        "nodes": len(nodes),
        "node_best": number(1 / float(best_node["ratio"])),
    }


def kept_memory() -> dict[str, object]:
    """How many cases take less time with kept memory, and how many do not."""
    rows = [
        row
        for row in read("roi_pool").rows
        if row["way"].endswith(KEPT) and row["task"] in OURS
        if row["workload"] in LARGE
    ]
    less = sum(float(row["q3"]) < 1 for row in rows)
    longer = sum(float(row["q1"]) > 1 for row in rows)
    assert less > longer
    return {
        "cases": len(rows),
        "less": less,
        "longer": longer,
        "open": len(rows) - less - longer,
    }


def second_thread() -> dict[str, object]:
    """What a second thread gains on workload b, and that most of the others' change comes from there."""

    def of(way: str, workload: str, column: str) -> list[float]:
        fields = {"task": "with argmax", "way": way, "workload": workload}
        rows = read("roi_pool").where(**fields)
        return [float(row[column]) for row in rows]

    for way in ("onnxruntime", "torchvision"):
        a, b, c = (of(way, workload, "ratio") for workload in LARGE)
        assert b[1] / b[0] > a[1] / a[0] * c[1] / c[0]
    one, two = of("RoiPool", "b", "milliseconds")
    kept = of("RoiPool" + KEPT, "b", "ratio")
    same = {"question": "pages", "case": "b", "memory": "default", "way": "large"}
    [again] = read("roi_pool_choices").where(threads="1", **same)
    [alike, _] = read("roi_pool").where(
        task="without argmax", way="OpenVINO", workload=MEAN
    )
    return {
        "b_one_ms": one,
        "b_two_ms": two,
        "b_again_ms": float(again["milliseconds"]),
        "openvino_alike": float(alike["ratio"]),
        "kept_two": f"{kept[1]:.0%}",
    }


def composed() -> dict[str, str]:
    """How many times as long as RoiPoolInference the two compositions take, whose results equal its in every bit."""
    ways = {"windows": "TensorFlow, windows", "pixels": "TensorFlow, list of pixels"}
    found = {}
    for name, way in ways.items():
        rows = [row for row in others("without argmax") if row["way"] == way]
        assert {row["different"] for row in rows} == {"0"}
        found[name] = span(rows)[0]
    return found


def memory_limits() -> dict[str, object]:
    """What programs take of the op's time that only read and write."""

    def of(way: str) -> list[Row]:
        rows = read("roi_pool").where(way=way)
        return [row for row in rows if row["workload"] in LARGE]

    limit = sorted(of("limit"), key=lambda row: float(row["ratio"]))
    traffic = [float(row["ratio"]) for row in of("traffic")]
    found = {
        "traffic_slower": sum(ratio > 1 for ratio in traffic),
        "traffic_cases": len(traffic),
    }
    for name, row in {"far": limit[0], "near": limit[-1]}.items():
        found[name] = f"{float(row['ratio']):.0%}"
        found[f"{name}_where"] = f"workload {row['workload']}, {row['task']}"
    return found


def different() -> list[tuple[str, str, str]]:
    """Whose results differ from those of RoiPool, on which workload, and the share of elements."""
    rows = [
        row
        for row in read("roi_pool").where(threads="1")
        if row["different"] and row["task"] != "gradient"
    ]
    in_function = "TensorFlow, list of pixels, with constant folding"
    same = {row["way"] for row in rows if not float(row["different"])}
    assert in_function.replace("with", "without") in same
    assert {"onnxruntime", "Paddle", "torchvision"} <= same  # in every bit
    found = {
        (row["way"].removesuffix(", node"), row["workload"]): float(row["different"])
        for row in rows
        if float(row["different"])
    }
    assert {way for way, _ in found} == {"OpenVINO", in_function}
    return [(*where, f"{share:.2%}") for where, share in found.items()]


def figures() -> dict[str, object]:
    """All figures in the text of the chapter, from the table."""
    return {
        "from_to": span(others("with argmax"))[0],
        **pooling(),
        **kept_memory(),
        **second_thread(),
        **composed(),
        **memory_limits(),
    }
