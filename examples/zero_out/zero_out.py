"""The Python side of ZeroOut: load the library, wrap the op, register its gradient."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(Path(__file__).with_name("libzero_out.so"), "zero_out")


def zero_out(to_zero, name: str | None = None) -> tf.Tensor:
    """Keeps the first element, in row-major order, and sets all others to zero.

    Args:
      to_zero: A tensor or anything that converts to one: any shape; float32, float64 or int32.
      name: The name of the op in the graph.

    Returns:
      A tensor of the same shape and dtype.

    Raises:
      tf.errors.InvalidArgumentError: Another dtype, in eager execution.
      TypeError: Another dtype, in a `tf.function`.
    """
    return _library.zero_out(to_zero=to_zero, name=name)


@tf.RegisterGradient("ZeroOut")
def _zero_out_grad(op: tf.Operation, grad: tf.Tensor) -> tf.Tensor:
    """Only the first element reaches the output, so only its gradient comes back."""
    return zero_out(grad)
