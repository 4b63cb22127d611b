"""Generated calls: `python -m opcheck fuzz examples/frexp/frexp_fuzz.py`."""

from frexp import frexp
from frexp_reference import frexp_reference
from hypothesis import strategies as st

from opcheck.strategies import calls, tensors

FUZZ = {
    "Frexp": (
        frexp,
        calls(tensors(st.sampled_from(["float32", "float64"]))),
        frexp_reference,
    ),
    "FrexpWithoutGradient": "Frexp again",
    "FrexpWithOneArgument": "Frexp again",
    "FrexpWithTwoGradients": "Frexp again",
    "FrexpIsConstant": "Frexp again",
    "FrexpWithNumpy": "Frexp again",
    "FrexpWithReport": "Frexp again",
}
