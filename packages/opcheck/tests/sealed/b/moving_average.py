import numpy as np
import tensorflow as tf


def load(path):
    lib = tf.load_op_library(path)

    @tf.RegisterGradient("UbMovingAverage")
    def _grad(op, grad):
        return lib.ub_moving_average_grad(grad, window=op.get_attr("window"))

    def moving_average(series, *, window=3):
        """Centered moving average of float series along the last axis; window is odd. Differentiable."""
        return lib.ub_moving_average(series, window=window)

    return moving_average


def sample():
    return [
        np.array(
            [[1.0, 4.0, 2.0, 8.0, 5.0, 7.0], [0.0, 3.0, 3.0, 6.0, 9.0, 0.0]], np.float32
        )
    ], {"window": 3}


def reference(series, *, window=3):
    x = np.asarray(series)
    if x.ndim < 1 or window < 1 or window % 2 == 0:
        raise ValueError("series must have rank at least 1, window must be odd")
    out = np.empty_like(x)
    radius = window // 2
    for t in range(x.shape[-1]):
        out[..., t] = np.mean(x[..., max(t - radius, 0) : t + radius + 1], axis=-1)
    return out
