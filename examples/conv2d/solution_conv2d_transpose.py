"""The solution of the exercise: a larger image, of which `conv2d` would make the given one."""

import tensorflow as tf
from conv2d import conv2d_backprop_input


def conv2d_transpose(y, filter, stride: int) -> tf.Tensor:
    """Enlarges images: spreads each pixel over a window, and adds windows up.

    Args:
      y: [batch, rows, columns, filters], of a dtype of `conv2d`.
      filter: [rows, columns, channels, filters], of the same dtype.
      stride: How many times as large the images become.

    Returns:
      [batch, rows * stride, columns * stride, channels].
    """
    batch, rows, columns, _ = tf.unstack(tf.shape(y))
    sizes = tf.stack([batch, rows * stride, columns * stride, tf.shape(filter)[2]])
    return conv2d_backprop_input(sizes, filter, y, stride, "SAME")
