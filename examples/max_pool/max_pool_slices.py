"""Max pooling with argmax from TensorFlow's own ops, for XLA: the alternative that the op is measured against."""

import tensorflow as tf


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
      The maxima, and where they are, int64, as of `tf.nn.max_pool_with_argmax`; but of a window that reaches over the
      top or the left edge, the position is outside of it where it has no number above minus infinity.
    """
    height, width, channels = x.shape[1:]
    rows, above, below = _windows(height, ksize, strides, padding)
    cols, left, right = _windows(width, ksize, strides, padding)
    padded = tf.pad(
        x,
        [[0, 0], [above, below], [left, right], [0, 0]],
        constant_values=-float("inf"),
    )
    best = offset = None
    for i in range(ksize):
        for j in range(ksize):
            last_row, last_col = (rows - 1) * strides + i, (cols - 1) * strides + j
            pixel = padded[:, i : last_row + 1 : strides, j : last_col + 1 : strides]
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


def _windows(size: int, ksize: int, strides: int, padding: str) -> tuple[int, int, int]:
    """How many windows there are along an axis, and how far they reach over its ends."""
    if padding == "VALID":
        return (size - ksize) // strides + 1, 0, 0
    count = -(-size // strides)
    beyond = max((count - 1) * strides + ksize - size, 0)
    return count, beyond // 2, beyond - beyond // 2
