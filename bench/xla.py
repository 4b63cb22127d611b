"""A moving average between other steps: not compiled by XLA, beside what XLA compiles, and compiled in three ways."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
import xla_kernel  # noqa: F401  before the first tensor
from turns import Case, compiled_by_xla, run_turns
from xla import blocked, called, composed, exponential_average

SHAPES = [(1000, 16), (1000, 256), (100, 10_000)]


def before(x: tf.Tensor) -> tf.Tensor:
    """What XLA can fuse with the average."""
    return tf.nn.relu(2 * x + 1)


def after(x: tf.Tensor) -> tf.Tensor:
    """Likewise."""
    return tf.tanh(x) * 0.5 + 0.5


def ways() -> dict[str, Callable]:
    """From a name to the three steps."""

    def steps(average: Callable) -> Callable:
        return lambda x: after(average(before(x)))

    parts = [tf.function(step, jit_compile=True) for step in (before, after)]
    found = {
        "nothing compiled": tf.function(steps(exponential_average), autograph=False),
        "op between compiled parts": tf.function(
            lambda x: parts[1](exponential_average(parts[0](x))), autograph=False
        ),
    }
    compiled = {
        "composition in Python": composed,
        "products of blocks": blocked,
        "custom call": called,
        "kernel for XLA": exponential_average,
    }
    return found | {
        name: compiled_by_xla(steps(average)) for name, average in compiled.items()
    }


def cases() -> Iterator[Case]:
    for rows, length in SHAPES:
        random = np.random.default_rng(0)
        x = tf.constant(random.normal(size=(rows, length)), tf.float32)
        calls = {name: partial(way, x) for name, way in ways().items()}
        yield Case({"rows": rows, "length": length}, calls, rtol=1e-5, atol=1e-5)


if __name__ == "__main__":
    notes = [
        "times of a forward pass in a tf.function, float32: the median of the rounds",
    ]
    run_turns(cases, notes)
