"""Generated calls: `python -m opcheck fuzz examples/stable_abi/stable_abi_fuzz.py`."""

from pathlib import Path

from hypothesis import strategies as st
from op_library import load_op_library
from stable_abi import row_median
from stable_abi_reference import (
    row_kth_reference,
    row_median_reference,
    zero_out_reference,
)

from opcheck.strategies import calls, mostly, shapes, tensors

HERE = Path(__file__).parent


def zero_out_by_hand(to_zero):
    return load_op_library(HERE / "libby_hand.so").zero_out_by_hand(to_zero)


def zero_out_by_layer(to_zero):
    return load_op_library(HERE / "libby_layer.so").zero_out_by_layer(to_zero)


def row_kth(x, k):
    return load_op_library(HERE / "libsolution_row_kth.so").row_kth(x, k=k)


TYPES = st.sampled_from(["float16", "bfloat16", "float32", "float64", "int32", "int64"])
ROWS = mostly(shapes(min_rank=1), shapes())
FUZZ = {
    "RowMedian": (
        row_median,
        calls(tensors(TYPES, ROWS), upper=st.booleans()),
        row_median_reference,
    ),
    "ZeroOutByHand": (zero_out_by_hand, calls(tensors()), zero_out_reference),
    "ZeroOutByLayer": (zero_out_by_layer, calls(tensors()), zero_out_reference),
    "RowKth": (
        row_kth,
        calls(tensors("float32", ROWS), k=st.integers(1, 3)),
        row_kth_reference,
    ),
    "LimitAttrs": "shows what attrs there are",
    "LimitJoin": "shows that lists and strings work",
    "LimitFailure": "fails on purpose",
    "LimitParallel": "shows whose threads the layer takes",
    "LimitUnchecked": "is wrong on purpose",
    "LimitNode": "shows that the node tells of its attrs",
    "LimitNow": "shows that an op may finish before its function returns",
    "LimitLater": "ends the process on purpose",
}
