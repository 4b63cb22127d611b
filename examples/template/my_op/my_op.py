"""The Python side of MyOp: load the library, wrap the op, register its gradient."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(Path(__file__).with_name("libmy_op.so"), "my_op")


def my_op(x, name: str | None = None) -> tf.Tensor:
    """Squares each element.

    Args:
      x: A tensor, or what converts to one: any shape; float32 or float64.
      name: Of the op in the graph.

    Returns:
      A tensor of the same shape and dtype.

    Raises:
      tf.errors.InvalidArgumentError: Another dtype, in eager execution.
      TypeError: Another dtype, in a `tf.function`.
    """
    return _library.my_op(x=x, name=name)


@tf.RegisterGradient("MyOp")
def _my_op_grad(op: tf.Operation, grad: tf.Tensor) -> tf.Tensor:
    """The derivative of x * x is 2 * x."""
    return 2 * op.inputs[0] * grad
