"""How long an op with its gradient takes, by where the gradient comes from: Python, or C++ by way of Python.

The op and its input are small, so that what is measured is the way.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from cc_gradients import cpp_gradient, squared_relu
from measure import differentiated, run_turns, traced, turns

BASE = "in Python"
SIZE = 1000


def replaced(gradient: Callable) -> Callable:
    """The op with another gradient: a function of the input and of what comes in."""

    @tf.custom_gradient
    def op(x: tf.Tensor) -> tuple[tf.Tensor, Callable]:
        return squared_relu(x), lambda dy: gradient(x, dy)

    return op


WAYS = {
    BASE: replaced(lambda x, dy: 2 * tf.nn.relu(x) * dy),
    "the bridge": squared_relu,
    "traced anew": replaced(lambda x, dy: cpp_gradient(squared_relu, [x], [dy])[0]),
}


def measure(mode: str, rounds: int, span: float) -> list[dict]:
    """The rows of the table for a mode, after a check that all ways give the same."""
    x = tf.constant(np.random.default_rng(0).normal(size=SIZE), tf.float32)
    call = traced if mode == "tf.function" else partial
    runs = {name: call(differentiated(op), x) for name, op in WAYS.items()}
    for run in runs.values():
        np.testing.assert_allclose(run(), runs[BASE](), rtol=1e-6)
    return turns({"mode": mode}, runs, rounds, span)


def main() -> None:
    notes = [
        f"times of the op SquaredRelu and its gradient, {SIZE} float32 numbers: the median of the rounds",
        f"ratio: to the time with the gradient {BASE} in the same round, with median, q1 and q3",
    ]
    modes = ("eager",), ("tf.function",)
    run_turns(__file__, __doc__, notes, measure, cases=modes)


if __name__ == "__main__":
    main()
