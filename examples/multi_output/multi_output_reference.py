"""The ops of the chapter in NumPy."""

import numpy as np


def zero_out_at_reference(to_zero, index):
    """Keeps the element at `index`, and says where it is."""
    zeroed = np.zeros_like(to_zero)
    zeroed.flat[index] = to_zero.flat[index]
    return zeroed, np.array(np.unravel_index(index, to_zero.shape), np.int64)


def extremes_reference(values):
    """The smallest and the largest element of each row, and their places."""
    if values.ndim == 0:
        raise ValueError("a scalar has no rows")
    return [f(values, axis=-1) for f in (np.min, np.max, np.argmin, np.argmax)]


def extremes_grad_reference(minimum_grad, maximum_grad, argmin, argmax, columns):
    """Adds the gradients of each row where its extremes were."""
    places, grads = np.stack([argmin, argmax]), np.stack([minimum_grad, maximum_grad])
    if places.shape != grads.shape or np.any((places < 0) | (places >= columns)):
        raise ValueError("not a place for each gradient")
    values_grad = np.zeros([*minimum_grad.shape, int(columns)], grads.dtype)
    rows = tuple(np.indices(minimum_grad.shape))
    np.add.at(values_grad, (*rows, argmin), minimum_grad)
    np.add.at(values_grad, (*rows, argmax), maximum_grad)
    return values_grad


def frexp_reference(values):
    """Each number as mantissa and exponent."""
    return np.frexp(values)
