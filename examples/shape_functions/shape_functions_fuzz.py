"""Generated calls: `python -m opcheck fuzz examples/shape_functions/shape_functions_fuzz.py`."""

from pathlib import Path

import numpy as np
import shape_functions
from hypothesis import strategies as st
from op_library import load_op_library
from shape_functions import cross_features
from shape_functions_reference import (
    crop_or_pad_reference,
    cross_features_reference,
    every_other_row_reference,
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


def crop_or_pad_in_memory(input, shape):
    if np.any(shape > 1000):
        raise NotImplementedError("perhaps more than memory holds")
    return crop_or_pad_reference(input, shape)


@st.composite
def resizings(draw):
    shape = draw(shapes(max_rank=3))
    rank = mostly(st.just((len(shape),)), shapes(max_rank=2))
    usual = tensors(st.sampled_from(["int32", "int64"]), rank, st.integers(0, 5))
    far = tensors("int64", rank, st.sampled_from([-1, 1, 2, 2**62]))
    return draw(calls(tensors(shape=st.just(shape)), shape=mostly(usual, far)))


ROWS = st.shared(st.integers(0, 4), key="rows")
MATRICES = tensors(shape=mostly(st.tuples(ROWS, st.integers(0, 5)), shapes()))
FUZZ = {
    "CrossFeatures": (
        cross_features,
        calls(MATRICES, MATRICES),
        cross_features_reference,
    ),
    "CropOrPad": (crop_or_pad, resizings(), crop_or_pad_in_memory),
    "EveryOtherRow": (
        every_other_row,
        calls(tensors()),
        every_other_row_reference,
    ),
    "LyingEveryOtherRow": "its shape function is wrong on purpose",
    "SilentCrossFeatures": "has the kernel of CrossFeatures",
    "CrashingCrossFeatures": "ends the process on purpose",
    "ShapeCalls": "has no input",
    "TimesAsked": "counts, whatever its input",
}
