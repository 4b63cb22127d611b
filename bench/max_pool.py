"""How long max pooling takes: our ops beside TensorFlow's, forward and in a training step.

`python bench/max_pool.py` prints the figures and writes them to max_pool.csv beside this file. `--only REGEX` measures
some of the rows again and keeps the others of the same machine: `--only "1 thread, default, float32, forward"`.

All ways run inside of a `tf.function`. TensorFlow decides about oneDNN when it is loaded, so each setting has a process
of its own for each number of threads, in which our op runs, too. Ratios are taken within a round, in which every way
takes its turn. Before they are timed, all are compared.
"""

import re
import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from compiler import can, compiled_op
from measure import (
    command_line,
    compiled_by_xla,
    cores,
    heading_of,
    kept,
    traced,
    trained,
    turns,
    write,
)
from processes import in_process, with_threads
from tensorflow.python.framework.test_util import IsMklEnabled

ROOT = Path(__file__).parents[1]
SETTINGS = {"default": {}, "oneDNN off": {"TF_ENABLE_ONEDNN_OPTS": "0"}}
# From a window to one image of its layer, the size of a window, the stride, and the padding.
LAYERS = {
    "3 × 3, stride 2": ([112, 112, 64], 3, 2, "SAME"),
    "2 × 2, stride 2": ([56, 56, 256], 2, 2, "VALID"),
    "3 × 3, stride 1": ([35, 35, 192], 3, 1, "SAME"),
}
# How many images a node has, and how many nodes a graph has, one after the other, each with inputs of its own. What a
# call of one image uses is still in a cache when the next one begins.
NODES = {"1": 8, "8": 1, "1, in cache": 1}
TASKS = {
    "float32": ("forward", "forward and gradient", "with argmax"),
    "float16": ("forward",),
    "bfloat16": ("forward",),
    "float64": ("forward",),
}
# MaxPool without what makes it fast: names and options of the compiler.
WITHOUT = {
    "without wide vectors": ("MaxPoolBaseline", "-D__builtin_cpu_supports(x)=false"),
}
if not can("avx2"):
    del WITHOUT["without wide vectors"]
CASE = ["threads", "setting", "type", "task", "layer", "batch"]
Ways = dict[str, Callable]


def variant(name: str, option: str, sizes: dict) -> Callable:
    """Compiles and loads a variant of MaxPool, as a function of an input and of its output."""
    source = Path(__file__).with_suffix(".cc")
    headers = [ROOT / "examples" / "max_pool" / "max_pool.h"]
    op = compiled_op(name, source, [option], headers)
    return lambda x, y: op(input=x, **sizes)


def ways_of(case: dict, inputs: list[tf.Tensor]) -> Ways:
    """The ways of a task, ours first: functions of no arguments that return tensors. All are compared."""
    import max_pool as ours
    from max_pool_slices import max_pool_slices, max_pool_with_argmax_slices

    _, ksize, strides, padding = LAYERS[case["layer"]]
    size = ksize, strides, padding
    if case["task"] == "with argmax":
        ways = {
            "MaxPool": lambda x, y: ours.max_pool_with_argmax(x, *size),
            "TensorFlow": lambda x, y: tf.nn.max_pool_with_argmax(x, *size),
        }
        if case["setting"] == "default":
            ways["slices, XLA"] = lambda x, y: max_pool_with_argmax_slices(x, *size)
    elif case["task"] == "forward and gradient":
        ways = {
            "MaxPool": trained(lambda x: ours.max_pool(x, *size)),
            "TensorFlow": trained(lambda x: tf.nn.max_pool2d(x, *size)),
        }
        if case["setting"] == "default":
            step = trained(lambda x: max_pool_slices(x, *size))
            ways["slices, XLA"] = compiled_by_xla(step)
    else:
        ways = {
            "MaxPool": lambda x, y: ours.max_pool(x, *size),
            "TensorFlow": lambda x, y: tf.nn.max_pool2d(x, *size),
        }
    if case["task"] == "forward" and case["type"] == "float32":
        sizes = dict(ksize=[1, ksize, ksize, 1], strides=[1, strides, strides, 1])
        sizes["padding"] = padding
        if case["setting"] == "default":
            ways["slices, XLA"] = compiled_by_xla(
                lambda x, y: max_pool_slices(x, *size)
            )
        ways["plain"] = lambda x, y: ours.max_pool_plain(x, *size)
        if case["setting"] == "default":
            ways |= {way: variant(*each, sizes) for way, each in WITHOUT.items()}
            if case["batch"] == "8":
                ways["patches"] = lambda x, y: ours.max_pool_patches(x, *size)
    runs = {name: traced(nodes(way), *inputs) for name, way in ways.items()}
    check(runs)
    return runs


def nodes(way: Callable) -> Callable:
    """A way for several pairs of inputs, one node after the other."""

    def graph(*inputs: tf.Tensor) -> list[tf.Tensor]:
        results = []
        for x, y in zip(inputs[::2], inputs[1::2]):
            with tf.control_dependencies(results[-1:]):
                results += tf.nest.flatten(way(x, y))
        return results

    return graph


def check(runs: Ways) -> None:
    """Whether all give the same: the same bits, but for sums of gradients, which oneDNN adds in another order."""
    expected, *others = ([x.numpy() for x in run()] for run in runs.values())
    for other in others:
        for one, two in zip(expected, other, strict=True):
            np.testing.assert_allclose(
                one.astype(float), two.astype(float), rtol=1e-2, atol=1e-2
            )
        if other[0].tobytes() != expected[0].tobytes():
            raise AssertionError(f"{', '.join(runs)} differ")


def cases(threads: int, setting: str) -> Iterator[dict]:
    """What is measured: of other types than float32 eight images, with TensorFlow as it comes."""
    for dtype, tasks in TASKS.items():
        for task, layer, batch in product(tasks, LAYERS, NODES):
            usual = dtype == "float32" and batch != "1, in cache"
            if usual or (setting == "default" and (dtype == "float32" or batch == "8")):
                yield dict(zip(CASE, (threads, setting, dtype, task, layer, batch)))


def named(case: dict) -> str:
    number = int(case["threads"])
    threads = "1 thread" if number == 1 else f"{number} threads"
    return ", ".join([threads, *(str(case[key]) for key in CASE[1:])])


def measure(
    threads: int, setting: str, only: str, rounds: int, span: float
) -> list[dict]:
    """The rows of the table for a number of threads and a setting, with whether oneDNN is on."""
    rows = []
    for case in cases(threads, setting):
        if not re.search(only, named(case)):
            continue
        image, *size = LAYERS[case["layer"]]
        count, inputs = NODES[case["batch"]], []
        images = int(case["batch"].split(",")[0])
        for seed in range(count):
            x = tf.random.stateless_normal([images, *image], [images, seed])
            x = tf.cast(x, case["type"])
            inputs += [x, tf.nn.max_pool2d(x, *size)]
        runs = ways_of(case, inputs)
        case = case | {"oneDNN": "on" if IsMklEnabled() else "off"}
        for row in turns(case, runs, rounds, span):
            time = float(row["milliseconds"]) / count
            rows.append(row | {"milliseconds": f"{time:.4f}"})
    return rows


def main() -> None:
    parser = command_line(__file__, __doc__, rounds=21, span=0.03)
    parser.add_argument("--only", default="", help="a regular expression for cases")
    options = parser.parse_args()
    shapes = "; ".join(
        f"{layer}, {size[2]}: {' x '.join(map(str, image))}"
        for layer, (image, *size) in LAYERS.items()
    )
    notes = [
        "times of a node in a tf.function, random numbers, TensorFlow's memory: the median of the rounds",
        "nodes: with one image a function has eight, one after the other, each with another image; in cache: one",
        "setting: default is TensorFlow as it comes, oneDNN off is TF_ENABLE_ONEDNN_OPTS=0; ours has a row in both",
        f"images: {shapes}",
        "forward and gradient: both in one tf.function, as a training step has them",
        "plain: max_pool_plain, compiled for wide vectors; without wide vectors: MaxPool, compiled without",
        "slices, XLA: examples/max_pool/max_pool_slices.py",
        "ratio: to the time of our op in the same round, with median, q1 and q3",
    ]
    first_lines = heading_of(__file__, options, notes)
    order = [
        named(case)
        for threads, setting in product(sorted({1, cores()}), SETTINGS)
        for case in cases(threads, setting)
    ]
    chosen = [name for name in order if re.search(options.only, name)]
    if not chosen:
        sys.exit(f"bench/max_pool.py: no case is like {options.only}")
    rows = kept(options.output, first_lines, lambda row: named(row) in chosen)
    for threads, (setting, variables) in product(
        sorted({1, cores()}), SETTINGS.items()
    ):
        if any(named(case) in chosen for case in cases(threads, setting)):
            arguments = setting, options.only, options.rounds, options.span
            new = in_process(
                with_threads, measure, threads, *arguments, settings=variables
            )
            for row in new:
                print(*row.values(), sep=", ", flush=True)
            rows += new
    write(
        options.output,
        first_lines,
        sorted(rows, key=lambda row: order.index(named(row))),
    )


if __name__ == "__main__":
    main()
