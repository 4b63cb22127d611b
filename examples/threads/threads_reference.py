"""The ops of the chapter in NumPy."""

import numpy as np


def cut(x, size):
    """Pieces of this size, the last one filled up with zeros."""
    return np.pad(x, (0, size - x.size % size)).reshape(-1, size)


def sum_of(x):
    """Adds every sixteenth number to the same of 16 sums, and then these, in order."""
    lanes = np.cumsum(cut(x, 16), axis=0)[-1]
    return np.cumsum(lanes)[-1]


def steady_sum_reference(x):
    """The sum of the sums of blocks of 4096 numbers."""
    return sum_of(np.array([sum_of(block) for block in cut(x.ravel(), 4096)]))


def sort_rows_reference(values, row_splits):
    """Each row from one split to the next, in ascending order."""
    if values.ndim != 1 or row_splits.ndim != 1 or row_splits.size == 0:
        raise ValueError("values and row_splits must be vectors")
    if row_splits[0] != 0 or row_splits[-1] != len(values):
        raise ValueError("row_splits must go from 0 to the number of values")
    if (row_splits[1:] < row_splits[:-1]).any():
        raise ValueError("row_splits must not decrease")
    return np.concatenate([np.sort(x) for x in np.split(values, row_splits[1:-1])])


def play_backwards_reference(signal, gain=1.0):
    """Each element times the gain, the last one first."""
    if signal.ndim != 1:
        raise ValueError("signal must be a vector")
    return (signal * signal.dtype.type(np.float32(gain)))[::-1]


def even_part_reference(signal):
    """The mean of the signal and of the signal turned around."""
    if signal.ndim != 1:
        raise ValueError("signal must be a vector")
    return (signal + signal[::-1]) * np.float32(0.5)


def first_highest_reference(x):
    """The position of the largest element; the first, if there are several."""
    if x.size == 0:
        raise ValueError("x must have elements")
    return np.argmax(x)
