"""Generated calls: `python tools/fuzz.py examples/shape_functions/shape_functions_fuzz.py`."""

from pathlib import Path

import numpy as np
from hypothesis import strategies as st
from op_library import load_op_library
from shape_functions import (
    crop_or_pad,
    direct_sum,
    elementwise_median,
    kronecker_product,
    mat_vec,
    rgb_to_gray,
    unit_impulse,
)

from opcheck.strategies import calls, shapes, tensors

_rows = load_op_library(
    Path(__file__).with_name("libevery_other_row.so"), "every_other_row"
)


def every_other_row(rows):
    return _rows.every_other_row(rows)


def median_reference(inputs):
    if np.abs(inputs).max(initial=0) > 1e37:
        raise ValueError("the mean of two could overflow")
    return np.median(inputs, axis=0).astype(np.float32)


def kronecker_reference(a, b):
    if a.ndim != 2 or b.ndim != 2:
        raise ValueError("refused")
    blocks = np.einsum("ij,kl->ikjl", a, b)
    return blocks.reshape(a.shape[0] * b.shape[0], a.shape[1] * b.shape[1])


def mat_vec_reference(matrix, vector):
    terms, result = np.abs(matrix) @ np.abs(vector), matrix @ vector
    if np.any(np.isinf(terms) | ((terms > 1e3) & (terms > 100 * np.abs(result)))):
        raise ValueError("huge terms that cancel or overflow")
    return result


def direct_sum_reference(a, b):
    total = np.zeros(np.add(a.shape, b.shape), a.dtype)
    total[: a.shape[0], : a.shape[1]] = a
    total[a.shape[0] :, a.shape[1] :] = b
    return total


COLUMNS = st.shared(st.integers(0, 5), key="columns")
SHAPE = st.shared(shapes(max_rank=3), key="shape")
MATRICES = tensors(shape=shapes(2, 2) | shapes())
SIZES = st.sampled_from([0, 1, 2, 3, 3, 5, 5, -1])
TOO_LARGE = st.sampled_from([1, 2, 2**62])  # for any memory
FUZZ = {
    "MatVec": (
        mat_vec,
        calls(
            tensors(shape=st.tuples(st.integers(0, 4), COLUMNS) | shapes()),
            tensors(shape=st.tuples(COLUMNS) | shapes(max_rank=2)),
        ),
        mat_vec_reference,
    ),
    "RgbToGray": (
        rgb_to_gray,
        calls(tensors(shape=shapes(max_rank=3).map(lambda s: (*s, 3)) | shapes())),
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
            st.lists(tensors(shape=SHAPE | shapes(max_rank=2)), min_size=1, max_size=5)
        ),
        median_reference,
    ),
    "CropOrPad": (
        crop_or_pad,
        calls(
            tensors(max_rank=3),
            tensors(st.sampled_from(["int32", "int64"]), None, SIZES, max_rank=2)
            | tensors("int64", None, TOO_LARGE, max_rank=2),
        ),
    ),
    "UnitImpulse": (
        unit_impulse,
        calls(
            tensors("int64", None, st.integers(-1, 4), max_rank=2),
            size=st.sampled_from([1, 2, 4]),
        ),
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
