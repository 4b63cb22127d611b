"""Max RoI pooling from TensorFlow's own ops: what one would write without RoiPool."""

import tensorflow as tf


def bin_edges(
    start: tf.Tensor, end: tf.Tensor, pooled: int
) -> tuple[tf.Tensor, tf.Tensor]:
    """Where the bins of regions lie along one axis, as in `BinSpan` of roi_pool_geometry.h.

    Args:
      start: The first pixel of each region, int32 [num_rois].
      end: The last pixel, likewise.
      pooled: Into how many bins a region is cut.

    Returns:
      The first pixel of each bin and the one after its last, int32 [num_rois, pooled].
    """
    size = tf.maximum(end - start + 1, 1)
    bin_size = (tf.cast(size, tf.float32) / pooled)[:, None]
    p = tf.range(pooled, dtype=tf.float32)
    first = tf.cast(tf.floor(p * bin_size), tf.int32)
    beyond = tf.cast(tf.math.ceil((p + 1) * bin_size), tf.int32)
    return start[:, None] + first, start[:, None] + beyond


def roi_pool(
    features: tf.Tensor,
    rois: tf.Tensor,
    pooled_height: int,
    pooled_width: int,
    spatial_scale: float,
) -> tf.Tensor:
    """Lists the pixels of all bins, gathers them and takes the maximum of each bin.

    Args:
      features: [batch, height, width, channels], free of NaN.
      rois: float32 [num_rois, 5]: batch index, x1, y1, x2, y2 in pixels of the image.
      pooled_height: How many bins a region has from top to bottom.
      pooled_width: How many from left to right.
      spatial_scale: How many pixels of the map one pixel of the image is.

    Returns:
      [num_rois, pooled_height, pooled_width, channels], 0 where a bin is empty. In memory
      it needs a copy of each pixel's channels for each bin that the pixel lies in.
    """
    _, height, width, channels = tf.unstack(tf.shape(features))
    scaled = tf.clip_by_value(rois[:, 1:] * spatial_scale, -(2.0**29), 2.0**29)
    # tf.round takes halves to the even neighbour; RoiPool takes them away from zero.
    below = tf.floor(tf.abs(scaled))
    whole = below + tf.cast(tf.abs(scaled) - below >= 0.5, tf.float32)
    whole = tf.cast(tf.sign(scaled) * whole, tf.int32)
    x1, y1, x2, y2 = tf.unstack(whole, axis=1)
    rows = [
        tf.clip_by_value(edge, 0, height) for edge in bin_edges(y1, y2, pooled_height)
    ]
    columns = [
        tf.clip_by_value(edge, 0, width) for edge in bin_edges(x1, x2, pooled_width)
    ]

    # From here on one axis of all bins: num_rois * pooled_height * pooled_width.
    shape = tf.stack([tf.shape(rois)[0], pooled_height, pooled_width])
    top, bottom = (
        tf.reshape(tf.broadcast_to(e[:, :, None], shape), [-1]) for e in rows
    )
    left, right = (
        tf.reshape(tf.broadcast_to(e[:, None, :], shape), [-1]) for e in columns
    )
    image = tf.cast(rois[:, 0], tf.int32)[:, None, None]
    image = tf.reshape(tf.broadcast_to(image, shape), [-1])
    cols = right - left
    count = (bottom - top) * cols

    # And here one axis of all pixels of all bins.
    bins = tf.range(tf.size(count))
    owner = tf.repeat(bins, count)
    nth = tf.range(tf.size(owner)) - tf.gather(tf.cumsum(count, exclusive=True), owner)
    h = tf.gather(top, owner) + nth // tf.gather(cols, owner)
    w = tf.gather(left, owner) + nth % tf.gather(cols, owner)
    index = (tf.gather(image, owner) * height + h) * width + w
    pixels = tf.gather(tf.reshape(features, [-1, channels]), index)
    maxima = tf.math.unsorted_segment_max(pixels, owner, tf.size(count))
    maxima = tf.where(count[:, None] > 0, maxima, tf.zeros([], features.dtype))
    return tf.reshape(maxima, tf.concat([shape, [channels]], 0))
