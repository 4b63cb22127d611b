"""The ops of the chapter's steps, each from a library of its own."""

import sys
from pathlib import Path

import numpy as np
import tensorflow as tf
from op_library import load_op_library

sys.path.append(str(Path(__file__).with_name("tests")))
from sliding_max_reference import sliding_max_reference  # noqa: E402, F401

_STEPS = Path(__file__).with_name("steps")


def _library(step: int):
    name = f"sliding_max{step}"
    return getattr(load_op_library(_STEPS / f"libstep_{step}.so", name), name)


def step_1(x) -> tf.Tensor:
    return _library(1)(x=x)


def step_2(x, window: int) -> tf.Tensor:
    return _library(2)(x=x, window=window)


def step_3(x, window: int) -> tf.Tensor:
    return _library(3)(x=x, window=window)


def step_4(x, window: int) -> tf.Tensor:
    return _library(4)(x=x, window=window)


def step_5(x, window: int) -> tuple[tf.Tensor, tf.Tensor]:
    return _library(5)(x=x, window=window)


def step_6(x, window: int) -> tuple[tf.Tensor, tf.Tensor]:
    return _library(6)(x=x, window=window)


def step_7(x, window: int) -> tuple[tf.Tensor, tf.Tensor]:
    return _library(7)(x=x, window=window)


def step_8(x, window: int) -> tuple[tf.Tensor, tf.Tensor]:
    return _library(8)(x=x, window=window)


@tf.RegisterGradient("SlidingMax8")
def gradient(
    op: tf.Operation, grad: tf.Tensor, unused_grad_of_position: tf.Tensor
) -> tf.Tensor:
    """Each maximum is a copy of one element of x, which gets the gradient."""
    x, position = op.inputs[0], op.outputs[1]
    n = tf.shape(x, tf.int64)[-1]
    windows = tf.shape(position, tf.int64)[-1]
    row = tf.range(tf.size(position, tf.int64)) // windows
    place = row * n + tf.reshape(position, [-1])
    size = tf.size(x, tf.int64)
    wide = tf.cast(grad, tf.float32) if grad.dtype.size == 2 else grad
    summed = tf.math.unsorted_segment_sum(tf.reshape(wide, [-1]), place, size)
    return tf.cast(tf.reshape(summed, tf.shape(x, tf.int64)), grad.dtype)


def composition(x, window: int) -> tuple[tf.Tensor, tf.Tensor]:
    """The same from TensorFlow's functions: each window is a row of its own, `window` times the memory."""
    windows = tf.signal.frame(x, window, 1, axis=-1)
    first = tf.range(tf.shape(windows, tf.int64)[-2])
    return tf.reduce_max(windows, -1), tf.argmax(windows, -1) + first


@tf.function(autograph=False, jit_compile=True)
def doubled(x: tf.Tensor, window: int) -> tuple[tf.Tensor, tf.Tensor]:
    """The same of TensorFlow's functions, compiled by XLA: each window is two of half its length, which may overlap.

    Args:
      x: `[..., n]`, of a static shape, without NaN.
      window: At most n.
    """
    y, position, length = x, tf.broadcast_to(tf.range(x.shape[-1]), x.shape), 1
    while length < window:
        step = min(length, window - length)
        larger = y[..., step:] > y[..., :-step]
        y = tf.where(larger, y[..., step:], y[..., :-step])
        position = tf.where(larger, position[..., step:], position[..., :-step])
        length += step
    return y, tf.cast(position, tf.int64)


def naive(x, window: int) -> tuple[np.ndarray, np.ndarray]:
    """Two loops of Python, which the C++ code follows."""
    y, position = [], []
    for i in range(len(x) - window + 1):
        best = i
        for j in range(i + 1, i + window):
            if x[j] > x[best]:
                best = j
        y.append(x[best])
        position.append(best)
    return np.array(y), np.array(position)
