"""The op in NumPy: short, slow and right."""

import numpy as np


def cum_max_reference(x):
    """The greatest element so far, along the last axis."""
    if x.ndim == 0:
        raise ValueError("x must have at least one dimension")
    return np.maximum.accumulate(x, axis=-1)
