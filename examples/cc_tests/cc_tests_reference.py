"""The op in NumPy."""

import numpy as np


def softshrink_reference(x, bound=0.5):
    """Each element, moved by `bound` towards zero, at most to zero."""
    if not np.float32(bound) >= 0:
        raise ValueError("bound must be 0 or more")
    return np.sign(x) * np.maximum(abs(x) - x.dtype.type(np.float32(bound)), 0)
