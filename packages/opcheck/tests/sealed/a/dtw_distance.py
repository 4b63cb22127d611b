"""Dynamic time warping distance."""

import numpy as np
import tensorflow as tf


def load(path):
    """Loads the library and returns the op as a function."""
    lib = tf.load_op_library(path)

    def dtw_distance(a, b):
        """Returns the distance of a[i] and b[i] for each i; a is [batch, n], b is [batch, m]."""
        return lib.ua_dtw_distance(a, b)

    return dtw_distance


def sample():
    """A typical call."""
    a = np.array([[0, 1, 2, 3, 2, 0], [1, 1, 1, 2, 3, 4]], np.float32)
    b = np.array([[0, 0, 1, 3, 1], [1, 2, 2, 4, 4]], np.float32)
    return [a, b], {}


def reference(a, b):
    """The same in NumPy."""
    a, b = np.asarray(a), np.asarray(b)
    if (
        a.ndim != 2
        or b.ndim != 2
        or len(a) != len(b)
        or a.shape[1] < 1
        or b.shape[1] < 1
    ):
        raise ValueError(
            "a and b must be [batch, n] and [batch, m], n and m at least 1"
        )
    n, m = a.shape[1], b.shape[1]
    d = np.full((len(a), n + 1, m + 1), np.inf, a.dtype)
    d[:, 0, 0] = 0
    with np.errstate(all="ignore"):
        for i in range(n):
            for j in range(m):
                best = np.minimum(
                    np.minimum(d[:, i, j], d[:, i, j + 1]), d[:, i + 1, j]
                )
                d[:, i + 1, j + 1] = np.abs(a[:, i] - b[:, j]) + best
    finite = np.isfinite(a).all(1) & np.isfinite(b).all(1)
    return np.where(finite, d[:, n, m], a.dtype.type(np.nan))
