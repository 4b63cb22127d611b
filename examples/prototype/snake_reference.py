"""Snake in NumPy: the prototype computes with it, and the op is compared with it."""

import numpy as np


def snake_reference(x):
    """A line with a wave on it."""
    return x + np.square(np.sin(x))
