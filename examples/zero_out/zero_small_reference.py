"""ZeroSmall in NumPy."""

import numpy as np


def zero_small_reference(x, threshold):
    """Sets the elements whose absolute value is below the threshold to zero."""
    if threshold.ndim != 0:
        raise ValueError("threshold must be a scalar")
    return np.where(np.abs(x) < threshold, np.float32(0), x)
