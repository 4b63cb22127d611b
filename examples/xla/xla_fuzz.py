"""Generated calls: `python -m opcheck fuzz examples/xla/xla_fuzz.py`."""

from hypothesis import strategies as st
from xla import exponential_average
from xla_reference import exponential_average_reference

from opcheck.strategies import calls, tensors

FUZZ = {
    "ExponentialAverage": (
        exponential_average,
        calls(
            tensors(st.sampled_from(["float32", "float64"])),
            decay=st.sampled_from([0.0, 0.1, 0.5, 0.9, 0.99]) | st.floats(-0.5, 1.5),
        ),
        exponential_average_reference,
    )
}
