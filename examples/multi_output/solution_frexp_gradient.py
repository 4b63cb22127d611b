"""The solution of the exercise: importing this module registers a gradient for Frexp."""

import tensorflow as tf


@tf.RegisterGradient("Frexp")
def _frexp_grad(
    op: tf.Operation, mantissa_grad: tf.Tensor, exponent_grad: tf.Tensor | None
) -> tf.Tensor:
    """Between jumps of exponent, mantissa is values times a constant, 2^-exponent."""
    exponent = tf.cast(op.outputs[1], mantissa_grad.dtype)
    return mantissa_grad * 2**-exponent
