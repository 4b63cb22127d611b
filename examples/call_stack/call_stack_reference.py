"""The ops in NumPy: what they return."""

import numpy as np


def call_stack_reference(x, expensive=False):
    """The input, as it came in."""
    return x


def checked_pick_numbers_reference(x, indices):
    """The numbers at these places of all numbers of x."""
    if np.any((indices < 0) | (indices >= x.size)):
        raise ValueError("an index is not within x")
    return x.ravel()[indices]
