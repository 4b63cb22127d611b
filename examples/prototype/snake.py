"""The Python side of Snake: load the library, wrap the op, register its gradient."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(Path(__file__).with_name("libprototype.so"), "snake")


def snake(x) -> tf.Tensor:
    """Computes `x + sin(x)^2`, element by element: https://arxiv.org/abs/2006.08195.

    Args:
      x: A tensor, or what converts to one: any shape; float32 or float64.

    Returns:
      A tensor of the same shape and dtype.

    Raises:
      tf.errors.InvalidArgumentError: Another dtype, in eager execution.
      TypeError: Another dtype, in a `tf.function`.
    """
    return _library.snake(x=x)


@tf.RegisterGradient("Snake")
def _snake_grad(op: tf.Operation, grad: tf.Tensor) -> tf.Tensor:
    return grad * (1 + tf.sin(2 * op.inputs[0]))
