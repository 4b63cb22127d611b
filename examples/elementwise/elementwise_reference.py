"""The ops of the chapter in NumPy."""

import numpy as np


def log_cosh_reference(x):
    """log(cosh(x)), computed in float64."""
    size = np.abs(x.astype(np.float64))
    near = np.log1p(2 * np.sinh(size / 2) ** 2)
    far = size - np.log(2) + np.log1p(np.exp(-2 * size))
    return np.where(size < 1, near, far).astype(x.dtype)


def abs_difference_reference(x, y):
    """|x - y|, which wraps around where it does not fit into the type."""
    if x.dtype.kind in "iu":
        return np.maximum(x, y) - np.minimum(x, y)
    return np.abs(x - y)


def hypotenuse_reference(x, y):
    """sqrt(x * x + y * y), without overflow."""
    return np.where(np.isnan(x) | np.isnan(y), np.float32("nan"), np.hypot(x, y))
