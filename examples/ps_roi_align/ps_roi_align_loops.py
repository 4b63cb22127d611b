"""PsRoiAlign and its gradient from TensorFlow's own ops, for XLA: an alternative that the op is measured against.

A loop over the regions, and in it one over the pixels of a bin, as many as this region needs: XLA makes loops of
`tf.while_loop`, and changes the sums in their place.
"""

from collections.abc import Callable, Sequence

import tensorflow as tf


@tf.function(autograph=False, jit_compile=True)
def ps_roi_align_loops(
    features: tf.Tensor,
    rois: tf.Tensor,
    bins: int,
    spatial_scale: float,
    longest: float,
) -> tf.Tensor:
    """Computes what `ps_roi_align` does for regions that lie in the map.

    Args:
      features: float32 `[batch, height, width, bins² * channels]`, of a static shape.
      rois: float32 `[num_rois, 5]`, of a static shape; corners lie in the map, the first before the second.
      bins: As many down as across.
      spatial_scale: As for `ps_roi_align`.
      longest: No side of a region has more pixels of the map.

    Returns:
      float32 `[num_rois, bins, bins, channels]`.
    """
    counts, pixel = _pixels(features.shape, rois, bins, spatial_scale, longest)
    channels = features.shape[3] // bins**2
    flat = tf.reshape(features, [-1, channels])

    def region(n: tf.Tensor, pooled: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        def add(k: tf.Tensor, pooled: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            place, share = pixel(n, k)
            shares = (tf.gather(flat, place) * share)[tf.newaxis]
            return k + 1, tf.tensor_scatter_nd_add(pooled, [[n]], shares)

        _, pooled = tf.while_loop(lambda k, _: k < counts[n], add, (0, pooled))
        return n + 1, pooled

    pooled = tf.zeros([rois.shape[0], bins, bins, channels])
    return tf.while_loop(lambda n, _: n < rois.shape[0], region, (0, pooled))[1]


@tf.function(autograph=False, jit_compile=True)
def ps_roi_align_grad_loops(
    grad: tf.Tensor,
    rois: tf.Tensor,
    shape: Sequence[int],
    spatial_scale: float,
    longest: float,
) -> tf.Tensor:
    """The gradient with respect to features of this shape, given that of the result."""
    bins, channels = grad.shape[2:]
    counts, pixel = _pixels(shape, rois, bins, spatial_scale, longest)

    def region(n: tf.Tensor, sums: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        def add(k: tf.Tensor, sums: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            place, share = pixel(n, k)
            shares = grad[n] * share
            return k + 1, tf.tensor_scatter_nd_add(sums, place[..., tf.newaxis], shares)

        _, sums = tf.while_loop(lambda k, _: k < counts[n], add, (0, sums))
        return n + 1, sums

    batch, height, width, _ = shape
    sums = tf.zeros([batch * height * width * bins**2, channels])
    _, sums = tf.while_loop(lambda n, _: n < rois.shape[0], region, (0, sums))
    return tf.reshape(sums, shape)


def _pixels(
    shape: Sequence[int],
    rois: tf.Tensor,
    bins: int,
    spatial_scale: float,
    longest: float,
) -> tuple[tf.Tensor, Callable]:
    """How many pixels the bins of each region have at most, and what gives pixel k of each bin of region n: its row of
    `[-1, channels]` and its share of the mean.
    """
    _, height, width, _ = shape
    x1, y1, x2, y2 = tf.unstack(rois[:, 1:] * spatial_scale - 0.5, axis=1)
    top, down, rows = _shares(y1, y2, height, bins, longest)
    left, across, cols = _shares(x1, x2, width, bins, longest)
    image = tf.cast(rois[:, 0], tf.int32)
    numbers = tf.reshape(tf.range(bins**2), [bins, bins])

    def pixel(n: tf.Tensor, k: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        i, j = k // cols[n], k % cols[n]
        y = image[n] * height + tf.minimum(top[n] + i, height - 1)
        x = tf.minimum(left[n] + j, width - 1)
        share = down[n, :, i, tf.newaxis] * across[n, :, j]
        place = (y[:, tf.newaxis] * width + x) * bins**2 + numbers
        return place, share[..., tf.newaxis]

    return rows * cols, pixel


def _shares(
    begin: tf.Tensor, end: tf.Tensor, limit: int, bins: int, longest: float
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Along one axis: the first pixel of each bin, the shares from there on, and how many the bins of a region have."""
    most = int(min(longest, limit) / bins) + 1  # samples of a bin
    size = ((end - begin) / bins)[:, tf.newaxis, tf.newaxis]
    count = tf.maximum(tf.math.ceil(size), 1)
    p = tf.range(bins, dtype=tf.float32)[:, tf.newaxis]
    i = tf.range(most, dtype=tf.float32)
    at = p * size + begin[:, tf.newaxis, tf.newaxis] + (i + 0.5) * size / count
    inside = (i < count) & (size > 0) & (at >= -1) & (at <= limit)
    at = tf.clip_by_value(at, 0, limit - 1)
    first = tf.reduce_min(tf.where(inside, tf.floor(at), limit - 1.0), axis=2)
    pixels = tf.range(most + 1)
    apart = at[..., tf.newaxis] - first[..., tf.newaxis, tf.newaxis]
    near = tf.maximum(1 - tf.abs(apart - tf.cast(pixels, tf.float32)), 0)
    shares = tf.reduce_sum(tf.where(inside[..., tf.newaxis], near, 0), 2) / count
    used = tf.reduce_max(tf.where(shares > 0, pixels + 1, 0), axis=[1, 2])
    return tf.cast(first, tf.int32), shares, used
