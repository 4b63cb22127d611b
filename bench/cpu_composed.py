"""How long ManhattanDistances takes beside compositions of TensorFlow's ops: a point or a feature at a time."""

from collections.abc import Iterator
from functools import partial

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from cpu import manhattan_distances
from turns import Case, compiled_by_xla, run_turns

SIZES = (1000, 4096, 512), (4000, 256, 64)


def points(points: tf.Tensor, centers: tf.Tensor) -> tf.Tensor:
    """The distances of a point after those of another."""
    return tf.map_fn(lambda x: tf.reduce_sum(tf.abs(x - centers), axis=-1), points)


def features(points: tf.Tensor, centers: tf.Tensor) -> tf.Tensor:
    """Of all distances what a feature contributes, and then what the next one does."""
    pairs = zip(tf.unstack(points, axis=1), tf.unstack(centers, axis=1))
    return tf.add_n([tf.abs(x[:, None] - y) for x, y in pairs])


def cases(threads: int) -> Iterator[Case]:
    random = np.random.default_rng(0)
    for count, centers, size in SIZES:
        inputs = [
            tf.constant(random.random((n, size), np.float32)) for n in (count, centers)
        ]
        ways = {
            "ManhattanDistances": tf.function(manhattan_distances, autograph=False),
            "tf.map_fn": tf.function(points, autograph=False),
            "features, XLA": compiled_by_xla(features),
        }
        runs = {name: partial(way, *inputs) for name, way in ways.items()}
        columns = {"points": count, "centers": centers, "size": size}
        yield Case(columns, runs, rtol=1e-4)


if __name__ == "__main__":
    notes = [
        "milliseconds: of a call of a tf.function, the median of the rounds",
        "size: so many features, float32, of points and of centers",
        "features, XLA: a sum of as many differences as there are features, with jit_compile=True",
    ]
    run_turns(cases, notes, rounds=7, threads=True)
