"""Weighted mean of the rows of each segment."""

import numpy as np
import tensorflow as tf


def load(path):
    """Loads the library and returns the op as a function."""
    lib = tf.load_op_library(path)

    @tf.RegisterGradient("UaSegmentWeightedMean")
    def _grad(op, dmean, dtotal):
        data, weights, ids = op.inputs
        mean, total = op.outputs
        shape = tf.concat(
            [tf.shape(weights), tf.ones([tf.rank(data) - 1], tf.int32)], 0
        )
        axes = tf.range(1, tf.rank(data))
        row_total = tf.gather(total, ids)
        row_grad = tf.gather(dmean, ids)
        share = tf.math.divide_no_nan(weights, row_total)
        ddata = row_grad * tf.reshape(share, shape)
        dot = tf.reduce_sum(row_grad * (data - tf.gather(mean, ids)), axes)
        dweights = tf.math.divide_no_nan(dot, row_total) + tf.gather(dtotal, ids)
        return ddata, dweights, None

    def segment_weighted_mean(data, weights, segment_ids, *, num_segments):
        """Returns the weighted mean [num_segments, ...] and the total weight [num_segments] of each segment."""
        return lib.ua_segment_weighted_mean(
            data, weights, segment_ids, num_segments=num_segments
        )

    return segment_weighted_mean


def sample():
    """A typical call."""
    data = np.array([[1, 2], [3, 4], [5, 6], [7, 8]], np.float32)
    weights = np.array([1, 3, 0.5, 1.5], np.float32)
    return [data, weights, np.array([0, 0, 2, 2], np.int32)], {"num_segments": 3}


def reference(data, weights, segment_ids, *, num_segments):
    """The same in NumPy."""
    data, weights, ids = np.asarray(data), np.asarray(weights), np.asarray(segment_ids)
    if data.ndim < 1 or weights.shape != data.shape[:1] or ids.shape != data.shape[:1]:
        raise ValueError("data must be [n, ...], weights and segment_ids [n]")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("weights must be finite and not negative")
    if ((ids < 0) | (ids >= num_segments)).any():
        raise ValueError("segment_ids out of range")
    mean = np.zeros((num_segments,) + data.shape[1:], np.float64)
    total = np.zeros(num_segments, np.float64)
    for row, w, s in zip(data.astype(np.float64), weights.astype(np.float64), ids):
        if w:
            mean[s] += w * row
            total[s] += w
    for s in range(num_segments):
        mean[s] = mean[s] / total[s] if total[s] else 0
    return mean.astype(data.dtype), total.astype(data.dtype)
