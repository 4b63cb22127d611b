"""The op in NumPy."""

import numpy as np


def number_keys_reference(keys, add=True):
    """Of a new table: the first key has the number 0."""
    known = {}
    numbers = [known.setdefault(key, len(known)) if add else -1 for key in keys.flat]
    return np.int64(numbers).reshape(keys.shape)
