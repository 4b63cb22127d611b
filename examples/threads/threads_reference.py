"""The ops of the chapter in NumPy."""

import numpy as np


def steady_sum_reference(x):
    """The sum of all elements, rounded once."""
    return np.sum(x, dtype=np.float64).astype(x.dtype)


def play_backwards_reference(signal, gain=1.0):
    """Each element times the gain, the last one first."""
    if signal.ndim != 1:
        raise ValueError("signal must be a vector")
    return (signal * signal.dtype.type(np.float32(gain)))[::-1]


def first_highest_reference(x):
    """The position of the largest element; the first, if there are several."""
    if x.size == 0:
        raise ValueError("x must have elements")
    return np.argmax(x)
