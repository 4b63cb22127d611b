"""The solution of the exercise: a mean over windows, by a filter for each channel."""

import tensorflow as tf
from conv2d import conv2d


def blur(images) -> tf.Tensor:
    """Replaces each pixel by the mean of the nine around it, with zeros beyond the image.

    Args:
      images: [batch, rows, columns, channels]; float16, bfloat16, float32 or float64.

    Returns:
      A tensor of the same shape and dtype.
    """
    images = tf.convert_to_tensor(images)
    own = tf.eye(images.shape[-1], dtype=images.dtype)  # [channels, filters]
    return conv2d(images, tf.tile(own[None, None] / 9, [3, 3, 1, 1]), padding="SAME")
