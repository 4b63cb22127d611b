import numpy as np
import tensorflow as tf


def load(path):
    lib = tf.load_op_library(path)

    @tf.RegisterGradient("UbSoftThreshold")
    def _grad(op, grad):
        return lib.ub_soft_threshold_grad(grad, *op.inputs)

    def soft_threshold(x, threshold):
        """sign(x) * max(|x| - threshold, 0) of a float tensor and a scalar; differentiable in both."""
        return lib.ub_soft_threshold(x, threshold)

    return soft_threshold


def sample():
    x = np.array([0.2, 1.5, 0.75, 3.0, 0.0, -0.3, 0.5], np.float32)
    return [x, np.array(0.5, np.float32)], {}


def _flush(x):
    # TensorFlow's kernels take denormal numbers for 0.
    x = np.asarray(x)
    return np.where(np.abs(x) < np.finfo(x.dtype).tiny, np.zeros_like(x), x)


def reference(x, threshold):
    x, threshold = _flush(x), _flush(threshold)
    if threshold.ndim != 0 or not np.isfinite(threshold) or threshold < 0:
        raise ValueError("threshold must be a finite scalar and not negative")
    return np.where(
        np.abs(x) <= threshold, np.zeros_like(x), x - np.sign(x) * threshold
    )
