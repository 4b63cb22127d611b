"""How long Snake and LogCosh take beside formulas that suit XLA better than those of bench/elementwise.py."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from compiler import NEWER, compiled_op
from elementwise import log_cosh
from measure import compiled_by_xla, run_turns, traced, trained, turns
from processes import by_threads
from snake import snake

SIZE = 1_000_000
AVX2 = "AVX2 and FMA"


def polynomial(x: tf.Tensor) -> tf.Tensor:
    """Snake by the Taylor polynomial of the sine, whose square repeats after π, which two numbers subtract exactly."""
    turns = tf.round(x / np.float32(np.pi))
    near = x - turns * np.float32(3.140625) - turns * np.float32(np.pi - 3.140625)
    square, series = tf.square(near), 0.0
    for last in (11, 9, 7, 5, 3):
        series = (1 + series) * square * np.float32(-1 / (last * (last - 1)))
    return x + tf.square(near * (1 + series))


def softplus(x: tf.Tensor) -> tf.Tensor:
    return x + tf.nn.softplus(-2.0 * x) - np.log(2)


def logarithm(x: tf.Tensor) -> tf.Tensor:
    """LogCosh by the plain logarithm, with as many right digits as by `softplus`."""
    size = tf.abs(x)
    return size + tf.math.log(1 + tf.exp(-2 * size)) - np.log(2)


def tasks() -> dict[str, dict[str, Callable]]:
    """From a task to functions of x, ours first."""
    source = Path(__file__).with_name("elementwise.cc")
    options = ["-DFUNCTOR=Snake", *(f"-m{word}" for word in NEWER[AVX2])]
    headers = [source.parents[1] / "examples" / "elementwise" / "log_cosh.h"]
    compositions = {"softplus, XLA": softplus, "logarithm, XLA": logarithm}
    steps = {name: trained(way) for name, way in compositions.items()}
    compiled = {
        "Snake": {
            "sine, XLA": lambda x: x + tf.square(tf.sin(x)),
            "polynomial, XLA": polynomial,
        },
        "LogCosh": compositions,
        "LogCosh, forward and gradient": steps,
    }
    ours = {
        "Snake": {
            "Snake": snake,
            f"for {AVX2}": compiled_op("SnakeForAvx2Alone", source, options, headers),
            "sine": lambda x: x + tf.square(tf.sin(x)),
        },
        "LogCosh": {"LogCosh": log_cosh},
        "LogCosh, forward and gradient": {"LogCosh": trained(log_cosh)},
    }
    return {
        task: ours[task] | {name: compiled_by_xla(way) for name, way in ways.items()}
        for task, ways in compiled.items()
    }


def measure(threads: int, rounds: int, span: float) -> list[dict]:
    """The rows of the table for a number of threads, after a check that all ways give about the same."""
    rows = []
    x = tf.constant(np.random.default_rng(0).normal(size=SIZE) * 3, tf.float32)
    for task, ways in tasks().items():
        runs = {name: traced(way, x) for name, way in ways.items()}
        expected, *others = (run() for run in runs.values())
        for other in others:
            for one, two in zip(expected, other, strict=True):
                np.testing.assert_allclose(two, one, rtol=1e-5, atol=1e-6)
        rows += turns({"threads": threads, "task": task}, runs, rounds, span)
    return rows


def main() -> None:
    notes = [
        f"milliseconds: of a call in a tf.function, {SIZE} normal numbers with standard deviation 3, float32, the "
        "median of the rounds",
        "ratio: to the op in the same round, with median, q1 and q3",
        "XLA: with jit_compile=True, forward and gradient together",
    ]
    run_turns(__file__, __doc__, notes, by_threads(measure), rounds=25)


if __name__ == "__main__":
    main()
