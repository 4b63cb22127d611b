"""Max pooling of TensorFlow's own ops, for XLA, with argmax and without: what the ops are measured against."""

from collections.abc import Iterator
from functools import reduce

import tensorflow as tf


def max_pool_slices(x: tf.Tensor, ksize: int, strides: int, padding: str) -> tf.Tensor:
    """Computes what `tf.nn.max_pool2d` does of finite numbers, by comparing ksize² slices, of which XLA makes one loop.

    With a gradient, let one function with `jit_compile=True` compute both: XLA keeps nothing between them then.

    Args:
      x: `[batch, height, width, channels]`, floating point, of a static shape.
      ksize: The height and the width of a window.
      strides: By how much it moves.
      padding: "SAME" or "VALID".
    """
    pixels = (pixel for _, _, pixel in _slices(x, ksize, strides, padding))
    return reduce(tf.maximum, pixels)


@tf.function(autograph=False, jit_compile=True)
def max_pool_with_argmax_slices(
    x: tf.Tensor, ksize: int, strides: int, padding: str
) -> tuple[tf.Tensor, tf.Tensor]:
    """Computes what `tf.nn.max_pool_with_argmax` does, by comparing ksize² slices of the image, in one loop of XLA's.

    Args:
      x: `[batch, height, width, channels]`, floating point, of a static shape whose images have less than 2^31 numbers.
      ksize: The height and the width of a window.
      strides: By how much it moves.
      padding: "SAME" or "VALID".

    Returns:
      The maxima, and where they are, int64, as of `tf.nn.max_pool_with_argmax`. If all numbers of a window that reaches
      over the top or the left edge are minus infinity or NaN, the position lies outside of the window.
    """
    height, width, channels = x.shape[1:]
    rows, above, _ = _windows(height, ksize, strides, padding)
    cols, left, _ = _windows(width, ksize, strides, padding)
    best = offset = None
    for i, j, pixel in _slices(x, ksize, strides, padding):
        here = (i * width + j) * channels
        if best is None:
            best, offset = pixel, tf.fill(pixel.shape, here)
        else:
            larger = pixel > best
            best = tf.where(larger, pixel, best)
            offset = tf.where(larger, here, offset)
    first_row = (tf.range(rows) * strides - above)[:, tf.newaxis, tf.newaxis]
    first_col = (tf.range(cols) * strides - left)[:, tf.newaxis]
    first = (first_row * width + first_col) * channels + tf.range(channels)
    return best, tf.cast(first + offset, tf.int64)


def _slices(
    x: tf.Tensor, ksize: int, strides: int, padding: str
) -> Iterator[tuple[int, int, tf.Tensor]]:
    """For each pixel of a window: its row, its column, and that pixel of all windows, outside of x minus infinity."""
    rows, *beyond_rows = _windows(x.shape[1], ksize, strides, padding)
    cols, *beyond_cols = _windows(x.shape[2], ksize, strides, padding)
    beyond = [[0, 0], beyond_rows, beyond_cols, [0, 0]]
    padded = tf.pad(x, beyond, constant_values=-float("inf"))
    for i in range(ksize):
        for j in range(ksize):
            last_row, last_col = (rows - 1) * strides + i, (cols - 1) * strides + j
            yield (
                i,
                j,
                padded[:, i : last_row + 1 : strides, j : last_col + 1 : strides],
            )


def _windows(size: int, ksize: int, strides: int, padding: str) -> tuple[int, int, int]:
    """How many windows there are along an axis, and how far they reach over its ends."""
    if padding == "VALID":
        return (size - ksize) // strides + 1, 0, 0
    count = -(-size // strides)
    beyond = max((count - 1) * strides + ksize - size, 0)
    return count, beyond // 2, beyond - beyond // 2
