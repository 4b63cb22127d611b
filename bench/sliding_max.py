"""How long the maximum of each window takes: the op, its step with plain loops, and TensorFlow's compositions.

TensorFlow is as it comes, on all cores.
"""

from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from sliding_max import sliding_max
from sliding_max_steps import composition, doubled, step_6, step_7
from turns import Case, run_turns, traced

SIZES = {"random, one row": (1, 2**20)}
USUAL = 64, 16_384
REPEATED = 32
WINDOWS = [4, 32, 256]
CASES = [
    *product(["random", "falling"], WINDOWS),
    ("repeated", 4),
    ("random, one row", 256),
]


def pooled(x: tf.Tensor, window: int) -> tuple[tf.Tensor, tf.Tensor]:
    """By max pooling over an image of one row for each signal; the position is in the whole image."""
    image = x[:, tf.newaxis, :, tf.newaxis]
    size = [1, 1, window, 1]
    y, position = tf.nn.max_pool_with_argmax(image, size, [1, 1, 1, 1], "VALID")
    return y[:, 0, :, 0], position[:, 0, :, 0]


WAYS = {
    "op": sliding_max,
    "one core": step_7,
    "plain loops": step_6,
    "frames": composition,
    "max_pool_with_argmax": pooled,
    "doubled, XLA": doubled,
}


def signal(kind: str, rows: int, columns: int) -> np.ndarray:
    """Random numbers, some of them again and again, or ever smaller ones."""
    random = np.random.default_rng(0).normal(size=(rows, columns))
    if kind == "repeated":
        random = np.tile(random[:1, :REPEATED], [rows, columns // REPEATED])
    if kind == "falling":
        random = -np.arange(columns, dtype=np.float64) * np.ones([rows, 1])
    return random.astype(np.float32)


def cases() -> Iterator[Case]:
    for kind, window in CASES:
        size = SIZES.get(kind, USUAL)
        x = tf.constant(signal(kind, *size))
        ways = {
            name: traced(partial(way, window=window), x) for name, way in WAYS.items()
        }
        columns = dict(zip(("rows", "columns"), size))
        yield Case(columns | {"signal": kind, "window": window}, ways)


if __name__ == "__main__":
    notes = [
        "milliseconds: of a call in a tf.function, the median of the rounds",
        f"repeated: {REPEATED} random numbers, again and again",
        "ways: SlidingMax; its step 7, the same loop on one core; its step 6, two plain loops on one core; "
        "tf.signal.frame with reduce_max and argmax; tf.nn.max_pool_with_argmax; "
        "windows of twice the length in each step, with jit_compile=True",
    ]
    run_turns(cases, notes)
