"""Max RoI pooling from TensorFlow's own ops, as fast as we could make it.

The maximum of a rectangle is that of at most four windows in its corners whose sides are powers of two, and the
windows of all sizes come from one another by doubling. (The method is known as a sparse table; Bender and
Farach-Colton, The LCA Problem Revisited, 2000, for one dimension.)
"""

import tensorflow as tf
from stock_ops import bin_edges

Table = tuple[tf.Tensor, tf.Tensor | None]


def _larger(x: Table, y: Table) -> Table:
    """The larger values; where they are equal, the first position."""
    if x[1] is None:
        return tf.maximum(x[0], y[0]), None
    second = (y[0] > x[0]) | ((y[0] == x[0]) & (y[1] < x[1]))
    return tf.where(second, y[0], x[0]), tf.where(second, y[1], x[1])


def _doubled(table: Table, axis: int, step: int) -> Table:
    """From windows of `step` pixels along an axis to those of twice as many."""
    size = table[0].shape[axis] - step

    def part(tensor: tf.Tensor | None, first: int) -> tf.Tensor | None:
        if tensor is None:
            return None
        begin = [0, 0, 0, 0]
        begin[axis] = first
        shape = tensor.shape.as_list()
        shape[axis] = size
        return tf.slice(tensor, begin, shape)

    return _larger(
        (part(table[0], 0), part(table[1], 0)),
        (part(table[0], step), part(table[1], step)),
    )


def roi_pool(
    features: tf.Tensor,
    rois: tf.Tensor,
    pooled_height: int,
    pooled_width: int,
    spatial_scale: float,
    with_argmax: bool,
) -> Table:
    """Computes what `RoiPool` does, eagerly.

    Args:
      features: [batch, height, width, channels], free of NaN.
      rois: float32 [num_rois, 5]: batch index, x1, y1, x2, y2 in pixels of the image.
      pooled_height: Bins from top to bottom.
      pooled_width: Bins from left to right.
      spatial_scale: Pixels of the map for each pixel of the image.
      with_argmax: Whether to tell where the maxima are.

    Returns:
      pooled and argmax, or None for the latter.
    """
    _, height, width, channels = features.shape
    num_rois = rois.shape[0]
    scaled = rois[:, 1:] * spatial_scale
    whole = tf.cast(tf.sign(scaled) * tf.floor(tf.abs(scaled) + 0.5), tf.int32)
    x1, y1, x2, y2 = tf.unstack(whole, axis=1)
    shape = [num_rois, pooled_height, pooled_width]

    def flat(edge: tf.Tensor, limit: int, axis: int) -> tf.Tensor:
        clipped = tf.expand_dims(tf.clip_by_value(edge, 0, limit), axis)
        return tf.reshape(tf.broadcast_to(clipped, shape), [-1])

    top, bottom = (flat(e, height, 2) for e in bin_edges(y1, y2, pooled_height))
    left, right = (flat(e, width, 1) for e in bin_edges(x1, x2, pooled_width))
    image = tf.repeat(tf.cast(rois[:, 0], tf.int32), pooled_height * pooled_width)
    rows, cols = bottom - top, right - left
    empty = (rows <= 0) | (cols <= 0)

    def level(size: tf.Tensor) -> tf.Tensor:
        """The power of two of the largest window that fits, -1 in empty bins."""
        powers = tf.bitwise.left_shift(1, tf.range(31))
        fits = tf.cast(size[:, None] >= powers, tf.int32)
        return tf.where(empty, -1, tf.reduce_sum(fits, axis=1) - 1)

    row_level, col_level = level(rows), level(cols)
    positions = None
    if with_argmax:
        numbers = tf.reshape(tf.range(height * width), [1, height, width, 1])
        positions = tf.broadcast_to(numbers, features.shape)
    by_rows: Table = (features, positions)
    found, indices = [], []
    for i in range(int(tf.reduce_max(row_level)) + 1):
        if i:
            by_rows = _doubled(by_rows, 1, 2 ** (i - 1))
        of_rows = row_level == i
        windows = by_rows
        for j in range(int(tf.reduce_max(tf.where(of_rows, col_level, -1))) + 1):
            if j:
                windows = _doubled(windows, 2, 2 ** (j - 1))
            index = tf.where(of_rows & (col_level == j))[:, 0]
            if not len(index):
                continue
            corners = []
            ys = [tf.gather(top, index), tf.gather(bottom, index) - 2**i]
            xs = [tf.gather(left, index), tf.gather(right, index) - 2**j]
            for y in ys[: 1 + (i > 0)]:
                for x in xs[: 1 + (j > 0)]:
                    at = tf.gather(image, index) * windows[0].shape[1] + y
                    at = at * windows[0].shape[2] + x
                    corners.append(
                        tuple(
                            None
                            if table is None
                            else tf.gather(tf.reshape(table, [-1, channels]), at)
                            for table in windows
                        )
                    )
            best = corners[0]
            for corner in corners[1:]:
                best = _larger(best, corner)
            found.append(best)
            indices.append(tf.cast(index, tf.int32))
    index = tf.cast(tf.where(empty)[:, 0], tf.int32)
    indices.append(index)
    zeros = tf.zeros([len(index), channels], features.dtype)
    found.append((zeros, tf.cast(zeros, tf.int32) - 1))
    shape.append(channels)
    pooled = tf.reshape(tf.dynamic_stitch(indices, [each[0] for each in found]), shape)
    if not with_argmax:
        return pooled, None
    argmax = tf.dynamic_stitch(indices, [each[1] for each in found])
    return pooled, tf.reshape(argmax, shape)
