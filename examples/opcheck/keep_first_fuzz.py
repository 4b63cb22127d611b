"""Generated calls: `python -m opcheck fuzz examples/opcheck/keep_first_fuzz.py`."""

from hypothesis import strategies as st
from keep_first import keep_first
from keep_first_reference import keep_first_reference, shift_right_reference
from solution_shift_right import shift_right_repaired

from opcheck.strategies import calls, tensors

NUMBERS = st.sampled_from([*range(-1, 9), 2**31, 2**63 - 1])


FUZZ = {
    "KeepFirst": (
        keep_first,
        calls(tensors(st.sampled_from(["float32", "float64", "int32"])), count=NUMBERS),
        keep_first_reference,
    ),
    "ShiftRightRepaired": (
        shift_right_repaired,
        calls(tensors(st.sampled_from(["float32", "float64"])), places=NUMBERS),
        shift_right_reference,
    ),
    "ShiftRight": "wrong on purpose",
}
