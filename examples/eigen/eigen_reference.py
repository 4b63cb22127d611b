"""The op of the chapter in NumPy."""

import numpy as np


def standardize_reference(x, epsilon=1e-6):
    """Each row minus its mean, over the root of its variance."""
    if x.ndim != 2 or not 0 <= epsilon < np.inf:
        raise ValueError("x must be a matrix, epsilon 0 or more")
    centred = x - x.mean(axis=1, keepdims=True)
    variance = np.square(centred).mean(axis=1, keepdims=True)
    return centred / np.sqrt(variance + np.float32(epsilon))  # attrs are float32
