"""Generated calls: `python -m opcheck fuzz examples/broadcasting/broadcasting_fuzz.py`."""

from pathlib import Path

import numpy as np
from broadcasting import abs_difference, blend
from broadcasting_reference import (
    abs_difference_reference,
    blend_reference,
    hypotenuse_reference,
)
from hypothesis import strategies as st
from op_library import load_op_library

from opcheck.strategies import calls, mostly, shapes, tensors

_solution = load_op_library(
    Path(__file__).with_name("libsolution_hypotenuse.so"), "hypotenuse"
)


def hypotenuse(x, y):
    return _solution.hypotenuse(x, y)


def quiet(reference):
    """Without NumPy's warnings of what overflows on its way."""

    def silenced(*inputs):
        with np.errstate(all="ignore"):
            return reference(*inputs)

    return silenced


@st.composite
def broadcastable(draw, dtypes, count=2):
    """Tensors whose shapes mostly broadcast."""
    dtype = draw(st.sampled_from(dtypes))
    whole = draw(shapes(max_rank=5, max_side=3))
    chosen = []
    for _ in range(count):
        first = draw(st.integers(0, len(whole)))
        ones = draw(st.lists(st.booleans(), min_size=5, max_size=5))
        shape = [1 if one else size for one, size in zip(ones, whole)][first:]
        chosen.append(mostly(st.just(tuple(shape)), shapes(max_rank=3)))
    return draw(calls(*(tensors(dtype, shape) for shape in chosen)))


FLOATS = ["float16", "float32", "float64"]
FUZZ = {
    "AbsDifference": (
        abs_difference,
        broadcastable([*FLOATS, "uint8", "int32"]),
        quiet(abs_difference_reference),
    ),
    "Blend": (
        blend,
        broadcastable(["float32", "float64"], count=3),
        quiet(blend_reference),
    ),
    "Hypotenuse": (
        hypotenuse,
        broadcastable(["float32"]),
        quiet(hypotenuse_reference),
    ),
}
