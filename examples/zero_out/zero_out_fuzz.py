"""Generated calls: `python -m opcheck fuzz examples/zero_out/zero_out_fuzz.py`."""

from pathlib import Path

from hypothesis import strategies as st
from op_library import load_op_library
from zero_out import zero_out
from zero_out_reference import keep_last_reference, zero_out_reference
from zero_small import zero_small
from zero_small_reference import zero_small_reference

from opcheck.strategies import calls, mostly, shapes, tensors

_keep_last = load_op_library(
    Path(__file__).with_name("libsolution_keep_last.so"), "keep_last"
)


def keep_last(to_zero):
    return _keep_last.keep_last(to_zero)


FUZZ = {
    "ZeroOut": (
        zero_out,
        calls(tensors(st.sampled_from(["float32", "float64", "int32"]))),
        zero_out_reference,
    ),
    "KeepLast": (keep_last, calls(tensors()), keep_last_reference),
    "ZeroSmall": (
        zero_small,
        calls(tensors(), tensors(shape=mostly(st.just(()), shapes(max_rank=2)))),
        zero_small_reference,
    ),
}
