"""The Python side of Softsign: load the library, wrap the op, register its gradient."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(
    Path(__file__).with_name("libsoftsign.so"), "op_by_op_softsign"
)


def softsign(x, name: str | None = None) -> tf.Tensor:
    """Computes `x / (1 + |x|)`.

    Args:
      x: A tensor, or what converts to one: of any shape, float32.
      name: Of the op in the graph.

    Returns:
      Like `x`.

    Raises:
      tf.errors.InvalidArgumentError: Another dtype, in eager execution.
      ValueError, TypeError: The same in a `tf.function`.
    """
    return _library.op_by_op_softsign(x=x, name=name)


@tf.RegisterGradient("OpByOp>Softsign")
def _softsign_grad(op: tf.Operation, grad: tf.Tensor) -> tf.Tensor:
    return grad / tf.square(1 + tf.abs(op.inputs[0]))
