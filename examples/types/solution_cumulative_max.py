"""The Python side of CumulativeMax, the solution of the exercise, with its gradient."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(
    Path(__file__).with_name("libsolution_cumulative_max.so"), "cumulative_max"
)


def cumulative_max(values, name: str | None = None) -> tf.Tensor:
    """Replaces each element by the largest up to it along the last axis, as `np.maximum.accumulate` does.

    Args:
      values: A tensor, or what converts to one: any shape, any real number type.
      name: Of the op in the graph.

    Returns:
      A tensor of the same shape and dtype. A NaN makes all that follow it along that axis NaN.

    Raises:
      tf.errors.InvalidArgumentError: Another dtype, in eager execution.
      TypeError: Another dtype, in a `tf.function`.
    """
    return _library.cumulative_max(values=values, name=name)


@tf.RegisterGradient("CumulativeMax")
def _cumulative_max_grad(op: tf.Operation, grad: tf.Tensor) -> tf.Tensor:
    """Each gradient goes to the element that is the largest there, of equal ones to the first."""
    shape = tf.shape(grad, tf.int64)
    rows, length = tf.reduce_prod(shape[:-1]), tf.reduce_prod(shape[-1:])
    largest = tf.reshape(op.outputs[0], [rows, length])
    before = largest[:, :-1]
    # NaN differs from itself: the first one is new, the later ones are its copies.
    is_new = tf.pad(
        (largest[:, 1:] != before) & tf.equal(before, before), [[0, 0], [1, 0]]
    )
    places = cumulative_max(tf.where(is_new, tf.range(length), 0))
    wide = tf.cast(grad, grad.dtype if grad.dtype.size > 2 else tf.float32)
    sums = tf.math.unsorted_segment_sum(
        tf.reshape(wide, [-1]),
        tf.reshape(places + length * tf.range(rows)[:, tf.newaxis], [-1]),
        rows * length,
    )
    return tf.cast(tf.reshape(sums, shape), grad.dtype)
