"""The solution of an exercise: rounding that lets the gradient through."""

import tensorflow as tf


@tf.custom_gradient
def straight_through(x: tf.Tensor) -> tf.Tensor:
    """The nearest whole numbers, with the gradient of `x` itself."""
    return tf.round(x), lambda grad: grad
