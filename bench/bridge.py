"""How long an op with its gradient takes, by where the gradient comes from: Python, or C++ by way of Python.

The op and its input are small, so that what is measured is the way.
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from cc_gradients import cpp_gradient, squared_relu
from turns import Case, differentiated, run_turns, traced

SIZE = 1000


def replaced(gradient: Callable) -> Callable:
    """The op with another gradient: a function of the input and of what comes in."""

    @tf.custom_gradient
    def op(x: tf.Tensor) -> tuple[tf.Tensor, Callable]:
        return squared_relu(x), lambda dy: gradient(x, dy)

    return op


WAYS = {
    "in Python": replaced(lambda x, dy: 2 * tf.nn.relu(x) * dy),
    "the bridge": squared_relu,
    "traced anew": replaced(lambda x, dy: cpp_gradient(squared_relu, [x], [dy])[0]),
}


def cases() -> Iterator[Case]:
    x = tf.constant(np.random.default_rng(0).normal(size=SIZE), tf.float32)
    for mode, call in {"eager": partial, "tf.function": traced}.items():
        ways = {name: call(differentiated(op), x) for name, op in WAYS.items()}
        yield Case({"mode": mode}, ways, rtol=1e-6)


if __name__ == "__main__":
    notes = [
        f"times of the op SquaredRelu and its gradient, {SIZE} float32 numbers: the median of the rounds",
    ]
    run_turns(cases, notes)
