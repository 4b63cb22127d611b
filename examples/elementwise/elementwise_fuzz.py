"""Generated calls: `python -m opcheck fuzz examples/elementwise/elementwise_fuzz.py`."""

from pathlib import Path

import numpy as np
from elementwise import log_cosh, log_cosh_plain
from elementwise_reference import log_cosh_reference
from hypothesis import strategies as st
from op_library import load_op_library

from opcheck.strategies import calls, tensors

_solution = load_op_library(
    Path(__file__).with_name("libsolution_softsign.so"), "soft_sign"
)


def soft_sign(x):
    return _solution.soft_sign(x)


def quiet(reference):
    """Without NumPy's warnings of what overflows on its way."""

    def silenced(*inputs):
        if inputs[0].dtype.kind == "V":
            raise NotImplementedError("bfloat16 is not NumPy's own")
        with np.errstate(all="ignore"):
            return reference(*inputs)

    return silenced


def soft_sign_reference(x):
    return x / (1 + np.abs(x))


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
    "SoftSign": (
        soft_sign,
        calls(tensors(st.sampled_from(["float32", "float64"]))),
        quiet(soft_sign_reference),
    ),
}
