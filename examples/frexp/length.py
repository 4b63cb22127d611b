"""The length of vectors, with a gradient where it is zero."""

import tensorflow as tf


@tf.custom_gradient
def length(x: tf.Tensor) -> tf.Tensor:
    """The Euclidean length of each vector; where it is zero, so is its gradient.

    Args:
      x: Vectors, `[..., n]`, in floating point.

    Returns:
      Their lengths, `[...]`.
    """
    lengths = tf.norm(x, axis=-1, keepdims=True)

    def backward(grad: tf.Tensor | tf.IndexedSlices) -> tf.Tensor:
        grad = tf.convert_to_tensor(grad)
        return grad[..., tf.newaxis] * tf.math.divide_no_nan(x, lengths)

    return tf.squeeze(lengths, -1), backward
