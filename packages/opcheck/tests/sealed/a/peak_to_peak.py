"""Range (maximum minus minimum) along an axis."""

import numpy as np
import tensorflow as tf


def load(path):
    """Loads the library and returns the op as a function."""
    lib = tf.load_op_library(path)

    @tf.RegisterGradient("UaPeakToPeak")
    def _grad(op, g):
        x = op.inputs[0]
        axis = op.get_attr("axis")
        if not op.get_attr("keep_dims"):
            g = tf.expand_dims(g, axis)

        def share(extreme):
            mask = tf.cast(tf.equal(x, extreme), x.dtype)
            return mask / tf.reduce_sum(mask, axis, keepdims=True)

        high = share(tf.reduce_max(x, axis, keepdims=True))
        low = share(tf.reduce_min(x, axis, keepdims=True))
        return g * (high - low)

    def peak_to_peak(x, *, axis=-1, keep_dims=False):
        """Returns the maximum minus the minimum along the axis."""
        return lib.ua_peak_to_peak(x, axis=axis, keep_dims=keep_dims)

    return peak_to_peak


def sample():
    """A typical call."""
    return [np.array([[1, 5, 2], [-3, 0, 4]], np.float32)], {"axis": 1}


def reference(x, *, axis=-1, keep_dims=False):
    """The same in NumPy."""
    x = np.asarray(x)
    if not -x.ndim <= axis < x.ndim or x.shape[axis] == 0:
        raise ValueError("axis out of range or empty")
    with np.errstate(all="ignore"):
        return x.max(axis, keepdims=keep_dims) - x.min(axis, keepdims=keep_dims)
