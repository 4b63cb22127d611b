"""Two simpler convolutions: with the patches in memory, and as one expression of Eigen's."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(
    Path(__file__).with_name("libconv2d_im2col.so"),
    *("naive_conv2d", "eigen_patches", "eigen_conv2d"),
)


def naive_conv2d(x, filter) -> tf.Tensor:
    """Convolves float32 images [batch, rows, columns, channels], with stride 1 and no padding.

    Args:
      x: The images.
      filter: [rows, columns, channels, filters]; float32.

    Returns:
      [batch, rows, columns, filters].

    Raises:
      tf.errors.InvalidArgumentError: Shapes that do not fit.
    """
    return _library.naive_conv2d(x=x, filter=filter)


def eigen_conv2d(x, filter, stride: int = 1, padding: str = "VALID") -> tf.Tensor:
    """As `naive_conv2d`, also with a stride and with padding "SAME"."""
    return _library.eigen_conv2d(x=x, filter=filter, stride=stride, padding=padding)


def eigen_patches(
    x, rows: int, columns: int, stride: int = 1, padding: str = "VALID"
) -> tf.Tensor:
    """The patches of float32 images [batch, rows, columns, channels].

    Args:
      x: The images.
      rows: Of a patch.
      columns: Of a patch.
      stride: From one window to the next.
      padding: "SAME" or "VALID".

    Returns:
      [batch, windows, rows, columns, channels].
    """
    return _library.eigen_patches(
        x=x, rows=rows, columns=columns, stride=stride, padding=padding
    )
