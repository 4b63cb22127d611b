"""The ops of the chapter in NumPy."""

import numpy as np


def keep_first_reference(values, count=1):
    """Keeps the first `count` elements, and sets the others to zero."""
    if count < 0:
        raise ValueError("count must not be negative")
    kept = np.zeros_like(values)
    kept.flat[:count] = values.flat[:count]
    return kept


def shift_right_reference(values, places):
    """Moves the elements towards the end and lets zeros come in."""
    zeros = np.zeros(min(places, values.size), values.dtype)
    shifted = np.concatenate([zeros, values.reshape(-1)])
    return shifted[: values.size].reshape(values.shape)
