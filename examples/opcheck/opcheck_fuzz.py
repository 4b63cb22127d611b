"""Generated calls: `python -m opcheck fuzz examples/opcheck/opcheck_fuzz.py`."""

from hypothesis import strategies as st
from keep_first import keep_first
from keep_first_reference import keep_first_reference, shift_right_reference
from masked_mean import masked_mean
from masked_mean_reference import masked_mean_reference
from solution_shift_right import shift_right_repaired

from opcheck.strategies import calls, mostly, shapes, tensors

NUMBERS = st.sampled_from([*range(-1, 9), 2**31, 2**63 - 1])
ONE_SHAPE = st.shared(mostly(shapes(2, 2), shapes()))
VALUES = tensors(st.sampled_from(["float32", "float64"]), ONE_SHAPE, st.integers(-9, 9))


FUZZ = {
    "KeepFirst": (
        keep_first,
        calls(tensors(st.sampled_from(["float32", "float64", "int32"])), count=NUMBERS),
        keep_first_reference,
    ),
    "MaskedMean": (
        masked_mean,
        calls(VALUES, tensors("bool", mostly(ONE_SHAPE, shapes()))),
        masked_mean_reference,
    ),
    "MaskedMeanDraft": "wrong on purpose",
    "MaskedMeanRepaired": "wrong on purpose",
    "ShiftRightRepaired": (
        shift_right_repaired,
        calls(tensors(st.sampled_from(["float32", "float64"])), places=NUMBERS),
        shift_right_reference,
    ),
    "ShiftRight": "wrong on purpose",
}
