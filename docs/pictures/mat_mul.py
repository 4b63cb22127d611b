"""The pictures of the chapter on MatMul: drawn from what ran, was read, or was measured."""

import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf
from IPython.display import HTML
from measured import bars, bars_of, legend_of, read
from pictures.figures import (
    BOLD,
    COLOURS,
    END,
    FITTING,
    LINE,
    MIDDLE,
    SMALL,
    arrow_down,
    box,
    drawing,
    text,
)

SIZES = 32, 64, 128, 256, 512, 1024
# How lines look, by the row of the picture that they are in.
LOOKS = {
    "elements": f'stroke="{COLOURS[1]}" stroke-width="2"',
    "rows": f'stroke="{COLOURS[1]}" stroke-width="2" stroke-dasharray="7 3"',
    "blocks": f'stroke="{COLOURS[1]}" stroke-width="2" stroke-dasharray="2 3"',
    "OpByOp>MatMul": f'stroke="{COLOURS[0]}" stroke-width="3"',
    "tf.matmul, Eigen alone": f'stroke="{COLOURS[0]}" stroke-width="2" stroke-dasharray="7 3"',
    "for AVX2 and FMA": f'stroke="{COLOURS[0]}" stroke-width="2" stroke-dasharray="2 3"',
    "for AVX-512": f'stroke="{COLOURS[0]}" stroke-width="2" stroke-dasharray="7 3 2 3"',
    "tf.matmul": 'stroke="currentColor" stroke-width="2"',
    "tf.matmul, oneDNN": 'stroke="currentColor" stroke-width="2" stroke-dasharray="7 3"',
    "peak": 'stroke="currentColor" stroke-width="1"',
}


def rates(way: str) -> dict[int, float]:
    """From a size to 10^9 operations in a second on one thread, from `bench/mat_mul.csv`."""
    rows = read("mat_mul").where(way=way, threads="1")
    return {int(row["size"]): float(row["gflops"]) for row in rows}


def peak() -> float:
    """The most that the loop in registers has reached on one thread."""
    return max(rates("peak").values())


def figures() -> dict[str, float]:
    """What the text of the chapter says of `bench/mat_mul.csv`."""
    of_512 = {way: rates(way)[512] for way in LOOKS if way != "peak"}
    ways = {
        "share": "tf.matmul",
        "ours": "OpByOp>MatMul",
        "newer": "for AVX2 and FMA",
        "newest": "for AVX-512",
    }
    microseconds = {
        size: 2e-3 * size**3 / rates("tf.matmul")[size] for size in (32, 64)
    }
    return {name: of_512[way] / peak() for name, way in ways.items()} | {
        "behind": of_512["tf.matmul"] / of_512["elements"],
        "swapped": of_512["rows"] / of_512["elements"],
        "of_32_us": microseconds[32],
        "of_64": microseconds[64],
    }


def speeds(ways: Mapping[str, str], label: str) -> HTML:
    """Draws the operations in a second on one thread over the size of the matrices, under the peak.

    Args:
      ways: From a way to what the picture calls it.
      label: What the picture shows, for those who do not see it.
    """
    found = {way: rate for way in ways if (rate := rates(way))}
    top_value = peak()
    values = [value for rate in found.values() for value in rate.values()]
    low, high = math.log10(min(values)), math.log10(top_value)
    left, right, top, bottom = 44, 330, 44, 254

    def point(size: int, value: float) -> tuple[float, float]:
        across = math.log2(size / SIZES[0]) / math.log2(SIZES[-1] / SIZES[0])
        down = (high - math.log10(value)) / (high - low)
        return left + (right - left) * across, top + (bottom - top) * down

    parts = [
        f'<path d="M{left} {top - 8}V{bottom + 6}H{right}" {LINE}/>',
        text(2, 14, "10⁹ operations in a second", SMALL),
        text((left + right) / 2, bottom + 42, "rows and columns", MIDDLE, SMALL),
        f'<path d="M{left} {top}H{right}" {LOOKS["peak"]}/>',
        text(left + 8, top - 5, f"peak: {top_value:.0f}", SMALL),
    ]
    for power in range(math.ceil(low), math.floor(high) + 1):
        y = point(SIZES[0], 10.0**power)[1]
        parts.append(text(left - 6, y + 4, f"{10.0**power:g}", END, SMALL))
        parts.append(f'<path d="M{left - 4} {y:.1f}h4" {LINE}/>')
    for size in SIZES:
        x = point(size, top_value)[0]
        parts.append(text(x, bottom + 22, str(size), MIDDLE, SMALL))
    ends = []
    for way, rate in found.items():
        points = [f"{x:.1f} {y:.1f}" for x, y in (point(*one) for one in rate.items())]
        parts.append(f'<path d="M{"L".join(points)}" fill="none" {LOOKS[way]}/>')
        ends.append([point(*list(rate.items())[-1])[1], way])
    ends.sort()
    for before, end in zip([[top - 14.0, ""], *ends], ends):
        end[0] = max(end[0], before[0] + 16)
    for y, way in ends:
        parts.append(f'<path d="M{right + 6} {y:.1f}h20" {LOOKS[way]}/>')
        parts.append(text(right + 31, y + 4, ways[way], SMALL))
    says = "; ".join(
        f"{ways[way]}: {', '.join(f'{value:.2g} at {size}' for size, value in rate.items())}"
        for way, rate in found.items()
    )
    label = f"{label} The peak is {top_value:.0f}. {says}."
    return HTML(drawing(parts, 480, 302, label, style=FITTING))


def ratios(size: int) -> HTML:
    """How many times as long other ways take as tf.matmul, for matrices of a size."""
    table = read("mat_mul")
    ways = {way: way.replace("tf.matmul, ", "") for way in LOOKS if way != "tf.matmul"}
    drawn, legend = bars_of(table, ways, size=str(size)), legend_of(table)
    one = [bar for bar in drawn if len(bar.values) < len(legend)]
    both = [bar for bar in drawn if bar not in one]
    return bars(
        {"on one thread alone": one, "": both} if one else {"": both},
        f"How many times as long other ways take as tf.matmul for {size} rows and columns.",
        "times as long as tf.matmul",
        legend,
        names_width=130,
        origin=1.0,
    )


def read_from_b(order: str, rows: int = 4, columns: int = 6) -> np.ndarray:
    """In which step each element of b is first read, as the loops of LoopMatMul read them for a first row of c."""
    steps = np.arange(1, rows * columns + 1)
    if order == "elements":
        return steps.reshape(columns, rows).T
    return steps.reshape(rows, columns)


def order_picture() -> HTML:
    """In which order two of the loops read b; numbers that are neighbours in memory lie in one line."""
    side, parts, left = 34, [], 4
    says = []
    for order, caption in ("elements", "three loops"), ("rows", "swapped loops"):
        steps = read_from_b(order)
        parts.append(text(left, 14, f"b, {caption}"))
        for (row, column), step in np.ndenumerate(steps):
            x, y = left + column * side, 24 + row * (side + 6)
            parts.append(box(x, y, side, side, 0.3 * (step <= 4), corner=0))
            parts.append(text(x + side / 2, y + 22, str(step), MIDDLE))
        first = [tuple(np.argwhere(steps == step)[0] + 1) for step in range(1, 5)]
        where = ", ".join(f"row {row} column {column}" for row, column in first)
        says.append(f"{caption}: the first four are {where}")
        left += 6 * side + 44
    label = f"The steps in which the numbers of b are read. {'; '.join(says)}."
    return HTML(drawing(parts, left - 30, 190, label, style=FITTING))


OBSERVED = """
import ctypes, json, os, sys
import tensorflow as tf
from tensorflow.python.eager import context

def observe(threads):
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    product = tf.function(lambda a, b: tf.matmul(a, b))
    a = tf.ones([512, 512])
    context.enable_run_metadata()
    product(a, a)
    graphs = context.export_run_metadata().partition_graphs
    context.disable_run_metadata()
    ctypes.CDLL(None).fflush(None)  # what oneDNN has said
    ops = [node.op for graph in graphs for node in graph.node if node.op[0] != "_" or "Mkl" in node.op]
    print("end of the product", flush=True)
    print(json.dumps(ops), "end of the fork", sep="\\n", flush=True)

for threads, settings in json.loads(sys.argv[1]):
    if not (fork := os.fork()):
        os.environ |= settings
        observe(threads)
        os._exit(0)
    if os.waitpid(fork, 0)[1]:
        sys.exit("a fork died")
"""


class Observed(NamedTuple):
    """What ran in a product of two matrices of 512 × 512."""

    ops: list[str]
    blocks: list[tuple[int, ...]]  # the sizes m, k, n that oneDNN multiplied


def observed(*forks: tuple[int, Mapping[str, str]], **settings: str) -> list[Observed]:
    """Multiplies in forks of a process that has imported TensorFlow with some settings and done nothing else.

    Args:
      *forks: How many threads each has, and variables that it sets.
      **settings: Variables of the process, which has none of the book's for oneDNN.
    """
    usual = {k: v for k, v in os.environ.items() if k != "TF_ENABLE_ONEDNN_OPTS"}
    run = subprocess.run(
        [sys.executable, "-c", OBSERVED, json.dumps(forks)],
        env={**usual, "ONEDNN_VERBOSE": "1", **settings},
        capture_output=True,
        text=True,
        check=True,
    )
    found = []
    for printed in run.stdout.split("end of the fork\n")[:-1]:
        product, rest = printed.split("end of the product")
        blocks = re.findall(r",exec,.*\b(\d+)x(\d+):\2x(\d+)\b", product)
        sizes = [tuple(map(int, size)) for size in blocks]
        found.append(Observed(json.loads(rest), sizes))
    return found


def who_computes(cases: Mapping[str, Observed]) -> HTML:
    """Who does what for a product, as `observed` has found it: a column for each setting."""
    width, step, parts = 168, 58, []
    columns = []
    for title, case in cases.items():
        [op], sizes = case.ops, case.blocks
        boxes = ["tf.matmul", op]
        if op == "MatMul":
            boxes.append("Eigen: blocks, threads")
        if not sizes:
            boxes.append("Eigen: packets")
        elif len(sizes) == 1:
            boxes.append("oneDNN: all of it")
        else:
            boxes.append(f"oneDNN: {len(sizes)} blocks")
        columns.append((title, boxes))
    for number, (title, boxes) in enumerate(columns):
        left = 4 + number * (width + 14)
        parts.append(text(left + width / 2, 16, title, MIDDLE, BOLD))
        above = 0
        for row, words in enumerate(boxes):
            top = 28 + step * (row if words != boxes[-1] else 3)
            by_onednn = "oneDNN" in words or "Mkl" in words
            parts.append(box(left, top, width, 32, 0.3 * by_onednn))
            parts.append(text(left + width / 2, top + 21, words, MIDDLE))
            if row:
                parts.append(arrow_down(left + width / 2, above, top))
            above = top + 32
    label = "Who computes. " + ". ".join(
        f"{title}: {', then '.join(boxes)}" for title, boxes in columns
    )
    size = len(columns) * (width + 14), 28 + 3 * step + 38
    return HTML(drawing(parts, *size, f"{label}.", style=FITTING))


def factor(name: str, transposed: bool) -> str:
    return f"{name}ᵀ" if transposed else name


def formulas(function, a_t: bool, b_t: bool) -> list[str]:
    """The product, and what the nodes of its gradient compute."""
    made = {node.name: node for node in function.node_def}
    nodes = [made[function.ret[name].partition(":")[0]] for name in ("da", "db")]
    return [f"c = {factor('a', a_t)} {factor('b', b_t)}"] + [
        f"{name} = "
        + " ".join(
            factor(given, node.attr[attr].b)
            for given, attr in zip(node.input, ["transpose_a", "transpose_b"])
        )
        for name, node in zip(["da", "db"], nodes)
    ]


def gradient_picture(described: Mapping[tuple[bool, bool], object]) -> HTML:
    """The four cases, with each matrix as a rectangle of its shape: c is [2, 4], and the sums are of 3 products."""
    unit, parts, spoken = 15, [], []
    for row, ((a_t, b_t), function) in enumerate(described.items()):
        stored = {
            "a": (3, 2) if a_t else (2, 3),
            "b": (4, 3) if b_t else (3, 4),
            "c": (2, 4),
        }
        lines = formulas(function, a_t, b_t)
        for column, formula in enumerate(lines):
            x, top = 4 + column * 226, 8 + row * 88
            sizes = {}
            for word in formula.replace("=", "").split():
                size = stored[word.removeprefix("d").rstrip("ᵀ")]
                sizes[word] = size[::-1] if word.endswith("ᵀ") else size
            result, left, right = sizes.values()
            assert left[1] == right[0] and result == (left[0], right[1]), formula
            for word in formula.split():
                if word == "=":
                    parts.append(text(x + 8, top + 36, "=", MIDDLE))
                    x += 20
                    continue
                height, width = (unit * count for count in sizes[word])
                y, shade = top + 32 - height / 2, 0.3 * word.endswith("ᵀ")
                parts.append(box(x, y, width, height, shade, corner=0))
                parts.append(text(x + width / 2, top + 36, word, MIDDLE))
                x += width + 6
        spoken.append(", ".join(lines))
    label = (
        f"The product and its two gradients, in the four cases: {'; '.join(spoken)}."
    )
    return HTML(drawing(parts, 660, 8 + 4 * 88, label, style=FITTING))


def errors_in_last_places(products: Mapping[str, tf.Tensor], exact: np.ndarray) -> dict:
    """How far numbers of bfloat16 are from the exact ones, away from 0, in units of their last place."""
    unit = 2.0 ** (np.floor(np.log2(abs(exact))) - 7)
    return {
        name: ((tf.cast(c, tf.float64).numpy() - exact) * np.sign(exact) / unit).ravel()
        for name, c in products.items()
    }


def rounding_picture(errors: Mapping[str, Sequence[float]]) -> HTML:
    """Two histograms, of which one number is how many tenths of a unit an element is off."""
    edges = np.linspace(-1.1, 0.9, 21)
    across, left, bottom, height = 15, 20, 126, 90
    parts, spoken = [], []
    for name, values in errors.items():
        counts = np.histogram(values, edges)[0]
        share = counts / counts.max()
        parts.append(text(left + 10 * across, 16, name, MIDDLE))
        for number, part in enumerate(share):
            if part > 0:
                parts.append(
                    f'<rect x="{left + number * across}" y="{bottom - height * part:.1f}" width="{across - 1}" '
                    f'height="{height * part:.1f}" fill="{COLOURS[0]}" fill-opacity="0.75"/>'
                )
        parts.append(f'<path d="M{left} {bottom}h{20 * across}" {LINE}/>')
        for tick in -1.0, -0.5, 0.0, 0.5:
            x = left + (tick + 1.1) * 10 * across
            parts.append(f'<path d="M{x:.1f} {bottom}v5" {LINE}/>')
            parts.append(
                text(x, bottom + 20, f"{tick:g}".replace("-", "−"), MIDDLE, SMALL)
            )
        spoken.append(f"{name}: from {min(values):.1f} to {max(values):.1f}")
        left += 20 * across + 40
    parts.append(
        text(left / 2 - 10, bottom + 42, "units in the last place", MIDDLE, SMALL)
    )
    label = f"How far the elements are from the exact product, away from 0. {'; '.join(spoken)}."
    return HTML(drawing(parts, left - 20, bottom + 50, label, style=FITTING))
