"""Generated calls: `python -m opcheck fuzz examples/backward_compatibility/backward_compatibility_v1_fuzz.py`."""

from pathlib import Path

from backward_compatibility_reference import mu_law_reference
from hypothesis import strategies as st
from op_library import load_op_library

from opcheck.strategies import calls, tensors

_v1 = load_op_library(
    Path(__file__).with_name("libbackward_compatibility_v1.so"), "mu_law"
)
NUMBERS = st.sampled_from([255.0, 1.0, 1e-3, 1e6, 0.0, -2.5, float("nan"), float("inf")])  # fmt: skip


def mu_law(signal, mode, mu):
    return _v1.mu_law(signal, mode=mode, mu=mu)


FUZZ = {
    "MuLaw": (
        mu_law,
        calls(tensors(), mode=st.sampled_from(["encode", "decode", "x"]), mu=NUMBERS),
        mu_law_reference,
    ),
    "CheckOpDef": "of version 2",
}
