"""The solution of the exercise: a larger image, of which `conv2d` would make the given one."""

import tensorflow as tf
from conv2d import conv2d_backprop_input


def conv2d_transpose(y, filter, stride: int) -> tf.Tensor:
    """Enlarges images: each pixel is spread over a window, and where windows overlap they are added.

    Args:
      y: Images [batch, rows, columns, filters]; float16, bfloat16, float32 or float64.
      filter: Of the same dtype, [rows, columns, channels, filters], as `conv2d` takes it.
      stride: How many times as large the images become.

    Returns:
      [batch, rows * stride, columns * stride, channels].
    """
    batch, rows, columns, _ = tf.unstack(tf.shape(y))
    sizes = tf.stack([batch, rows * stride, columns * stride, tf.shape(filter)[2]])
    return conv2d_backprop_input(sizes, filter, y, stride, "SAME")
