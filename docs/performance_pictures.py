"""What the page of all measurements says of the tables of bench/, and its pictures that no chapter has."""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import conv2d_pictures
import numpy as np
import stock_ops
import tensorflow as tf
from IPython.display import HTML
from measured import (
    BENCH,
    KEPT,
    LIMITS,
    Bar,
    Table,
    bar_of,
    bars,
    bars_of,
    legend_of,
    number,
    read,
    span,
)

LARGE = "abc"  # the workloads on which more than the call counts
OURS = {
    "with argmax": "RoiPool",
    "without argmax": "RoiPoolInference",
    "gradient": "RoiPoolGrad",
}
Row = Mapping[str, str]


def others(task: str) -> list[Row]:
    """The rows of those that RoiPool is compared with."""
    return [
        row
        for row in read("roi_pool").where(task=task)
        if row["workload"] in LARGE and row["base"] != row["way"]
        if row["way"] not in LIMITS and not row["way"].endswith(KEPT)
    ]


def milliseconds(name: str, *ways: str, **fields: str) -> str:
    """From the least to the greatest of the times of some ways, of `bench/<name>.csv`."""
    times = [float(row["milliseconds"]) for row in _of(name, *ways, **fields)]
    least, most = number(min(times)), number(max(times))
    return least if least == most else f"{least} to {most}"


def _turned(rows: Sequence[Row], base: str) -> list[Row]:
    """Rows of ours, whose ratios are to a base, as rows of the base, whose ratios are to ours."""
    sides = {"ratio": "ratio", "q1": "q3", "q3": "q1"}
    return [
        {**row, "way": base}
        | {key: str(1 / float(row[side])) for key, side in sides.items()}
        for row in rows
    ]


def _without(name: str, *ways: str, **fields: str) -> list[Row]:
    return [row for row in read(name).where(**fields) if row["way"] not in ways]


def _of(name: str, *ways: str, **fields: str) -> list[Row]:
    return [row for row in read(name).where(**fields) if row["way"] in ways]


def _compared() -> Iterator[tuple[str, str, list[Row]]]:
    """What is compared, its section, and the rows of what one could use instead."""
    section = "roi-pooling-against-other-libraries"
    yield "RoI pooling", section, others("with argmax")
    yield "RoI pooling for inference", section, others("without argmax")
    yield "Gradient of RoI pooling", section, others("gradient")
    aligned = "Position-sensitive RoI align", "Its gradient"
    for what, task in zip(aligned, ("forward", "gradient")):
        yield what, "psroialign", _of("ps_roi_align", "torchvision", task=task)
    row_ops = "Smallest and largest of a row", "Its gradient"
    for what, task in zip(row_ops, ("forward", "gradient")):
        rows = read("extremes").where(task=task)
        rows = [row for row in rows if not row["way"].startswith("Extremes")]
        yield what, "extremes-of-rows", rows
    section = "softmax-cross-entropy-and-its-gradient"
    yield "Softmax cross-entropy", section, _without("softmax_gradient", "simplified")
    section = "a-gradient-in-c-from-python"
    yield "A gradient in C++", section, _without("bridge", "in Python")
    section = "an-op-in-python-and-in-c"
    yield "An activation function", section, _without("prototype", "C++ op")
    rows = _of("elementwise", "four stock ops", "tf.abs(x - y)")
    yield "Element-wise ops", "element-wise-ops", rows
    rows = _of("threads", "tf.reduce_sum", task="sum")
    yield "A sum on all cores", "sums-that-threads-share", rows
    rows = _of("stochastic_rounding", "stock ops", "stock ops, XLA")
    yield "Rounding by chance", "rounding-by-chance", rows
    rows = _without("dataset", "NpyDataset", "plain reads")
    yield "Rows of a file", "rows-of-a-file", rows
    pooled = {
        "forward": "Max pooling",
        "with argmax": "Max pooling with argmax",
        "gradient": "Its gradient",
    }
    for task, what in pooled.items():
        yield what, "maxpool", _of("max_pool", "TensorFlow", task=task)
    rows = _turned(_of("mat_mul", "OpByOp>MatMul"), "tf.matmul")
    yield "Products of matrices", "products-of-matrices", rows
    convolved = {
        "result": "Convolution",
        "for x": "Its gradient for the image",
        "for the filter": "Its gradient for the filter",
    }
    for op, what in convolved.items():
        rows = _turned(_of("conv2d", "ours", op=op), conv2d_pictures.BASE)
        yield what, "conv2d", rows


def comparisons() -> list[tuple[str, str, str]]:
    """The lines of the table: what, instead of it, and how many times as long, with the number of undecided cases."""
    lines = []
    for what, section, rows in _compared():
        named = f"[{what}](#{section})"
        for way in dict.fromkeys(row["way"] for row in rows):
            times, undecided = span([row for row in rows if row["way"] == way])
            times = times.replace(" ", "\u00a0")
            if not undecided.startswith("0 "):
                times += f" ({undecided})".replace(" of ", "\u00a0of\u00a0")
            lines.append((named, way.replace("_", "_\u200b"), times))
            named = ""
    assert {"onnxruntime", "OpenVINO, node", "Paddle", "raw op", "tf.matmul"} <= {
        way for _, way, _ in lines
    }
    return lines


def lessons() -> dict[str, str]:
    """The figures of the first lines of the page. What they are said to show is checked."""
    found = {}

    def keep(name: str, rows: Sequence[Row]) -> list[float]:
        found[name] = span(rows)[0]
        return [float(row["ratio"]) for row in rows]

    windows = _of("roi_pool", "TensorFlow, windows")
    windows = [row for row in windows if row["workload"] in LARGE]
    assert min(keep("windows_ratio", windows)) > 1
    result = {"op": "result"}
    convolved = _turned(_of("conv2d", "ours", **result), conv2d_pictures.BASE)
    old = keep("conv2d_ratio", convolved)
    newer = _of("conv2d", "ours, for AVX-512", **result)
    new = keep("newer_ratio", _turned(newer, conv2d_pictures.BASE))
    assert max(old) < 1 and np.median(np.log(new)) > np.median(np.log(old)) / 2
    products = {
        way: np.log([float(row["ratio"]) for row in _of("mat_mul", way)])
        for way in ("OpByOp>MatMul", "for AVX-512")
    }
    generic, newer = map(np.median, products.values())
    assert generic > 0 and newer < generic / 2
    pooled = _of("max_pool", "TensorFlow", task="with argmax")
    assert min(keep("pool_ratio", pooled)) > 1
    eager = _of("prototype", "composed", mode="eager")
    assert min(keep("eager_ratio", eager)) > 1
    traced = _of("prototype", "composed", mode="tf.function")
    assert max(keep("traced_ratio", traced)) < 1.5
    [generator] = _of("dataset", "from_generator")
    found["generator_ratio"] = number(float(generator["ratio"]))
    ours, stock = (
        [float(row["ratio"]) for row in _of("roi_pool", way, task="call")]
        for way in ("RoiPoolInference", "Maximum")
    )
    assert all(0.5 < one / other < 2 for one, other in zip(ours, stock, strict=True))
    return found


def loads() -> dict[str, str]:
    """The least and the most load at the start of a measurement on two cores, and the table with the most."""
    tables = {path.stem: read(path.stem) for path in BENCH.glob("*.csv")}
    tables = {
        name: table
        for name, table in tables.items()
        if "2 cores" in table.value("machine") and name != "build"
    }
    assert len(tables) >= 14
    assert any(
        line.startswith("scheduling: real time")
        for table in tables.values()
        for line in table.first_lines
    )
    found = {
        name: float(table.value("load at the start").split()[0])
        for name, table in tables.items()
    }
    return {
        "least_load": f"{min(found.values()):g}",
        "most_load": f"{max(found.values()):g}",
        "loaded": max(found, key=found.get),
    }


def workloads() -> dict[str, tuple[str, ...]]:
    """What RoiPool is measured on, by letter: the shape of the map, the number of regions, their bins."""
    described = (
        r"features (.*), (\d+) regions, (.*) bins, scale 1/\d+, (?:corners|sides) .*"
    )
    table = read("roi_pool")
    return {
        name: tuple(
            part.replace(" x ", "\u00a0×\u00a0")
            for part in re.fullmatch(described, table.value(name)).groups()
        )
        for name in "abcd"
    }


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


def pooling() -> dict[str, object]:
    """The figures of the section that compares RoiPool with other libraries."""
    table = read("roi_pool")
    sizes = {
        name: [part.split("\u00a0×\u00a0") for part in parts]
        for name, parts in workloads().items()
    }
    written = {
        name: 8 * int(count) * np.prod([int(side) for side in bins]) * int(shape[-1])
        for name, (shape, (count,), bins) in sizes.items()
    }
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
    assert float(best_node["ratio"]) < 1 and best_node["workload"] == "b"
    return {
        "megabytes": written["b"] / 1e6,
        "kept": f"{float(kept['ratio']):.0%}",
        "node": f"{np.median(shares):.0%}",
        "lost": sum(float(row["q1"]) <= 1 for row in calls),
        "compared": len(calls),
        "node_lost": sum(float(row["q1"]) <= 1 for row in nodes),
        "nodes": len(nodes),
        "node_best": number(1 / float(best_node["ratio"])),
    }


def kept_memory() -> dict[str, object]:
    """How many cases take less time with kept memory, and what is gained and lost at most."""
    rows = [
        row
        for row in read("roi_pool").rows
        if row["way"].endswith(KEPT) and row["task"] in OURS
        if row["workload"] in LARGE
    ]
    less = sum(float(row["q3"]) < 1 for row in rows)
    longer = sum(float(row["q1"]) > 1 for row in rows)
    gained = max(1 / float(row["ratio"]) for row in rows)
    worst = max(rows, key=lambda row: float(row["ratio"]))
    assert gained > 2 and less > longer and float(worst["ratio"]) > 1
    return {
        "cases": len(rows),
        "less": less,
        "longer": longer,
        "open": len(rows) - less - longer,
        "most_gained": number(gained),
        "most_lost": number(float(worst["ratio"])),
        "lost_op": worst["way"].removesuffix(KEPT),
        "lost_where": worst["workload"],
    }


def composed() -> dict[str, str]:
    """How many times as long as RoiPoolInference the two compositions take, whose results equal its in every bit."""
    ways = {"windows": "TensorFlow, windows", "pixels": "TensorFlow, list of pixels"}
    rows = {name: _of("roi_pool", way) for name, way in ways.items()}
    for name, of_way in rows.items():
        rows[name] = [
            row
            for row in of_way
            if row["task"] == "without argmax" and row["workload"] in LARGE
        ]
        assert {row["different"] for row in rows[name]} == {"0"}
    return {name: span(of_way)[0] for name, of_way in rows.items()}


def check_edges_of_bins() -> None:
    """A graph multiplies by the reciprocal where the divisor is a constant, and divides where it is an argument."""
    sizes, seventh = np.arange(1, 500), np.float32(1) / np.float32(7)
    counted = np.arange(7, dtype=np.float32)

    def constant(size: tf.Tensor, bins: int = 7) -> tuple[tf.Tensor, tf.Tensor]:
        return stock_ops.bin_edges(tf.zeros_like(size), size - 1, bins)

    def argument(size: tf.Tensor, bins: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        size = tf.cast(size, tf.float32)[:, None] / bins
        return tf.floor(counted * size), tf.math.ceil((counted + 1) * size)

    given = tf.constant(sizes, tf.int32)
    as_float = sizes.astype(np.float32)[:, None]
    cases = [
        (constant, (given,), as_float * seventh),
        (argument, (given, tf.constant(7.0)), as_float / np.float32(7)),
    ]
    for function, arguments, size in cases:
        first, beyond = tf.function(function, autograph=False)(*arguments)
        np.testing.assert_array_equal(first, np.floor(counted * size))
        np.testing.assert_array_equal(beyond, np.ceil((counted + 1) * size))


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
        "traffic_least": f"{min(traffic):.0%}",
        "traffic_most": f"{max(traffic):.0%}",
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


def calls() -> HTML:
    """Draws how many microseconds a call takes that computes next to nothing."""
    rows = read("roi_pool").where(task="call", threads="1")
    assert {"RoiPool", "RoiPoolInference", "TopKV2", "Maximum"} == {
        row["way"] for row in rows
    }
    drawn = [Bar(row["way"], [1e3 * float(row["milliseconds"])]) for row in rows]
    label = "Microseconds that a call takes."
    return bars({"": drawn}, label, "microseconds", names_width=120)


def softmax() -> HTML:
    """Draws how many times as long as the simplified gradient of the softmax others take."""
    groups: dict[str, list[Bar]] = {}
    for row in _without("softmax_gradient", "simplified"):
        case = f"{row['mode']}, {row['rows']} × {row['classes']}"
        groups.setdefault(case, []).append(bar_of(row["way"], [row]))
    return bars(
        groups,
        "How many times longer than the simplified gradient the others take.",
        "times as long as the simplified gradient",
        origin=1.0,
        names_width=90,
    )


def seconds(name: str) -> Table:
    """A table of durations, without the rows of what is measured otherwise."""
    table = read(name)
    return replace(table, rows=table.where(unit="s"))


def heavy_page() -> dict[str, str]:
    """A page of the book and its weight."""
    [row] = read("build").where(unit="kB")
    return {
        "page": Path(row["what"].split()[0]).stem,
        "weight_kb": number(float(row["measured"])),
    }


def _milliseconds() -> dict[str, object]:
    """How long the ops take that others are compared with, and on how many numbers."""
    large = str(4 << 20)
    assert read("threads").value("sum").startswith(f"{large} ")
    call = {"task": "call", "threads": "1"}
    return {
        "call_ms": milliseconds("roi_pool", "RoiPoolInference", **call),
        "built_in": milliseconds("roi_pool", "Maximum", **call),
        "extremes_ms": milliseconds("extremes", "Extremes", "ExtremesGrad"),
        "softmax_ms": milliseconds("softmax_gradient", "simplified"),
        "bridge_ms": milliseconds("bridge", "in Python"),
        "snake_ms": milliseconds("prototype", "C++ op"),
        "logcosh_ms": milliseconds("elementwise", "LogCosh"),
        "steady_ms": milliseconds("threads", "SteadySum"),
        "summed": int(large),
        "rounding_ms": milliseconds(
            "stochastic_rounding", "StatelessStochasticRound", size=large
        ),
        "rounded": int(large),
        "conv2d_ms": milliseconds(
            "conv2d", conv2d_pictures.BASE, op="result", task="3 × 3"
        ),
    }


def figures() -> dict[str, object]:
    """All figures in the text of the page, from the tables."""
    return {
        **lessons(),
        **loads(),
        **pooling(),
        **kept_memory(),
        **composed(),
        **memory_limits(),
        **heavy_page(),
        **_milliseconds(),
    }


def naming(picture: HTML, *names: str) -> HTML:
    """The picture, after a check that it has the names of which the text speaks."""
    for name in names:
        assert f">{html.escape(name)}</text>" in picture.data, name
    return picture
