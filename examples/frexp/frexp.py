"""The Python side of Frexp: load the library, wrap the op, register its gradient."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(Path(__file__).with_name("libfrexp.so"), "frexp")


def frexp(values, name: str | None = None) -> tuple[tf.Tensor, tf.Tensor]:
    """Takes numbers apart into `mantissa * 2^exponent`.

    Args:
      values: A tensor, or what converts to one: any shape; float32 or float64.
      name: Of the op in the graph.

    Returns:
      A named tuple: `mantissa`, of the same shape and dtype, its magnitude in [0.5, 1) or 0,
      and `exponent`, int32, of the same shape. A NaN or an infinity is its own mantissa, and
      its exponent is 0. The gradient of `mantissa` is `2^-exponent`, also for 0, which has no
      derivative.

    Raises:
      tf.errors.InvalidArgumentError: Another dtype, in eager execution.
      TypeError: Another dtype, in a `tf.function`.
    """
    return _library.frexp(values=values, name=name)


@tf.RegisterGradient("Frexp")
def _frexp_grad(
    op: tf.Operation,
    mantissa_grad: tf.Tensor | tf.IndexedSlices,
    exponent_grad: tf.Tensor | None,
) -> tf.Tensor:
    """Between the jumps of exponent, mantissa is values times a constant, 2^-exponent."""
    exponent = tf.cast(op.outputs[1], mantissa_grad.dtype)
    return mantissa_grad * 2**-exponent
