"""Generated calls: `python tools/fuzz.py examples/opcheck/keep_first_fuzz.py`."""

import numpy as np
from hypothesis import strategies as st
from keep_first import keep_first
from solution_shift_right import shift_right_repaired

from opcheck.strategies import calls, tensors

NUMBERS = st.sampled_from([*range(-1, 9), 2**31, 2**63 - 1])


def reference(values, count):
    if count < 0:
        raise ValueError
    kept = np.zeros_like(values)
    kept.flat[:count] = values.flat[:count]
    return kept


def shifted(values, places):
    places = min(places, values.size)
    padded = np.concatenate([np.zeros(places, values.dtype), values.reshape(-1)])
    return padded[: values.size].reshape(values.shape)


FUZZ = {
    "KeepFirst": (
        keep_first,
        calls(tensors(st.sampled_from(["float32", "float64", "int32"])), count=NUMBERS),
        reference,
    ),
    "ShiftRightRepaired": (
        shift_right_repaired,
        calls(tensors(st.sampled_from(["float32", "float64"])), places=NUMBERS),
        shifted,
    ),
    "ShiftRight": "wrong on purpose",
    "KeepFirstDraft": "wrong on purpose",
    "KeepFirstShaped": "wrong on purpose",
    "KeepFirstBounded": "wrong on purpose",
    "KeepFirstSloped": "wrong on purpose",
    "KeepFirstLocal": "wrong on purpose",
}
