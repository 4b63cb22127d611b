"""How long Standardize takes beside loops, NumPy and TensorFlow's ops, and what the ways to add up a row take.

The loops are in eigen.cc, and use one thread. All but NumPy run inside of a `tf.function`; for each number of threads
there is a process of its own.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from compiler import compiled_op
from eigen import standardize
from eigen_reference import standardize_reference
from turns import Case, compiled_by_xla, run_turns, traced
from wrong_eigen import WAYS, row_mean

SIZES = (1000, 1000), (100_000, 64), (64, 100_000)


def composed(x: tf.Tensor) -> tf.Tensor:
    centred = x - tf.reduce_mean(x, axis=1, keepdims=True)
    variance = tf.reduce_mean(tf.square(centred), axis=1, keepdims=True)
    return centred * tf.math.rsqrt(variance + 1e-6)


def cases(threads: int) -> Iterator[Case]:
    loops = compiled_op("StandardizeLoops", Path(__file__).with_suffix(".cc"), [])
    for size in SIZES:
        numbers = np.random.default_rng(0).normal(size=size).astype(np.float32)
        x = tf.constant(numbers)
        ways = {"Standardize": standardize, "loops": loops, "composed": composed}
        ways |= {"composed, XLA": compiled_by_xla(composed)}
        runs = {name: traced(way, x) for name, way in ways.items()}
        runs |= {"NumPy": partial(standardize_reference, numbers)}
        shape = "{} × {}".format(*size)
        yield Case({"task": "standardize", "size": shape}, runs, atol=1e-3)
        ways = {way: partial(row_mean, way=way) for way in WAYS}
        runs = {name: traced(way, x) for name, way in ways.items()}
        yield Case({"task": "mean", "size": shape}, runs, atol=1e-3)


if __name__ == "__main__":
    notes = [
        "milliseconds: of a call, float32, the median of the rounds",
        "size: rows × columns",
        "mean: of each row, by Eigen's mean or sum, with the axis as a value or as a type",
    ]
    run_turns(cases, notes, rounds=21, threads=True)
