import numpy as np
import tensorflow as tf


def load(path):
    lib = tf.load_op_library(path)

    @tf.RegisterGradient("UbPreemphasis")
    def _grad(op, grad):
        return lib.ub_preemphasis_grad(grad, coef=op.get_attr("coef"))

    def preemphasis(signal, *, coef=0.97):
        """First-order high-pass filter along the last axis; float32 or float64, differentiable."""
        return lib.ub_preemphasis(signal, coef=coef)

    return preemphasis


def sample():
    t = np.arange(16, dtype=np.float32)
    return [np.stack([np.sin(0.3 * t), np.cos(0.7 * t)]).astype(np.float32)], {
        "coef": 0.97
    }


def reference(signal, *, coef=0.97):
    x = np.asarray(signal)
    if x.ndim < 1:
        raise ValueError("signal must have rank at least 1")
    if not 0.0 <= coef <= 1.0:
        raise ValueError("coef must be in [0, 1]")
    c = np.float32(coef).astype(x.dtype)
    previous = np.concatenate([x[..., :1], x[..., :-1]], axis=-1)
    return x - c * previous
