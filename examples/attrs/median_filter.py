"""The Python side of MedianFilter. (A module named `attrs` would hide the package of that name.)"""

import operator
from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(Path(__file__).with_name("libattrs.so"), "median_filter")


def median_filter(
    signal, window: int = 3, ends: str = "repeat", name: str | None = None
) -> tf.Tensor:
    """The median of a window that slides along the last axis.

    A window with a NaN in it has the median NaN.

    Args:
      signal: A tensor, or what converts to one, [..., length]: float32 or float64.
      window: How many elements a window has: odd, and at most length. A Python integer.
      ends: Beyond an end, "repeat" the outermost element, or "drop" the windows that reach there.
      name: Of the op in the graph.

    Returns:
      The medians, of the same dtype, [..., length]; with "drop", window - 1 fewer.

    Raises:
      tf.errors.InvalidArgumentError: `window` is even, below 1, above length or beyond int64,
        `ends` is another word, or `signal` is a scalar or of another dtype.
      ValueError: The same, while a `tf.function` is traced, if `window` is within int64.
      TypeError: `window` is no integer; or the dtype, while a `tf.function` is traced.
    """
    window = operator.index(window)
    if window not in range(-(2**63), 2**63):
        message = f"window must fit into an int64, but is {window}"
        raise tf.errors.InvalidArgumentError(None, None, message)
    return _library.median_filter(signal=signal, window=window, ends=ends, name=name)


def stock_median_filter(
    signal: tf.Tensor, window: int = 3, ends: str = "repeat"
) -> tf.Tensor:
    """What `median_filter` computes, of stock ops and without its checks; not for NaN."""
    length, half = tf.shape(signal)[-1], window // 2
    first, end = (-half, length - half) if ends == "repeat" else (0, length - 2 * half)
    places = tf.range(first, end)[:, None] + tf.range(window)
    places = tf.clip_by_value(places, 0, length - 1)
    windows = tf.gather(signal, places, axis=-1)  # [..., medians, window]
    return tf.sort(windows)[..., half]


@tf.RegisterGradient("MedianFilter")
def _median_filter_grad(op: tf.Operation, grad: tf.Tensor) -> tf.Tensor:
    """A median is one of the elements, and its gradient goes to that element; of NaN, to any of its window."""
    signal, window, ends = op.inputs[0], op.get_attr("window"), op.get_attr("ends")
    grad = tf.convert_to_tensor(grad)  # tf.IndexedSlices if medians were gathered
    with tf.GradientTape() as tape:
        tape.watch(signal)
        medians = stock_median_filter(signal, window, ends.decode())
    return tape.gradient(medians, signal, grad)
