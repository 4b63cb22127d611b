"""How long an activation takes that TensorFlow lacks: composed, compiled by XLA, in NumPy and as an op in C++."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import snake as in_cpp
import snake_in_numpy as in_numpy
import tensorflow as tf
from turns import Case, compiled_by_xla, differentiated, run_turns

SIZES = [10, 1000, 100_000, 10_000_000]
NODES = 30  # of a model that calls it so often
CHAIN = f"tf.function, {NODES} nodes"
STEP = f"forward and gradient, {NODES} nodes"


def composed(x: tf.Tensor) -> tf.Tensor:
    """Snake of functions that TensorFlow has."""
    return x + tf.square(tf.sin(x))


def chained(way: Callable) -> Callable:
    """A function that calls it again and again: the cost of a node, where a call of the function counts little."""

    def calls(x: tf.Tensor) -> tf.Tensor:
        for _ in range(NODES):
            x = way(x)
        return x

    return calls


def ways(mode: str) -> dict[str, Callable]:
    """From a name to Snake, eagerly, in a `tf.function`, or many in one, with their gradient or without."""
    found = {"C++ op": in_cpp.snake, "composed": composed, "NumPy": in_numpy.snake}
    if mode in (CHAIN, STEP):
        found = {name: chained(way) for name, way in found.items()}
        if mode == STEP:
            found = {name: differentiated(way) for name, way in found.items()}
        return {name: tf.function(way, autograph=False) for name, way in found.items()}
    if mode == "eager":
        return found
    found = {name: tf.function(way, autograph=False) for name, way in found.items()}
    return {**found, "composed, XLA": compiled_by_xla(composed)}


def cases() -> Iterator[Case]:
    alone = product(("eager", "tf.function"), SIZES)
    in_one = product((CHAIN, STEP), SIZES[:1])
    for mode, size in (*alone, *in_one):
        x = tf.constant(np.random.default_rng(0).normal(scale=3, size=size), tf.float32)
        calls = {name: partial(way, x) for name, way in ways(mode).items()}
        yield Case({"mode": mode, "size": size}, calls, rtol=1e-3, atol=1e-5)


if __name__ == "__main__":
    notes = [
        "times, float32: the median of the rounds; TensorFlow's settings as it comes, oneDNN on",
    ]
    run_turns(cases, notes)
