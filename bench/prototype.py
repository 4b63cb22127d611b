"""How long an activation takes that TensorFlow lacks: composed, compiled by XLA, in NumPy and as an op in C++."""

from collections.abc import Callable
from functools import partial
from itertools import product

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import snake as in_cpp
import snake_in_numpy as in_numpy
import tensorflow as tf
from measure import compiled_by_xla, differentiated, run_turns, turns

BASE = "C++ op"
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
    found = {"composed": composed, "NumPy": in_numpy.snake, BASE: in_cpp.snake}
    if mode in (CHAIN, STEP):
        found = {name: chained(way) for name, way in found.items()}
        if mode == STEP:
            found = {name: differentiated(way) for name, way in found.items()}
        return {name: tf.function(way, autograph=False) for name, way in found.items()}
    if mode == "eager":
        return found
    found = {name: tf.function(way, autograph=False) for name, way in found.items()}
    compiled = compiled_by_xla(composed)
    return {"composed, XLA": compiled, **found}


def measure(mode: str, size: int, rounds: int, span: float) -> list[dict]:
    """The rows of the table for one size, after a check that all ways give the same."""
    x = tf.constant(np.random.default_rng(0).normal(scale=3, size=size), tf.float32)
    functions = ways(mode)
    expected = {CHAIN: chained(composed), STEP: differentiated(chained(composed))}
    expected = expected.get(mode, composed)(x)
    for function in functions.values():
        np.testing.assert_allclose(function(x), expected, rtol=1e-3, atol=1e-5)
    calls = {name: partial(way, x) for name, way in functions.items()}
    return turns({"mode": mode, "size": size}, calls, rounds, span, BASE)


def main() -> None:
    notes = [
        "times, float32: the median of the rounds; TensorFlow's settings as it comes, oneDNN on",
        f"ratio: to the time of {BASE} in the same round, with median, q1 and q3",
    ]
    alone = product(("eager", "tf.function"), SIZES)
    in_one = product((CHAIN, STEP), SIZES[:1])
    run_turns(__file__, __doc__, notes, measure, cases=[*alone, *in_one])


if __name__ == "__main__":
    main()
