"""Soft thresholding (shrinkage)."""

import numpy as np
import tensorflow as tf


def load(path):
    """Loads the library and returns the op as a function."""
    lib = tf.load_op_library(path)

    @tf.RegisterGradient("UaSoftThreshold")
    def _grad(op, dy):
        return lib.ua_soft_threshold_grad(dy, op.inputs[0], op.inputs[1])

    def soft_threshold(x, threshold):
        """Returns sign(x) * max(|x| - threshold, 0)."""
        return lib.ua_soft_threshold(x, threshold)

    return soft_threshold


def sample():
    """A typical call."""
    x = np.array([-2.0, -0.3, 0.0, 0.4, 1.0, 2.5], np.float32)
    return [x, np.float32(0.5)], {}


def reference(x, threshold):
    """The same in NumPy."""
    x = np.asarray(x)
    threshold = np.asarray(threshold)
    if threshold.ndim:
        raise ValueError("threshold must be a scalar")
    if not np.isfinite(threshold) or threshold < 0:
        raise ValueError("threshold must be finite and not negative")
    return np.where(
        np.abs(x) <= threshold, x.dtype.type(0), np.copysign(np.abs(x) - threshold, x)
    )
