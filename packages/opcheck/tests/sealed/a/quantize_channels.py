"""Quantises to int8 with a scale and a zero point per channel."""

import numpy as np
import tensorflow as tf


def load(path):
    """Loads the library and returns the op as a function."""
    lib = tf.load_op_library(path)
    tf.no_gradient("UaQuantizeChannels")

    def quantize_channels(x, scale, zero_point):
        """Returns round(x / scale) + zero_point as int8; scale and zero_point are per channel, the last axis of x."""
        return lib.ua_quantize_channels(x, scale, zero_point)

    return quantize_channels


def sample():
    """A typical call."""
    x = np.array([[0.1, -1.0], [0.25, 2.0], [-0.4, 300.0], [50.0, -400.0]], np.float32)
    return [x, np.array([0.1, 0.5], np.float32), np.array([0, -3], np.int32)], {}


def reference(x, scale, zero_point):
    """The same in NumPy."""
    x, scale, zero_point = np.asarray(x), np.asarray(scale), np.asarray(zero_point)
    if x.ndim < 1 or scale.shape != x.shape[-1:] or zero_point.shape != x.shape[-1:]:
        raise ValueError("scale and zero_point must be [channels]")
    if (
        not np.isfinite(scale).all()
        or (scale <= 0).any()
        or (abs(zero_point.astype(np.int64) + 0.5) > 128).any()
    ):
        raise ValueError("scale must be positive, zero_point in [-128, 127]")
    with np.errstate(all="ignore"):
        v = np.rint(x / scale).astype(np.float64)
    v = np.where(np.isnan(x), 0, v)
    return np.clip(v + zero_point, -128, 127).astype(np.int8)
