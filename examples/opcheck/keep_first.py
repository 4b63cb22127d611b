"""The Python side of KeepFirst: load the library, wrap the op, register its gradient."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(Path(__file__).with_name("libkeep_first.so"), "keep_first")


def keep_first(values, count: int = 1, name: str | None = None) -> tf.Tensor:
    """Keeps the first elements of a tensor, in row-major order, and sets all others to zero.

    Args:
      values: A tensor, or what converts to one: any shape; float32, float64 or int32.
      count: How many elements to keep, at least 0; all if there are fewer.
      name: Of the op in the graph.

    Returns:
      A tensor of the same shape and dtype.

    Raises:
      tf.errors.InvalidArgumentError: A negative count, or another dtype, in eager execution.
      ValueError: A negative count, in a `tf.function`.
      TypeError: Another dtype, in a `tf.function`.
    """
    return _library.keep_first(values=values, count=count, name=name)


@tf.RegisterGradient("KeepFirst")
def _keep_first_grad(op: tf.Operation, grad: tf.Tensor) -> tf.Tensor:
    """Only the first elements reach the output, so only their gradients come back."""
    return keep_first(grad, op.get_attr("count"))
