"""FunctorRmsNorm in NumPy."""

import numpy as np


def functor_rms_norm_reference(x, epsilon=1e-6):
    if x.ndim == 0 or not 0 <= epsilon < np.inf:
        raise ValueError("x must have rank 1 or more, epsilon be 0 or more")
    mean = np.sum(x * x, -1, keepdims=True) / x.dtype.type(max(x.shape[-1], 1))
    return x / np.sqrt(mean + x.dtype.type(np.float32(epsilon)))
