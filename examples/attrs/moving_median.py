"""The Python side of MovingMedian: a ValueError for a wrong window, compositions to compare with, and the gradient."""

import operator
from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_path = Path(__file__).with_name("libmoving_median.so")
_library = load_op_library(_path, "moving_median")


def moving_median(signal, window: int = 3, name: str | None = None) -> tf.Tensor:
    """The median of a window that slides along the last axis; its ends are repeated.

    A window with a NaN in it has the median NaN.

    Args:
      signal: A tensor, or what converts to one, [..., length]: float32 or float64.
      window: How many elements a window has: odd, and at most length. A Python integer.
      name: Of the op in the graph.

    Returns:
      The medians, of the same dtype and shape.

    Raises:
      ValueError: `window` is even or below 1; eagerly also above length, or for another dtype of `signal`.
      TypeError: `window` is no integer; in a `tf.function` also for another dtype.
      tf.errors.InvalidArgumentError: In a `tf.function`, `window` is above length.
    """
    window = operator.index(window)
    if not -(2**63) <= window < 2**63:
        raise ValueError(f"window must be a number of 64 bits, but is {window}")
    try:
        return _library.moving_median(signal=signal, window=window, name=name)
    except tf.errors.InvalidArgumentError as error:
        raise ValueError(str(error)) from error


def stock_moving_median(signal: tf.Tensor, window: int = 3) -> tf.Tensor:
    """The same composed of TensorFlow's ops: without checks, and not for NaN."""
    rows = tf.experimental.numpy.atleast_1d(signal)
    length = tf.shape(rows)[-1]
    places = tf.range(length)[:, None] + tf.range(window) - window // 2
    windows = tf.gather(rows, tf.clip_by_value(places, 0, length - 1), axis=-1)
    medians = tf.sort(windows)[..., window // 2]  # windows: [..., length, window]
    return tf.reshape(medians, tf.shape(signal))


def network_moving_median(signal: tf.Tensor, window: int = 3) -> tf.Tensor:
    """The same without sorting each window, for one axis and a small `window`; not for NaN."""
    half, length = window // 2, tf.size(signal)
    ends = tf.repeat(signal[:1], half), tf.repeat(signal[-1:], half)
    padded = tf.concat([ends[0], signal, ends[1]], 0)
    shifted = [padded[k : k + length] for k in range(window)]
    for turn in range(window):  # neighbours swap until all are in order
        for k in range(turn % 2, window - 1, 2):
            x, y = shifted[k : k + 2]
            shifted[k : k + 2] = tf.minimum(x, y), tf.maximum(x, y)
    return shifted[half]


@tf.RegisterGradient("MovingMedian")
def _moving_median_grad(op: tf.Operation, grad: tf.Tensor) -> tf.Tensor:
    """A median is one of the elements, and its gradient goes to that element; of NaN, to any of its window."""
    signal, window = op.inputs[0], op.get_attr("window")
    with tf.GradientTape() as tape:
        tape.watch(signal)
        medians = stock_moving_median(signal, window)
    return tape.gradient(medians, signal, tf.convert_to_tensor(grad))
