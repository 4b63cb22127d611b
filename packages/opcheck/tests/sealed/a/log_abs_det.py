"""Sign and logarithm of the determinant."""

import numpy as np
import tensorflow as tf


def load(path):
    """Loads the library and returns the op as a function."""
    lib = tf.load_op_library(path)

    @tf.RegisterGradient("UaLogAbsDet")
    def _grad(op, unused_dsign, dlog_abs):
        return lib.ua_log_abs_det_grad(dlog_abs, op.inputs[0])

    def log_abs_det(a):
        """Returns sign and log(abs()) of the determinant of each matrix [..., n, n]."""
        return lib.ua_log_abs_det(a)

    return log_abs_det


def sample():
    """A typical call."""
    a = np.array(
        [[[4, 1, 0], [1, 3, -1], [0, -1, 2]], [[2, 0, 1], [0, 5, 2], [1, 2, 3]]],
        np.float32,
    )
    return [a], {}


def reference(a):
    """The same in NumPy."""
    a = np.asarray(a)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError("a must be [..., n, n]")
    finite = np.isfinite(a).all((-1, -2))
    sign, log_abs = np.linalg.slogdet(
        np.where(finite[..., None, None], a, 0).astype(np.float64)
    )
    return np.where(finite, sign, np.nan).astype(a.dtype), np.where(
        finite, log_abs, np.nan
    ).astype(a.dtype)
