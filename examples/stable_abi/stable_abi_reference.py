"""The ops of the chapter in NumPy."""

import numpy as np


def row_median_reference(x, upper=False):
    """The median of each row, and where it is."""
    if x.ndim == 0 or x.shape[-1] == 0:
        raise ValueError("x must have columns")
    middle = x.shape[-1] // 2 if upper else (x.shape[-1] - 1) // 2
    index = np.argsort(x, axis=-1, kind="stable")[..., middle]
    nan = np.isnan(x)
    index = np.where(nan.any(axis=-1), nan.argmax(axis=-1), index)
    return np.take_along_axis(x, index[..., None], -1)[..., 0], index


def zero_out_reference(to_zero):
    """Keeps the first element."""
    zeroed = np.zeros_like(to_zero)
    zeroed.flat[:1] = to_zero.flat[:1]
    return zeroed


def row_kth_reference(x, k=1):
    """The element of each row that `k - 1` others are smaller than."""
    if x.ndim == 0 or k > x.shape[-1]:
        raise ValueError(f"x must have {k} columns or more")
    return np.sort(x, axis=-1)[..., k - 1]
