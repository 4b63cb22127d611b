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
from shape_functions_reference import (
    crop_or_pad_reference,
    direct_sum_reference,
    elementwise_median_reference,
    every_other_row_reference,
    kronecker_product_reference,
    mat_vec_reference,
    rgb_to_gray_reference,
    unit_impulse_reference,
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


def median_without_overflow(inputs):
    if np.abs(inputs).max(initial=0) > 1e37:
        raise NotImplementedError("the mean of two could overflow")
    return elementwise_median_reference(inputs)


def crop_or_pad_in_memory(input, shape):
    if np.any(shape > 1000):
        raise NotImplementedError("perhaps more than memory holds")
    return crop_or_pad_reference(input, shape)


def in_any_order(reference):
    """Without an answer where it depends on the order in which terms are added."""

    def guarded(*inputs):
        result, terms = reference(*inputs), reference(*map(np.abs, inputs))
        if np.any(np.isinf(terms) | ((terms > 1e3) & (terms > 100 * np.abs(result)))):
            raise NotImplementedError("huge terms that cancel or overflow")
        return result

    return guarded


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
        in_any_order(mat_vec_reference),
    ),
    "RgbToGray": (
        rgb_to_gray,
        calls(tensors(shape=mostly(COLORS, shapes()))),
        in_any_order(rgb_to_gray_reference),
    ),
    "DirectSum": (direct_sum, calls(MATRICES, MATRICES), direct_sum_reference),
    "KroneckerProduct": (
        kronecker_product,
        calls(MATRICES, MATRICES),
        kronecker_product_reference,
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
        median_without_overflow,
    ),
    "CropOrPad": (crop_or_pad, resizings(), crop_or_pad_in_memory),
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
        every_other_row_reference,
    ),
    "LyingEveryOtherRow": "its shape function is wrong on purpose",
    "SilentMedian": "has no kernel",
    "LazyMedian": "has no kernel",
    "CrashingKroneckerProduct": "ends the process on purpose",
}
