"""The solution of an exercise: a gradient that goes uphill."""

import tensorflow as tf


@tf.custom_gradient
def reverse_gradient(x: tf.Tensor) -> tf.Tensor:
    """Returns `x`; its gradient is that of the result, with the other sign."""
    return x, lambda grad: -grad
