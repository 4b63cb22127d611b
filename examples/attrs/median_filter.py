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
      ends: Beyond an end, "repeat" the last element, or "drop" the windows there.
      name: Of the op in the graph.

    Returns:
      The medians, of the same dtype, [..., length]; with "drop", window - 1 less.

    Raises:
      tf.errors.InvalidArgumentError: Another window, word, or rank; or another dtype, in
        eager execution.
      ValueError: The same of what is known when a `tf.function` is traced.
      TypeError: `window` is not an integer; or another dtype, in a `tf.function`.
    """
    return _library.median_filter(
        signal=signal, window=operator.index(window), ends=ends, name=name
    )


@tf.RegisterGradient("MedianFilter")
def _median_filter_grad(op: tf.Operation, grad: tf.Tensor) -> tf.Tensor:
    """A median is one of the elements, and hands its gradient to that one."""
    signal, window = op.inputs[0], op.get_attr("window")
    grad = tf.convert_to_tensor(grad)  # it can be tf.IndexedSlices
    first = 0 if op.get_attr("ends") == b"drop" else -(window // 2)
    places = tf.range(tf.shape(grad)[-1])[:, None] + tf.range(window) + first
    places = tf.clip_by_value(places, 0, tf.shape(signal)[-1] - 1)
    with tf.GradientTape() as tape:
        tape.watch(signal)
        windows = tf.gather(signal, places, axis=-1)  # [..., medians, window]
        medians = tf.sort(windows)[..., window // 2]
    return tf.convert_to_tensor(tape.gradient(medians, signal, grad))
