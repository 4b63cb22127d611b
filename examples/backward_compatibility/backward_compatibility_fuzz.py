"""Generated calls: `python -m opcheck fuzz examples/backward_compatibility/backward_compatibility_fuzz.py`."""

import op_def_check
from backward_compatibility_reference import mu_law_reference
from hypothesis import strategies as st
from mu_law import mu_law

from opcheck.strategies import calls, mostly, shapes, tensors

NUMBERS = st.sampled_from([255.0, 1.0, 1e-3, 1e6, 0.0, -2.5, float("nan"), float("inf")])  # fmt: skip
MODES = st.sampled_from(["encode", "decode", "x"])
DEFINITION = tensors(
    "string",
    mostly(st.just(()), shapes(max_rank=1)),
    mostly(
        st.just(b"\n\x05MuLaw"),
        st.sampled_from([b"", b"\n\x04Relu", b"\n\x04gone"]) | st.binary(max_size=12),
    ),
)


def check_op_def(old, between):
    return op_def_check._library.check_op_def(old, between)


FUZZ = {
    "MuLaw": (
        mu_law,
        calls(
            tensors(st.sampled_from(["float32", "float64"])),
            mode=MODES,
            mu=NUMBERS,
            gain=st.sampled_from([1.0, -2.0, 0.0]),
        ),
        mu_law_reference,
    ),
    "CheckOpDef": (
        check_op_def,
        calls(DEFINITION, DEFINITION),
        "the comparison is TensorFlow's own",
        ("bad_input",),  # TensorFlow says what is wrong with a definition
    ),
}
