"""Generated calls: `python -m opcheck fuzz examples/cc_tests/cc_tests_fuzz.py`."""

from cc_tests import softshrink
from cc_tests_reference import softshrink_reference
from hypothesis import strategies as st

from opcheck.strategies import calls, mostly, tensors

BOUNDS = mostly(
    st.sampled_from([0.0, 0.5, 3.0, 1e30]), st.sampled_from([-1.0, float("nan")])
)
FUZZ = {
    "OpByOp>Softshrink": (
        softshrink,
        calls(tensors(st.sampled_from(["float32", "float64"])), bound=BOUNDS),
        softshrink_reference,
    ),
}
