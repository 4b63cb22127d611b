"""The Python side: load the library, wrap the ops, register their gradients."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(
    Path(__file__).with_name("libbroadcasting.so"), "abs_difference", "blend"
)


def abs_difference(x, y, name: str | None = None) -> tf.Tensor:
    """Computes |x - y| for each pair of elements, after broadcasting as in NumPy.

    Args:
      x: A tensor of any shape; float16, float32, float64, uint8 or int32.
      y: A tensor of the same dtype, whose shape broadcasts with that of x.
      name: Of the op in the graph.

    Returns:
      A tensor of the common shape. A difference of signed integers that the dtype does not hold wraps around.

    Raises:
      tf.errors.InvalidArgumentError: The shapes do not broadcast, in eager execution.
      tf.errors.UnimplementedError: More than five dimensions are left when those treated alike are merged.
      ValueError: The shapes do not broadcast, in a `tf.function`.
    """
    return _library.abs_difference(x=x, y=y, name=name)


def blend(x, y, weight, name: str | None = None) -> tf.Tensor:
    """Computes (1 - weight) * x + weight * y for each element, after broadcasting as in NumPy.

    Args:
      x: A tensor of any shape; float32 or float64.
      y: Of the same dtype.
      weight: How much of `y` there is in the result; of the same dtype. The three shapes broadcast.
      name: Of the op in the graph.

    Returns:
      A tensor of the common shape. Of finite numbers, a weight of 0 gives `x` and a weight of 1 gives `y`, exactly.

    Raises:
      tf.errors.InvalidArgumentError: The shapes do not broadcast, in eager execution.
      ValueError: The same in a `tf.function`.
    """
    return _library.blend(x=x, y=y, weight=weight, name=name)


def sum_to(x: tf.Tensor, gradient: tf.Tensor) -> tf.Tensor:
    """Adds the gradients that arrive for each element of an input that was repeated.

    Args:
      x: The input.
      gradient: In the shape of the output.

    Returns:
      The gradient in the shape of `x`.
    """
    repeated, _ = tf.raw_ops.BroadcastGradientArgs(
        s0=tf.shape(x), s1=tf.shape(gradient)
    )
    return tf.reshape(tf.reduce_sum(gradient, repeated), tf.shape(x))


@tf.RegisterGradient("AbsDifference")
def _abs_difference_gradient(op: tf.Operation, dz: tf.Tensor) -> list[tf.Tensor]:
    x, y = op.inputs
    up = tf.sign(x - y) * dz
    return [sum_to(x, up), sum_to(y, -up)]


@tf.RegisterGradient("Blend")
def _blend_gradient(op: tf.Operation, dz: tf.Tensor) -> list[tf.Tensor]:
    x, y, weight = op.inputs
    return [
        sum_to(x, (1 - weight) * dz),
        sum_to(y, weight * dz),
        sum_to(weight, (y - x) * dz),
    ]
