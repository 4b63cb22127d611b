"""Gathers windows of consecutive rows."""

import numpy as np
import tensorflow as tf


def load(path):
    """Loads the library and returns the op as a function."""
    lib = tf.load_op_library(path)

    @tf.RegisterGradient("UaGatherWindows")
    def _grad(op, g):
        params, starts = op.inputs
        return lib.ua_gather_windows_grad(
            g, params, starts, width=op.get_attr("width")
        ), None

    def gather_windows(params, starts, *, width):
        """Returns [k, width, ...] with the rows starts[i], ..., starts[i] + width - 1 of params."""
        return lib.ua_gather_windows(params, starts, width=width)

    return gather_windows


def sample():
    """A typical call."""
    params = np.arange(16, dtype=np.float32).reshape(8, 2)
    return [params, np.array([0, 5, 3], np.int32)], {"width": 2}


def reference(params, starts, *, width):
    """The same in NumPy."""
    params, starts = np.asarray(params), np.asarray(starts)
    if params.ndim < 1 or starts.ndim != 1 or width < 1:
        raise ValueError("params must be [n, ...], starts [k]")
    if ((starts < 0) | (starts > len(params) - width)).any():
        raise ValueError("starts out of range")
    return params[starts[:, None].astype(np.int64) + np.arange(width)]
