"""The Python side: load the library, wrap the op, register the gradient."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(
    Path(__file__).with_name("libcc_tests.so"), "op_by_op_softshrink"
)


def softshrink(x, bound: float = 0.5, name: str | None = None) -> tf.Tensor:
    """Moves each element by `bound` towards zero, and no further than zero.

    Args:
      x: Of any shape, float32 or float64.
      bound: 0 or more.
      name: Of the node.

    Returns:
      A tensor like `x`.

    Raises:
      tf.errors.InvalidArgumentError: `bound` is negative or no number, in eager execution.
      ValueError: The same in a `tf.function`.
    """
    # Without a name the node would be called OpByOp>Softshrink, and errors would lose its line.
    return _library.op_by_op_softshrink(x=x, bound=bound, name=name or "softshrink")


@tf.RegisterGradient("OpByOp>Softshrink")
def _softshrink_grad(op: tf.Operation, grad: tf.Tensor) -> tf.Tensor:
    """Where y is 0, x was within the bound."""
    return tf.math.multiply_no_nan(grad, tf.square(tf.sign(op.outputs[0])))
