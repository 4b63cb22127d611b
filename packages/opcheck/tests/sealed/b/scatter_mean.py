import numpy as np
import tensorflow as tf


def load(path):
    lib = tf.load_op_library(path)

    @tf.RegisterGradient("UbScatterMean")
    def _grad(op, grad):
        indices, _, num_rows = op.inputs
        counts = tf.math.unsorted_segment_sum(
            tf.ones_like(indices, grad.dtype), indices, num_rows
        )
        return (
            None,
            tf.gather(grad, indices) / tf.gather(counts, indices)[:, tf.newaxis],
            None,
        )

    def scatter_mean(indices, updates, num_rows):
        """Means of float [m, d] updates by int64 [m] row; num_rows is an int64 scalar. Differentiable in updates."""
        return lib.ub_scatter_mean(indices, updates, num_rows)

    return scatter_mean


def sample():
    updates = np.array(
        [[1.0, 2.0], [3.0, 4.0], [5.0, 0.0], [-1.0, 1.5], [2.0, 2.0]], np.float32
    )
    return [np.array([0, 2, 0, 1, 2], np.int64), updates, np.array(3, np.int64)], {}


def reference(indices, updates, num_rows):
    indices, updates, num_rows = (
        np.asarray(indices),
        np.asarray(updates),
        np.asarray(num_rows),
    )
    if (
        indices.ndim != 1
        or updates.ndim != 2
        or len(indices) != len(updates)
        or num_rows.ndim != 0
    ):
        raise ValueError("wrong shapes")
    if num_rows < 0 or np.any(indices < 0) or np.any(indices >= num_rows):
        raise ValueError("indices out of range")
    out = np.zeros((int(num_rows), updates.shape[1]), updates.dtype)
    counts = np.zeros((int(num_rows), 1), updates.dtype)
    np.add.at(out, indices, updates)
    np.add.at(counts, indices, 1)
    return out / np.maximum(counts, 1)
