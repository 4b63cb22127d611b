"""The ops of the chapter in NumPy."""

import numpy as np


def zero_out_reference(to_zero):
    """Keeps the first element."""
    zeroed = np.zeros_like(to_zero)
    zeroed.flat[:1] = to_zero.flat[:1]  # flat: all elements in row-major order
    return zeroed


def keep_last_reference(to_zero):
    """Keeps the last element."""
    zeroed = np.zeros_like(to_zero)
    zeroed.flat[-1:] = to_zero.flat[-1:]
    return zeroed
