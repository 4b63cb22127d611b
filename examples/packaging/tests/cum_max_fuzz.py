"""Generated calls: `python -m opcheck fuzz tests/cum_max_fuzz.py`."""

from cum_max import cum_max
from cum_max_reference import cum_max_reference
from hypothesis import strategies as st

from opcheck.strategies import calls, tensors

DTYPES = st.sampled_from(["float32", "float64", "int32", "int64"])
FUZZ = {"CumMax": (cum_max, calls(tensors(DTYPES)), cum_max_reference)}
