"""The solution of an exercise: look at a tensor, and at its gradient."""

import tensorflow as tf
from send_recv import post


def watch(x: tf.Tensor, label: str) -> tf.Tensor:
    """Returns `x`, and posts it and its gradient."""

    @tf.custom_gradient
    def watched(x):
        def gradient(grad):
            post(grad, f"{label}/gradient")
            return grad

        post(x, label)
        return tf.identity(x), gradient

    return watched(x)
