"""Generated calls: `python tools/fuzz.py examples/shape_functions/shape_functions_fuzz.py`."""

from pathlib import Path

import numpy as np
import shape_functions
from hypothesis import strategies as st
from op_library import load_op_library
from shape_functions import (
    direct_sum,
    elementwise_median,
    kronecker_product,
    mat_vec,
    rgb_to_gray,
    unit_impulse,
)

from opcheck.strategies import calls, mostly, shapes, tensors

_rows = load_op_library(
    Path(__file__).with_name("libevery_other_row.so"), "every_other_row"
)


def every_other_row(rows):
    return _rows.every_other_row(rows)


def crop_or_pad(input, *, shape):
    """With a shape that stays when the values of the inputs are varied: not any size fits into memory."""
    return shape_functions.crop_or_pad(input, shape)


def median_reference(inputs):
    if np.abs(inputs).max(initial=0) > 1e37:
        raise NotImplementedError("the mean of two could overflow")
    return np.median(inputs, axis=0).astype(np.float32)


def kronecker_reference(a, b):
    if a.ndim != 2 or b.ndim != 2:
        raise ValueError
    blocks = np.einsum("ij,kl->ikjl", a, b)
    return blocks.reshape(a.shape[0] * b.shape[0], a.shape[1] * b.shape[1])


def mat_vec_reference(matrix, vector):
    if matrix.ndim != 2 or vector.ndim != 1:
        raise ValueError
    terms, result = np.abs(matrix) @ np.abs(vector), matrix @ vector
    if np.any(np.isinf(terms) | ((terms > 1e3) & (terms > 100 * np.abs(result)))):
        raise NotImplementedError("huge terms that cancel or overflow")
    return result


def rgb_to_gray_reference(rgb):
    if rgb.shape[-1:] != (3,):
        raise ValueError
    weights = np.float32([0.2989, 0.587, 0.114])
    return mat_vec_reference(rgb.reshape(-1, 3), weights).reshape(*rgb.shape[:-1], 1)


def direct_sum_reference(a, b):
    if a.ndim != 2 or b.ndim != 2:
        raise ValueError
    total = np.zeros(np.add(a.shape, b.shape), a.dtype)
    total[: a.shape[0], : a.shape[1]] = a
    total[a.shape[0] :, a.shape[1] :] = b
    return total


def crop_or_pad_reference(input, shape):
    if shape.ndim != 1 or shape.size != input.ndim or np.any(shape < 0):
        raise ValueError
    if np.any(shape > 1000):
        raise NotImplementedError("perhaps more than memory holds")
    resized = np.zeros(shape, input.dtype)
    both = tuple(slice(side) for side in np.minimum(input.shape, shape).astype(int))
    resized[both] = input[both]
    return resized


def unit_impulse_reference(position, size):
    if position.ndim != 1 or np.any((position < 0) | (position >= size)):
        raise ValueError
    impulse = np.zeros([size] * position.size, np.float32)
    impulse[tuple(position)] = 1
    return impulse


@st.composite
def resizings(draw):
    shape = draw(shapes(max_rank=3))
    rank = mostly(st.just((len(shape),)), shapes(max_rank=2))
    usual = tensors(st.sampled_from(["int32", "int64"]), rank, st.integers(0, 5))
    far = tensors("int64", rank, st.sampled_from([-1, 1, 2, 2**62]))
    return draw(calls(tensors(shape=st.just(shape)), shape=mostly(usual, far)))


COLUMNS = st.shared(st.integers(0, 5), key="columns")
SHAPE = st.shared(shapes(max_rank=3), key="shape")
MATRICES = tensors(shape=mostly(shapes(2, 2), shapes()))
COLORS = shapes(max_rank=3).map(lambda pixels: (*pixels, 3))
FUZZ = {
    "MatVec": (
        mat_vec,
        calls(
            tensors(shape=mostly(st.tuples(st.integers(0, 4), COLUMNS), shapes())),
            tensors(shape=mostly(st.tuples(COLUMNS), shapes(max_rank=2))),
        ),
        mat_vec_reference,
    ),
    "RgbToGray": (
        rgb_to_gray,
        calls(tensors(shape=mostly(COLORS, shapes()))),
        rgb_to_gray_reference,
    ),
    "DirectSum": (direct_sum, calls(MATRICES, MATRICES), direct_sum_reference),
    "KroneckerProduct": (
        kronecker_product,
        calls(MATRICES, MATRICES),
        kronecker_reference,
    ),
    "ElementwiseMedian": (
        elementwise_median,
        calls(
            st.lists(
                tensors(shape=mostly(SHAPE, shapes(max_rank=2))),
                min_size=1,
                max_size=5,
            )
        ),
        median_reference,
    ),
    "CropOrPad": (crop_or_pad, resizings(), crop_or_pad_reference),
    "UnitImpulse": (
        unit_impulse,
        calls(
            tensors(
                "int64",
                mostly(shapes(1, 1), shapes(max_rank=2)),
                mostly(st.integers(0, 1), st.integers(-1, 4)),
            ),
            size=mostly(st.integers(2, 4), st.just(1)),
        ),
        unit_impulse_reference,
    ),
    "EveryOtherRow": (
        every_other_row,
        calls(tensors()),
        lambda rows: rows[::2],
    ),
    "LyingEveryOtherRow": "its shape function is wrong on purpose",
    "SilentMedian": "has no kernel",
    "LazyMedian": "has no kernel",
    "CrashingKroneckerProduct": "ends the process on purpose",
}
