"""The Python side of ZeroSmall, an op with two inputs."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(Path(__file__).with_name("libzero_small.so"), "zero_small")


def zero_small(x, threshold, name: str | None = None) -> tf.Tensor:
    """Sets the elements whose absolute value is below a threshold to zero.

    Args:
      x: A float32 tensor, or anything that converts to one, of any shape. Eagerly, NumPy arrays of other dtypes do.
      threshold: A scalar, float32.
      name: The name of the op in the graph.

    Returns:
      A float32 tensor of the shape of `x`.

    Raises:
      tf.errors.InvalidArgumentError: `threshold` is no scalar, or a tensor has another dtype.
      ValueError: `threshold` is no scalar, while a `tf.function` is traced.
      TypeError: Another dtype, while a `tf.function` is traced.
    """
    return _library.zero_small(x=x, threshold=threshold, name=name)


@tf.RegisterGradient("ZeroSmall")
def _zero_small_grad(op: tf.Operation, grad: tf.Tensor) -> list[tf.Tensor | None]:
    """What was set to zero does not change with x; the threshold has no gradient."""
    x, threshold = op.inputs
    return [tf.where(tf.abs(x) < threshold, 0.0, grad), None]
