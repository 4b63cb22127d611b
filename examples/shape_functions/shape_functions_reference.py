"""The ops of the chapter in NumPy."""

import numpy as np


def mat_vec_reference(matrix, vector):
    """A matrix times a vector."""
    if matrix.ndim != 2 or vector.ndim != 1:
        raise ValueError("not a matrix and a vector")
    return matrix @ vector


def rgb_to_gray_reference(rgb):
    """Three color channels weighed into one."""
    if rgb.shape[-1:] != (3,):
        raise ValueError("not three channels")
    return rgb @ np.float32([[0.2989], [0.587], [0.114]])


def direct_sum_reference(a, b):
    """Two matrices along a diagonal, zeros elsewhere."""
    if a.ndim != 2 or b.ndim != 2:
        raise ValueError("not two matrices")
    total = np.zeros(np.add(a.shape, b.shape), a.dtype)
    total[: a.shape[0], : a.shape[1]] = a
    total[a.shape[0] :, a.shape[1] :] = b
    return total


def kronecker_product_reference(a, b):
    """Each element of `a` replaced by that element times `b`."""
    if a.ndim != 2 or b.ndim != 2:
        raise ValueError("not two matrices")
    return np.kron(a, b)


def elementwise_median_reference(inputs):
    """The median of several tensors, at each place."""
    return np.median(inputs, axis=0).astype(np.float32)


def crop_or_pad_reference(input, shape):
    """A tensor cut or filled up with zeros to a given shape."""
    if shape.ndim != 1 or shape.size != input.ndim or np.any(shape < 0):
        raise ValueError("not a size for each dimension")
    resized = np.zeros(shape, input.dtype)
    both = tuple(slice(side) for side in np.minimum(input.shape, shape).astype(int))
    resized[both] = input[both]
    return resized


def unit_impulse_reference(position, size):
    """All zeros, but for a one at a given position."""
    if position.ndim != 1 or np.any((position < 0) | (position >= size)):
        raise ValueError("not a position in the impulse")
    impulse = np.zeros([size] * position.size, np.float32)
    impulse[tuple(position)] = 1
    return impulse


def every_other_row_reference(rows):
    """Rows 0, 2, 4 and so on."""
    return rows[::2]
