"""Sorts a sparse matrix in coordinate form and adds up duplicates."""

import numpy as np
import tensorflow as tf


def load(path):
    """Loads the library and returns the op as a function."""
    lib = tf.load_op_library(path)

    @tf.RegisterGradient("UaCoalesceCoo")
    def _grad(op, unused_indices, dvalues, unused_position):
        return None, tf.gather(dvalues, op.outputs[2]), None

    def coalesce_coo(indices, values, dense_shape):
        """Returns sorted indices [m, 2], summed values [m] and the position [n] of each entry."""
        return lib.ua_coalesce_coo(indices, values, dense_shape)

    return coalesce_coo


def sample():
    """A typical call."""
    indices = np.array([[2, 1], [0, 3], [2, 1], [1, 0]], np.int64)
    return [indices, np.array([1, 2, 3, 4], np.float32), np.array([3, 4], np.int64)], {}


def reference(indices, values, dense_shape):
    """The same in NumPy."""
    indices, values, shape = (
        np.asarray(indices),
        np.asarray(values),
        np.asarray(dense_shape),
    )
    if (
        indices.ndim != 2
        or indices.shape[1] != 2
        or values.shape != indices.shape[:1]
        or shape.shape != (2,)
    ):
        raise ValueError("indices must be [n, 2], values [n], dense_shape [2]")
    if (shape < 0).any() or (indices < 0).any() or (indices >= shape).any():
        raise ValueError("indices out of bounds")
    keys = [tuple(map(int, i)) for i in indices]
    unique = sorted(set(keys))
    place = {k: i for i, k in enumerate(unique)}
    position = np.array([place[k] for k in keys], np.int64)
    sums = np.zeros(len(unique), values.dtype)
    with np.errstate(all="ignore"):
        for p, v in zip(position, values):
            sums[p] += v
    return np.array(unique, np.int64).reshape(-1, 2), sums, position
