"""Median over the last axis, leaving out NaN."""

import numpy as np
import tensorflow as tf


def load(path):
    """Loads the library and returns the op as a function."""
    lib = tf.load_op_library(path)

    def nan_median(x):
        """Returns the median over the last axis of the elements that are not NaN."""
        return lib.ua_nan_median(x)

    return nan_median


def sample():
    """A typical call."""
    nan = np.nan
    return [
        np.array(
            [[3.0, 1.0, 2.0, nan], [5.0, nan, 4.0, nan], [9.0, 7.0, 8.0, nan]],
            np.float32,
        )
    ], {}


def reference(x):
    """The same in NumPy."""
    x = np.asarray(x)
    if x.ndim < 1:
        raise ValueError("x must be at least one-dimensional")
    n = x.shape[-1]
    out = np.full(int(np.prod(x.shape[:-1])), np.nan, x.dtype)
    rows = x.reshape(len(out), n)
    for i, row in enumerate(rows):
        v = np.sort(row[~np.isnan(row)])
        if len(v):
            with np.errstate(all="ignore"):
                lo, hi = v[(len(v) - 1) // 2], v[len(v) // 2]
                out[i] = (
                    lo
                    if len(v) % 2
                    else ((lo + hi) / 2 if np.isfinite(lo + hi) else lo / 2 + hi / 2)
                )
    return out.reshape(x.shape[:-1])
