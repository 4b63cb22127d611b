"""Generated calls: `python -m opcheck fuzz examples/elementwise/elementwise_fuzz.py`."""

from pathlib import Path

import numpy as np
from elementwise import abs_difference, log_cosh, log_cosh_plain
from elementwise_reference import (
    abs_difference_reference,
    hypotenuse_reference,
    log_cosh_reference,
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
        if inputs[0].dtype.kind == "V":
            raise NotImplementedError("bfloat16 is not NumPy's own")
        with np.errstate(all="ignore"):
            return reference(*inputs)

    return silenced


@st.composite
def pairs(draw, dtypes):
    """Two tensors whose shapes mostly broadcast."""
    dtype = draw(st.sampled_from(dtypes))
    whole = draw(shapes(max_rank=6, max_side=3))
    chosen = []
    for _ in "xy":
        first = draw(st.integers(0, len(whole)))
        ones = draw(st.lists(st.booleans(), min_size=6, max_size=6))
        shape = [1 if one else size for one, size in zip(ones, whole)][first:]
        chosen.append(mostly(st.just(tuple(shape)), shapes(max_rank=3)))
    return draw(calls(*(tensors(dtype, shape) for shape in chosen)))


FLOATS = ["float16", "bfloat16", "float32", "float64"]
FUZZ = {
    "LogCosh": (
        log_cosh,
        calls(tensors(st.sampled_from(FLOATS))),
        quiet(log_cosh_reference),
    ),
    "LogCoshPlain": (
        log_cosh_plain,
        calls(tensors("float32")),
        quiet(log_cosh_reference),
    ),
    "AbsDifference": (
        abs_difference,
        pairs([*FLOATS, "uint8", "int32", "int64"]),
        quiet(abs_difference_reference),
    ),
    "Hypotenuse": (hypotenuse, pairs(["float32"]), quiet(hypotenuse_reference)),
    "PacketSizes": "has no input",
}
