"""A gradient of one's own without any C++: softmax and cross-entropy as one."""

import tensorflow as tf


def naive(labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
    """The loss as its formula says; TensorFlow differentiates each step."""
    exponentials = tf.exp(logits)
    softmax = exponentials / tf.reduce_sum(exponentials, -1, keepdims=True)
    return -tf.reduce_sum(labels * tf.math.log(softmax), -1)


def stable(labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
    """The same without the division; TensorFlow differentiates each step."""
    return -tf.reduce_sum(labels * tf.nn.log_softmax(logits), -1)


@tf.custom_gradient
def simplified(labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
    """The value of `stable`, with the gradient simplified to `softmax - labels`.

    Args:
      labels: Probabilities, `[..., classes]`, which sum to 1. They get no gradient.
      logits: Finite numbers, of the same shape and dtype.

    Returns:
      The cross-entropy, `[...]`.
    """
    log_softmax = tf.nn.log_softmax(logits)

    def gradient(grad: tf.Tensor | tf.IndexedSlices) -> tuple[None, tf.Tensor]:
        grad = tf.convert_to_tensor(grad)
        return None, grad[..., tf.newaxis] * (tf.exp(log_softmax) - labels)

    return -tf.reduce_sum(labels * log_softmax, -1), gradient
