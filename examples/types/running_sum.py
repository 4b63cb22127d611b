"""The Python side of RunningSum: load the library, wrap the op, register its gradient."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(Path(__file__).with_name("libtypes.so"), "running_sum")


def running_sum(values, name: str | None = None) -> tf.Tensor:
    """Adds up the elements along the last axis, and returns the sum so far, as `np.cumsum` does.

    float16 and bfloat16 are added in float32, and each sum is rounded once.

    Args:
      values: A tensor, or what converts to one: any shape; float16, bfloat16, float32 or float64.
      name: Of the op in the graph.

    Returns:
      A tensor of the same shape and dtype.

    Raises:
      tf.errors.InvalidArgumentError: Another dtype, in eager execution.
      TypeError: Another dtype, in a `tf.function`.
    """
    return _library.running_sum(values=values, name=name)


@tf.RegisterGradient("RunningSum")
def _running_sum_grad(op: tf.Operation, grad: tf.Tensor) -> tf.Tensor:
    """An element is in its own sum and in all later ones, so the gradients add up from the end."""
    shape = tf.shape(grad)
    # [-1, shape[-1]] would fail for a scalar and for no elements.
    rows = tf.reshape(
        grad, tf.stack([tf.reduce_prod(shape[:-1]), tf.reduce_prod(shape[-1:])])
    )
    return tf.reshape(tf.reverse(running_sum(tf.reverse(rows, [1])), [1]), shape)
