"""How long LogCosh and AbsDifference take: with packets and without, and beside TensorFlow's own ops.

`python bench/elementwise.py` prints the figures and writes them to elementwise.csv beside this file.
It compiles other variants of LogCosh, from elementwise.cc. All run inside of a `tf.function`; for each number of
threads there is a process of its own. Ratios are taken within a round, in which every way takes its turn.
"""

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import numpy as np
import tensorflow as tf
from compiler import NEWER, can, compiled_op
from measure import run_turns, traced, turns
from processes import by_threads

ROOT = Path(__file__).parents[1]
sys.path[:0] = [
    str(ROOT / "examples" / "common"),
    str(ROOT / "examples" / "elementwise"),
]

from elementwise import abs_difference, log_cosh, log_cosh_plain  # noqa: E402

SOURCE = Path(__file__).with_suffix(".cc")
SIZE = 1_000_000
PROCESSORS = {"AVX": ("avx",), "AVX2 and FMA": NEWER["AVX2 and FMA"]}
# What broadcasting does to x and y.
SHAPES = {
    "equal shapes": ([1000, 1000], [1000, 1000]),
    "a row": ([1000, 1000], [1000]),
    "a column": ([1000, 1000], [1000, 1]),
    "a column and a row": ([1000, 1], [1, 1000]),
    "three channels": ([333_333, 3], [3]),
}


def variant(name: str, functor: str, *options: str) -> Callable:
    """LogCosh with a functor, compiled with more options."""
    headers = [ROOT / "examples" / "elementwise" / "log_cosh.h"]
    return compiled_op(name, SOURCE, [f"-DFUNCTOR={functor}", *options], headers)


def keras_formula(x: tf.Tensor) -> tf.Tensor:
    """What `keras.losses.log_cosh` computes before the mean."""
    return x + tf.nn.softplus(-2.0 * x) - np.log(2)


def unary_ways() -> dict[str, Callable]:
    """Ways to compute LogCosh, and ops of TensorFlow's of the same kind."""
    ways = {
        "LogCosh": log_cosh,
        "LogCoshOfOne": log_cosh_plain,
        "one by one": variant("LogCoshOneByOne", "OneByOne"),
    }
    for processor, words in PROCESSORS.items():
        if can(*words):
            name = f"LogCosh{words[0].title()}"
            options = [f"-m{word}" for word in words]
            ways[f"for {processor}"] = variant(name, "LogCosh<float>", *options)
    return ways | {"four stock ops": keras_formula}


def compared(
    task: str, ways: Mapping[str, Callable], inputs: list, rounds: int, span: float
) -> list[dict]:
    """The rows of one comparison: traced, run in turn, and ours first."""
    runs = {name: traced(way, *inputs) for name, way in ways.items()}
    base = next(iter(runs))
    return [
        {"task": task, "way": name} | figures
        for name, figures in turns(runs, rounds, span, base)
    ]


def check(ways: Mapping[str, Callable], inputs: list, **tolerance: float) -> None:
    """Whether all give the same as the first."""
    expected, *others = (np.asarray(way(*inputs), float) for way in ways.values())
    for other in others:
        np.testing.assert_allclose(other, expected, **tolerance)


def measure(threads: int, rounds: int, span: float) -> list[dict]:
    """The rows of the table for a number of threads, after a check that all ways give the same."""
    random, rows = np.random.default_rng(0), []

    x = tf.constant(random.normal(size=SIZE) * 3, tf.float32)
    ways = unary_ways()
    check(ways, [x], rtol=1e-5, atol=1e-6)
    ways |= {"tf.tanh": tf.tanh, "tf.nn.softplus": tf.nn.softplus}
    rows += compared("float32", ways, [x], rounds, span)
    for dtype in tf.float64, tf.float16, tf.bfloat16:
        ways = {"LogCosh": log_cosh, "tf.nn.softplus": tf.nn.softplus}
        rows += compared(dtype.name, ways, [tf.cast(x, dtype)], rounds, span)

    ways = {
        "AbsDifference": abs_difference,
        "tf.abs(x - y)": lambda x, y: tf.abs(x - y),
    }
    own = {"tf.math.squared_difference": tf.math.squared_difference}
    for task, shapes in SHAPES.items():
        inputs = [tf.constant(random.normal(size=s), tf.float32) for s in shapes]
        check(ways, inputs, rtol=0)
        rows += compared(task, ways | own, inputs, rounds, span)
    frames = [tf.constant(random.integers(256, size=SIZE), tf.uint8) for _ in "xy"]
    ways = {
        "AbsDifference": abs_difference,
        "maximum − minimum": lambda x, y: tf.maximum(x, y) - tf.minimum(x, y),
    }
    check(ways, frames)
    rows += compared("uint8", ways, frames, rounds, span)
    return [{"threads": threads} | row for row in rows]


def main() -> None:
    notes = [
        f"times of a call in a tf.function, {SIZE} random numbers, float32 if not said: the median of the rounds",
        "ratio: to the time of our op in the same round, with median, q1 and q3",
        "span: there are many ways, so each has a third of the span in a round",
    ]

    run_turns(Path(__file__), __doc__.splitlines()[0], notes, by_threads(measure, 3))


if __name__ == "__main__":
    main()
