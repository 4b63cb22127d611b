"""Generated calls: `python -m opcheck fuzz examples/prototype/snake_fuzz.py`."""

from hypothesis import strategies as st
from snake import snake
from snake_reference import snake_reference

from opcheck.strategies import calls, tensors

FUZZ = {
    "Snake": (
        snake,
        calls(tensors(st.sampled_from(["float32", "float64"]))),
        snake_reference,
    )
}
