"""What the page of all measurements says of the tables of bench/, and its pictures that no chapter has."""

from collections.abc import Iterator, Sequence

import numpy as np
from IPython.display import HTML
from measured import (
    BENCH,
    Bar,
    Row,
    bar_of,
    bars,
    is_undecided,
    number,
    read,
    span,
)
from pictures.figures import (
    BOLD,
    COLOURS,
    END,
    FITTING,
    LINE,
    MIDDLE,
    SMALL,
    drawing,
    text,
)
from pictures.roi_pool_measured import LARGE, others, pooling

Compared = Iterator[tuple[str, str, list[Row]]]


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


def _of_roi_pool() -> Compared:
    for what, task in {
        "RoI pooling": "with argmax",
        "The same for inference": "without argmax",
        "Its gradient": "gradient",
    }.items():
        yield what, "roi_pool_measured.html#other-libraries", others(task)
    for what, task in {
        "Position-sensitive RoI align": "forward",
        "Its gradient": "gradient",
    }.items():
        yield what, "#psroialign", _of("ps_roi_align", "torchvision", task=task)


def _of_ops() -> Compared:
    pooled = {
        "forward": "Max pooling",
        "with argmax": "The same with argmax",
        "forward and gradient": "Max pooling, with gradient",
    }
    for task, what in pooled.items():
        rows = _of("max_pool", "TensorFlow", task=task, setting="default")
        yield what, "#maxpool", rows
    rows = _turned(_of("mat_mul", "OpByOp>MatMul"), "tf.matmul")
    yield "Product of matrices", "#products-of-matrices", rows
    convolved = {
        "result": "Convolution",
        "for x": "Its gradient for the image",
        "for the filter": "Its gradient for the filter",
    }
    for op, what in convolved.items():
        rows = _of("conv2d", "TensorFlow", "TensorFlow, oneDNN off", op=op)
        yield what, "#conv2d", rows
    rows = _of("threads", "tf.reduce_sum", task="sum")
    yield "Sum on all cores", "#sums-that-threads-share", rows


def _of_compositions() -> Compared:
    for what, task in {
        "Smallest and largest of a row": "forward",
        "Its gradient": "gradient",
    }.items():
        rows = read("extremes").where(task=task)
        rows = [row for row in rows if not row["way"].startswith("Extremes")]
        yield what, "#extremes-of-rows", rows
    rows = _without("prototype", "C++ op")
    yield "Activation function", "#an-op-in-python-and-in-c", rows
    rows = _of("elementwise", "four stock ops", "tf.abs(x - y)")
    yield "Element-wise ops", "#element-wise-ops", rows
    rows = _of("stochastic_rounding", "stock ops", "stock ops, XLA")
    yield "Rounding by chance", "#rounding-by-chance", rows
    rows = _without("dataset", "NpyDataset", "plain reads")
    yield "Rows of a file", "#rows-of-a-file", rows


def _of_gradients() -> Compared:
    rows = _without("softmax_gradient", "simplified")
    yield (
        "Gradient of the softmax, simplified in Python",
        "#softmax-cross-entropy-and-its-gradient",
        rows,
    )
    rows = _without("bridge", "in Python")
    yield "Gradient of an op, in Python", "#a-gradient-in-c-from-python", rows


# Ways whose names are longer than there is room.
SHORT = {
    "TensorFlow, unsorted_segment_sum": "unsorted_segment_sum",
    "records, decoded in batches": "records, in batches",
}
TABLES = {
    "RoI pooling": _of_roi_pool,
    "TensorFlow's ops": _of_ops,
    "compositions": _of_compositions,
    "gradients": _of_gradients,
}


def comparisons(name: str) -> HTML:
    """Draws one of `TABLES`: a dot for each case, in a line for each way, and from where to where they go."""
    names_width, plot, right = 172, 170, 118
    compared = list(TABLES[name]())
    numbers = [1.0, *(float(row["ratio"]) for *_, rows in compared for row in rows)]
    low, high = np.log(min(numbers)), np.log(max(numbers))

    def place(value: float | str) -> float:
        return names_width + 8 + plot * (np.log(float(value)) - low) / (high - low)

    parts, spoken, top = [], [], 0
    for what, section, rows in compared:
        assert rows, what
        top += 10
        named = text(2, top + 12, what, BOLD)
        parts.append(f'<a href="{section}">{named}</a>')
        top += 20
        for way in dict.fromkeys(row["way"] for row in rows):
            cases = [row for row in rows if row["way"] == way]
            times, undecided = span(cases)
            said, shown = f"{what}, {way}: {times}", times
            if not undecided.startswith("0 "):
                said += f", {undecided} undecided"
                shown += f" ({undecided.split()[0]})"
            spoken.append(said)
            y = top + 10
            first, last = (
                place(f(float(row["ratio"]) for row in cases)) for f in (min, max)
            )
            parts += [
                f'<path d="M{place(1):.1f} {top}v20" stroke="currentColor" stroke-dasharray="3 2"/>',
                text(names_width, y + 4, SHORT.get(way, way), SMALL, END),
                f'<path d="M{first:.1f} {y}H{last:.1f}" stroke="currentColor" stroke-opacity="0.4"/>',
                text(names_width + plot + 18, y + 4, shown, SMALL),
            ]
            for row in sorted(cases, key=is_undecided):
                filled = "none" if is_undecided(row) else COLOURS[0]
                parts.append(
                    f'<circle cx="{place(row["ratio"]):.1f}" cy="{y}" r="3" stroke="{COLOURS[0]}" '
                    f'fill="{filled}" fill-opacity="0.85"/>'
                )
            top += 20
    left, end = names_width + 8, names_width + 8 + plot
    top += 8
    parts.append(f'<path d="M{left} {top}H{end}" stroke="currentColor"/>')
    for tick in (0.1, 1, 10, 100):
        if low <= np.log(tick) <= high:
            x = place(tick)
            parts.append(f'<path d="M{x:.1f} {top}v4" stroke="currentColor"/>')
            parts.append(text(x, top + 18, f"{tick:g}", MIDDLE, SMALL))
    parts.append(text((left + end) / 2, top + 36, "times as long", MIDDLE, SMALL))
    label = f"How many times as long others take. {'; '.join(spoken)}."
    size = names_width + plot + right, top + 42
    drawn = drawing(parts, *size, label, style=FITTING, font_size=13)
    # What is in an image cannot be a link.
    return HTML(drawn.replace('role="img"', 'role="group"'))


def _examples() -> tuple[Row, Row]:
    """Two comparisons to show how a picture is read: one that is decided, and one that is not."""
    rows = [row for of in TABLES.values() for *_, rows in of() for row in rows]

    def width(row: Row) -> float:
        return float(row["q3"]) / float(row["q1"])

    decided = [r for r in rows if float(r["q1"]) > 1.2 and 1.6 < float(r["ratio"]) < 3]
    undecided = [r for r in rows if float(r["q1"]) < 0.97 and 1.03 < float(r["q3"])]
    by_width = sorted(decided, key=width)
    near = [r for r in undecided if 0.6 < float(r["q1"]) and float(r["q3"]) < 2]
    return max((r for r in by_width if width(r) < 1.5), key=width), max(near, key=width)


def how_to_read() -> HTML:
    """Two bars with notes: what 1 is, what the number and the thin line are, and which bar is undecided."""
    decided, undecided = _examples()
    left, right = 30, 312
    numbers = [1.0] + [
        float(r[k]) for r in (decided, undecided) for k in ("q1", "q3", "ratio")
    ]
    low, high = np.log(min(numbers)) - 0.1, np.log(max(numbers))

    def place(value: float | str) -> float:
        return left + (right - left) * (np.log(float(value)) - low) / (high - low)

    one = place(1)
    parts = [
        text(0, 14, "1: something else takes as long as our op", SMALL),
        f'<path d="M{one:.1f} 20V178" stroke="currentColor" stroke-dasharray="3 3"/>',
    ]
    for top, row, said in (
        (62, decided, number(float(decided["ratio"]))),
        (136, undecided, "undecided"),
    ):
        first, last = sorted((one, place(row["ratio"])))
        q1, q3 = place(row["q1"]), place(row["q3"])
        parts += [
            f'<rect x="{first:.1f}" y="{top}" width="{max(last - first, 1):.1f}" height="14" fill="{COLOURS[0]}" '
            'fill-opacity="0.75"/>',
            f'<path d="M{q1:.1f} {top + 7}H{q3:.1f}" stroke="currentColor"/>',
            text(right + 6, top + 11, said, SMALL),
        ]
    median = place(decided["ratio"])
    q1, q3 = place(decided["q1"]), place(decided["q3"])
    parts += [
        f'<path d="M{median:.1f} 46V60" {LINE}/>',
        text(
            min(median + 95, right), 41, "median of all rounds: the number", SMALL, END
        ),
        f'<path d="M{q1:.1f} 82v5H{q3:.1f}v-5" {LINE}/>',
        text((q1 + q3) / 2, 101, "the middle half of the rounds", SMALL, MIDDLE),
        text(right, 168, "the thin line crosses 1", SMALL, END),
        f'<path d="M{left} 178H{right}" stroke="currentColor"/>',
        text(one, 194, "1", SMALL, MIDDLE),
        text(place(2), 194, "2", SMALL, MIDDLE) if place(2) < right else "",
        text((left + right) / 2, 212, "times as long as our op", MIDDLE, SMALL),
    ]
    label = (
        "How a bar is read. At 1, something else takes as long as our op. A bar ends at the median of all rounds: the "
        "number beside it, of times as long as our op. A thin line holds the middle half of the rounds. Where the thin "
        f"line crosses 1, a bar is undecided, as the lower one. The upper ends at {number(float(decided['ratio']))}."
    )
    return HTML(drawing(parts, 380, 220, label, style=FITTING))


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
    keep("conv2d_ratio", _of("conv2d", "TensorFlow", **result))
    keep("conv2d_off_ratio", _of("conv2d", "TensorFlow, oneDNN off", **result))
    keep("conv2d_older_ratio", _of("conv2d", "ours, without AVX-512", **result))
    products = _of("mat_mul", "OpByOp>MatMul")
    faster = {int(row["size"]) for row in products if float(row["q3"]) < 1}
    slower = {int(row["size"]) for row in products if float(row["q1"]) > 1}
    assert max(faster) < min(slower), "longer than ours with fewer"
    assert {int(row["size"]) for row in products} == faster | slower
    larger = [row for row in products if int(row["size"]) in slower]
    keep("product_ratio", _turned(larger, "tf.matmul"))
    found["product_rows"] = str(min(slower))
    default = {"setting": "default"}
    pooled = _of("max_pool", "TensorFlow", task="with argmax", **default)
    with_argmax = keep("pool_ratio", pooled)
    plain = _of("max_pool", "TensorFlow", task="forward", **default)
    assert min(with_argmax) > max(1, np.median(keep("plain_ratio", plain)))
    found["plain_open"] = span(plain)[1]
    eager = _of("prototype", "composed", mode="eager")
    assert min(keep("eager_ratio", eager)) > 1
    traced = _of("prototype", "composed", mode="tf.function")
    assert max(keep("traced_ratio", traced)) < 1.5
    [generator] = _of("dataset", "from_generator")
    found["generator_ratio"] = number(float(generator["ratio"]))
    pooled = others("with argmax") + others("without argmax") + others("gradient")
    faster = [row for row in pooled if float(row["q3"]) < 1]
    faster = [row for row in faster if row["way"] != "OpenVINO, node"]
    keep("library_ratio", faster)
    assert {row["way"] for row in faster} == {"OpenVINO", "onnxruntime", "torchvision"}
    where = {(row["task"], row["workload"], row["threads"]) for row in faster}
    assert where == {("with argmax", "b", "1")}, "in no other case"
    ours, stock = (
        [float(row["ratio"]) for row in _of("roi_pool", way, task="call")]
        for way in ("RoiPoolInference", "Maximum")
    )
    assert all(0.5 < one / other < 2 for one, other in zip(ours, stock, strict=True))
    return found


def loads() -> dict[str, str]:
    """The least and the most load at the start of a measurement on two cores."""
    untimed = "build", "versions"
    tables = [
        read(path.stem) for path in BENCH.glob("*.csv") if path.stem not in untimed
    ]
    found = [
        float(table.value("load at the start").split()[0])
        for table in tables
        if "2 cores" in table.value("machine")
    ]
    assert len(found) >= 14
    return {"least_load": f"{min(found):g}", "most_load": f"{max(found):g}"}


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
        "conv2d_ms": milliseconds("conv2d", "ours", op="result", task="3 × 3"),
    }


def example() -> dict[str, object]:
    """The case with which the page explains a dot, a bar and a row."""
    case = {"type": "float32", "task": "with argmax", "threads": "1", "batch": "8"}
    case["setting"] = "default"
    rows = read("max_pool").where(layer="3 × 3, stride 2", **case)
    [theirs] = [row for row in rows if row["way"] == "TensorFlow"]
    assert not is_undecided(theirs)
    return {
        "example_ratio": number(float(theirs["ratio"])),
        "example_row": theirs["ratio"],
    }


def figures() -> dict[str, object]:
    """All figures in the text of the page, from the tables."""
    return {
        **lessons(),
        **loads(),
        **example(),
        "kept": pooling()["kept"],
        **_milliseconds(),
    }
