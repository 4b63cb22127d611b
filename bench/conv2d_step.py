"""How long a convolution with both gradients takes in each dtype, and with one gradient alone, eagerly and in a graph.

The op of the chapter, beside TensorFlow's. For each number of threads there is a process of its own.
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from conv2d import conv2d
from turns import Case, run_turns, traced

# How far results may be apart, relative to the largest.
TYPES = {"float64": 1e-12, "float32": 1e-5, "half": 1e-2, "bfloat16": 1e-1}


def inputs(
    x_shape: list[int], filter_shape: list[int], stride: int, dtype: str = "float32"
) -> list[tf.Tensor]:
    """Images, a filter, and what flows back to the result, for padding SAME."""
    random = np.random.default_rng(0)
    windows = [-(-size // stride) for size in x_shape[1:3]]
    shapes = x_shape, filter_shape, [x_shape[0], *windows, filter_shape[3]]
    return [tf.constant(random.normal(size=shape), dtype) for shape in shapes]


def step(op: Callable, stride: int, x, filter, dy, filter_alone: bool = False) -> list:
    """The result, and the gradient of both inputs or of the filter."""
    sources = [filter] if filter_alone else [x, filter]
    with tf.GradientTape() as tape:
        tape.watch(sources)
        y = op(x, filter, stride, "SAME")
    return [y, *tape.gradient(y, sources, dy)]


def cases(threads: int) -> Iterator[Case]:
    for dtype, near in TYPES.items():
        given = inputs([4, 28, 28, 64], [3, 3, 64, 64], 1, dtype)
        largest = max(
            np.abs(np.asarray(each, float)).max() for each in step(conv2d, 1, *given)
        )
        runs = {
            way: traced(partial(step, op, 1), *given)
            for way, op in {"ours": conv2d, "TensorFlow": tf.nn.conv2d}.items()
        }
        yield Case({"task": dtype}, runs, atol=near * largest)
    given = inputs([4, 56, 56, 3], [7, 7, 3, 64], 2)
    both = partial(step, conv2d, 2)
    alone = partial(both, filter_alone=True)
    ways = {
        "both gradients, eagerly": partial(both, *given),
        "that for the filter, eagerly": partial(alone, *given),
        "both gradients, tf.function": traced(both, *given),
        "that for the filter, tf.function": traced(alone, *given),
    }
    yield Case({"task": "7 × 7, 3 channels"}, ways, unlike=[*ways][1:])


if __name__ == "__main__":
    notes = [
        "times of the result and its gradients, of tapes in a tf.function if not said: the median of the rounds",
        "float64 to bfloat16: [4, 28, 28, 64] and 64 filters of 3 × 3; 7 × 7: [4, 56, 56, 3], 64 filters, stride 2",
    ]
    run_turns(cases, notes, rounds=15, span=0.05, threads=True)
