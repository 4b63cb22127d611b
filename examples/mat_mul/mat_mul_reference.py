"""The ops of the chapter in NumPy."""

import numpy as np


def mat_mul_reference(a, b, transpose_a=False, transpose_b=False):
    """The product of two matrices, summed up as float64 at least."""
    if a.ndim != 2 or b.ndim != 2:
        raise ValueError("a and b must be matrices")
    wide = np.result_type(a, np.float64)
    left, right = (a.T if transpose_a else a), (b.T if transpose_b else b)
    return (left.astype(wide) @ right.astype(wide)).astype(a.dtype)


def loop_mat_mul_reference(a, b, order="elements"):
    """The order of the loops changes nothing but roundings."""
    return mat_mul_reference(a, b)


def gram_matrix_reference(x):
    """The products of all pairs of columns."""
    return mat_mul_reference(x, x, transpose_a=True)
