"""The logarithm of a microcontroller, which a model is trained with: what Frexp is good for."""

import tensorflow as tf
from frexp import frexp


def device_log2(x) -> tf.Tensor:
    """About log2(x), as a microcontroller without a floating-point unit computes it.

    Args:
      x: A tensor of any shape, float32 or float64, of positive numbers that are not subnormal.

    Returns:
      Of the same shape and dtype, within 0.008 of the logarithm.
    """
    mantissa, exponent = frexp(x)
    parabola = (-1.386 * mantissa + 4.079) * mantissa - 2.693
    return parabola + tf.cast(exponent, mantissa.dtype)
