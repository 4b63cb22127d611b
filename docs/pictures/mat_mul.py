"""The pictures of the chapter on MatMul: drawn from what ran, was read, or was measured."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import tensorflow as tf
from IPython.display import HTML
from measured import read
from pictures.drawing import bar, line, picture, small
from pictures.layout import Item, at, box, column, grid, row, table
from pictures.plots import Plot

# How lines look, by the row of the picture that they are in.
LOOKS = {
    "elements": {"colour": "orange", "width": 2},
    "rows": {"colour": "orange", "width": 2, "dash": "7 3"},
    "tiles": {"colour": "orange", "width": 3},
    "OpByOp>MatMul": {"colour": "blue", "width": 3},
    "tf.matmul, Eigen alone": {"colour": "blue", "width": 2, "dash": "7 3"},
    "for AVX2 and FMA": {"colour": "blue", "width": 2, "dash": "2 3"},
    "for AVX-512": {"colour": "blue", "width": 2, "dash": "7 3 2 3"},
    "tf.matmul": {"width": 2},
    "tf.matmul, custom ops off": {"width": 2, "dash": "7 3"},
    "peak": {},
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
    return {
        "share": of_512["tf.matmul"] / peak(),
        "ours": of_512["OpByOp>MatMul"] / peak(),
        "newer": of_512["for AVX2 and FMA"] / peak(),
        "newest": of_512["for AVX-512"] / peak(),
        "behind": read("mat_mul").number(size="512", threads="1", way="elements"),
        "swapped": of_512["rows"] / of_512["elements"],
        "odd": rates("elements")[528] / of_512["elements"],
        "tiles": of_512["tiles"] / of_512["rows"],
        "of_eigen": of_512["tiles"] / of_512["OpByOp>MatMul"],
    }


def speeds(ways: Mapping[str, str], label: str) -> HTML:
    """Draws the operations in a second on one thread over the size of matrices, by ways under their names."""
    found = {way: rate for way in ways if (rate := rates(way))}
    sizes, most = list(rates("tf.matmul")), peak()
    least = min(min(rate.values()) for rate in found.values())
    plot = Plot(286, 210, (sizes[0], sizes[-1]), (0.8 * least, 1.6 * most), "xy")
    plot.axes("rows and columns", "10⁹ operations in a second")
    plot.ticks("x", [size for size in sizes if size & (size - 1) == 0])
    plot.ticks("y", [n for n in (0.1, 1, 10, 100) if least <= n])
    plot.line(plot.limits["x"], [most, most], **LOOKS["peak"])
    plot.add(at(8, plot.y(most) + 2, small(f"peak: {most:.0f}"), "nw"))
    for way, rate in found.items():
        plot.named(ways[way], rate.keys(), [*rate.values()], **LOOKS[way])
        says = ", ".join(f"{value:.2g} at {size}" for size, value in rate.items())
        plot.tells(f"{ways[way]}: {says}")
    return picture(plot.shape(), f"{label} The peak is {most:.0f}.")


def order_picture() -> HTML:
    """In which order two of the loops read b; numbers that are neighbours in memory lie in one line."""
    in_order, drawn = np.arange(1, 25), []
    orders = {"three loops": in_order.reshape(6, 4).T}
    orders["swapped loops"] = in_order.reshape(4, 6)
    for caption, steps in orders.items():
        numbers = grid(steps, steps <= 4, width=34, shade=0.3, gap=(0, 6))
        first = [np.argwhere(steps == step)[0] + 1 for step in range(1, 5)]
        where = ", ".join(f"row {row} column {column}" for row, column in first)
        numbers.tells(f"{caption}: the first four are {where}")
        drawn.append(column(f"b, {caption}", numbers))
    label = "The steps in which the numbers of b are read."
    return picture(row(*drawn, gap=44), label)


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


Observed = tuple[list[str], int]


def observed(*forks: tuple[int, Mapping[str, str]], **settings: str) -> list[Observed]:
    """Multiplies matrices of 512 × 512 in forks of a process that has imported TensorFlow and done nothing else.

    Args:
      *forks: How many threads each has, and variables that it sets.
      **settings: Variables of the process, which has none of the book's for oneDNN.

    Returns:
      Of each fork the ops that ran, and how many blocks oneDNN multiplied.
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
        blocks = re.findall(r",exec,.*\b\d+x(\d+):\1x\d+\b", product)
        found.append((json.loads(rest), len(blocks)))
    return found


def who_computes(cases: Mapping[str, Observed]) -> Iterator[tuple[str, str, str]]:
    """Who does what for a product: the setting, the op that runs, and what multiplies."""
    for setting, ([op], count) in cases.items():
        by = {0: "Eigen, in blocks", 1: "oneDNN, all of it"}
        many = f"oneDNN, {count} blocks cut by Eigen"
        yield setting, f"`{op}`", by.get(count, many)


def factor(name: str, transposed: bool) -> str:
    return f"{name}ᵀ" if transposed else name


def formulas(function, a_t: bool, b_t: bool) -> list[str]:
    """The product, and what the nodes of its gradient compute."""
    made = {node.name: node for node in function.node_def}
    lines = [f"c = {factor('a', a_t)} {factor('b', b_t)}"]
    for name in ("da", "db"):
        node = made[function.ret[name].partition(":")[0]]
        left, right = node.input[:2]
        turned = [node.attr[f"transpose_{side}"].b for side in "ab"]
        lines.append(f"{name} = {factor(left, turned[0])} {factor(right, turned[1])}")
    return lines


def rectangle_of(word: str, sizes: Mapping[str, tuple[int, int]]) -> Item:
    """A matrix or its gradient, transposed or not, by the sizes as they are stored; an equals sign as it is."""
    if word == "=":
        return word
    transposed = word.endswith("ᵀ")
    high, wide = sizes[word.strip("dᵀ")][:: -1 if transposed else 1]
    return box(word, 0.3 * transposed, width=13 * wide, height=13 * high, corner=0)


def gradient_picture(described: Mapping[tuple[bool, bool], object]) -> HTML:
    """The four cases, with each matrix as a rectangle of its shape: c is [2, 4], and the sums are of 3 products."""
    drawn = []
    for (a_t, b_t), function in described.items():
        sizes = {"a": (3, 2) if a_t else (2, 3), "b": (4, 3) if b_t else (3, 4)}
        sizes["c"] = 2, 4
        lines = formulas(function, a_t, b_t)
        parts = ([rectangle_of(word, sizes) for word in one.split()] for one in lines)
        drawn.append([row(*each, gap=5) for each in parts])
        drawn[-1][0].tells(", ".join(lines))
    label = "The product and its two gradients, in the four cases:"
    return picture(table(drawn, (18, 28), "start"), label)


def errors_in_last_places(products: Mapping[str, tf.Tensor], exact: np.ndarray) -> dict:
    """How far numbers of bfloat16 are from the exact ones, away from 0, in units of their last place."""
    unit = 2.0 ** (np.floor(np.log2(abs(exact))) - 7)
    return {
        name: ((tf.cast(c, tf.float64).numpy() - exact) * np.sign(exact) / unit).ravel()
        for name, c in products.items()
    }


def rounding_picture(errors: Mapping[str, Sequence[float]]) -> HTML:
    """Two histograms, of which one number is how many tenths of a unit an element is off."""
    drawn = []
    for name, values in errors.items():
        counts, edges = np.histogram(values, np.linspace(-1.1, 0.9, 21))
        plot = Plot(300, 90, (-1.1, 0.9), (0, counts.max()))
        for edge, count in zip(edges, counts):
            if count:
                plot.add(at(plot.x(edge), 90, bar(14, 90 - plot.y(count)), "sw"))
        plot.add(line((0, 90), (300, 90)))
        plot.ticks("x", (-1.0, -0.5, 0.0, 0.5))
        plot.tells(f"{name}: from {min(values):.1f} to {max(values):.1f}")
        drawn.append(column(name, plot.shape(), align="middle"))
    label = "How far the elements are from the exact product, away from 0."
    axis = small("units in the last place")
    return picture(column(*drawn, axis, gap=14, align="middle"), label)
