"""Max RoI pooling from TensorFlow's own ops, as fast as we could make it for XLA.

XLA computes gathers and maxima in one loop, without arrays between them. So a bin may read much: for each of its
columns the maxima of two windows, which reach from its top and its bottom as far as a power of two. (The windows are a
sparse table: Bender and Farach-Colton, The LCA Problem Revisited, 2000.) The edges of bins are looked up in a table of
integers, for XLA would compute them with a reciprocal.
"""

import numpy as np
import stock_ops
import tensorflow as tf


def bin_edges(longest: int, pooled: int) -> tuple[np.ndarray, np.ndarray]:
    """First row and the row after the last of each bin, int32 [longest + 1, pooled], by the length of a region."""
    with tf.init_scope():  # eagerly: XLA must not see the division
        length = tf.range(longest + 1)
        edges = stock_ops.bin_edges(tf.zeros_like(length), length - 1, pooled)
    first, beyond = (edge.numpy() for edge in edges)
    return first, beyond


def keys_of(features: tf.Tensor) -> tf.Tensor:
    """The elements as int64 [batch, height, width, channels] of the same order: of equal ones, the first is largest."""
    _, height, width, _ = features.shape
    bits = tf.bitcast(tf.where(features == 0, 0.0, features), tf.int32)  # no -0
    bits = tf.bitwise.bitwise_xor(bits, tf.where(bits < 0, 2**31 - 1, 0))
    places = tf.reshape(tf.range(height * width), [1, height, width, 1])
    return tf.cast(bits, tf.int64) * 2**32 + tf.cast(2**31 - 1 - places, tf.int64)


def of_keys(keys: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """From the maxima of keys to pooled and argmax: compiled apart, for otherwise XLA finds the maxima twice."""
    bits = tf.cast(tf.bitwise.right_shift(keys, 32), tf.int32)
    bits = tf.bitwise.bitwise_xor(bits, tf.where(bits < 0, 2**31 - 1, 0))
    places = 2**31 - 1 - tf.bitwise.bitwise_and(keys, 2**32 - 1)
    return tf.bitcast(bits, tf.float32), tf.cast(places, tf.int32)


def roi_pool(
    features: tf.Tensor,
    rois: tf.Tensor,
    pooled_height: int,
    pooled_width: int,
    spatial_scale: float,
    with_argmax: bool = False,
) -> tf.Tensor:
    """Computes what `RoiPool` does, made for a function with `jit_compile=True`.

    Args:
      features: float32 [batch, height, width, channels] with a static shape, free of NaN.
      rois: float32 [num_rois, 5]: batch index, x1, y1, x2, y2 in pixels of the image, all inside of it.
      pooled_height: Bins from top to bottom.
      pooled_width: Bins from left to right.
      spatial_scale: Pixels of the map for each pixel of the image.
      with_argmax: Whether to return keys for `of_keys`, which tell where the maxima are, too.

    Returns:
      [num_rois, pooled_height, pooled_width, channels], the maxima or their keys. It needs memory for the
      map once for each power of two up to the height of the largest bin.
    """
    batch, height, width, channels = features.shape
    scaled = rois[:, 1:] * spatial_scale  # 0.5 more than the float before 0.5 is 1
    whole = tf.where(scaled < 0.5, 0.0, tf.floor(scaled + 0.5))
    x1, y1, x2, y2 = tf.unstack(tf.cast(whole, tf.int32), axis=1)

    def edges(start, end, size, pooled):
        first, beyond = bin_edges(size + 1, pooled)
        length = tf.maximum(end - start + 1, 1)
        spans = tf.gather(first, length), tf.gather(beyond, length)
        clipped = [tf.clip_by_value(start[:, None] + x, 0, size) for x in spans]
        return *clipped, int((beyond - first).max())

    top, bottom, tallest = edges(y1, y2, height, pooled_height)
    left, right, widest = edges(x1, x2, width, pooled_width)

    # The map; maxima of two rows, of four and so on, up to the tallest bin.
    windows = [keys_of(features) if with_argmax else features]
    steps = [2**i for i in range(tallest.bit_length() - 1)]
    for step in steps:
        below = tf.concat([windows[-1][:, step:], windows[-1][:, -step:]], axis=1)
        windows.append(tf.maximum(windows[-1], below))
    of_all = tf.reshape(tf.concat(windows, 0), [-1, channels])

    image = tf.cast(rois[:, :1], tf.int32)
    rows = bottom - top
    level = tf.zeros_like(rows)
    for step in steps:
        level += tf.cast(rows >= 2 * step, tf.int32)
    best = None
    for y in (top, tf.maximum(bottom - tf.bitwise.left_shift(1, level), 0)):
        row = (level * batch + image) * height + tf.minimum(y, height - 1)
        for j in range(widest):
            column = tf.clip_by_value(left + j, 0, tf.maximum(right - 1, 0))
            at = row[:, :, None] * width + column[:, None, :]
            found = tf.gather(of_all, at)
            best = found if best is None else tf.maximum(best, found)
    empty = (rows <= 0)[:, :, None, None] | (right <= left)[:, None, :, None]
    nothing = 2**31 if with_argmax else 0  # the key of 0 at place -1
    return tf.where(empty, tf.cast(nothing, best.dtype), best)
