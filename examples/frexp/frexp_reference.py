"""The op of the chapter in NumPy."""

import numpy as np


def frexp_reference(values):
    """Each number as mantissa and exponent."""
    return np.frexp(values)
