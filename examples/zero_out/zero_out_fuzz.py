"""Generated calls: `python tools/fuzz.py examples/zero_out/zero_out_fuzz.py`."""

from pathlib import Path

import numpy as np
from hypothesis import strategies as st
from op_library import load_op_library
from zero_out import zero_out

from opcheck.strategies import calls, tensors

_keep_last = load_op_library(
    Path(__file__).with_name("libsolution_keep_last.so"), "keep_last"
)


def keep_last(to_zero):
    return _keep_last.keep_last(to_zero)


def reference(to_zero):
    zeroed = np.zeros_like(to_zero)
    zeroed.flat[:1] = to_zero.flat[:1]
    return zeroed


def keep_last_reference(to_zero):
    zeroed = np.zeros_like(to_zero)
    zeroed.flat[-1:] = to_zero.flat[-1:]
    return zeroed


FUZZ = {
    "ZeroOut": (
        zero_out,
        calls(tensors(st.sampled_from(["float32", "float64", "int32"]))),
        reference,
    ),
    "KeepLast": (keep_last, calls(tensors()), keep_last_reference),
    "RacyZeroOut": "a race on purpose",
}
