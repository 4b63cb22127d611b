"""Generated calls: `python -m opcheck fuzz examples/opcheck/masked_mean_fuzz.py`."""

from hypothesis import strategies as st
from masked_mean import masked_mean
from masked_mean_reference import masked_mean_reference

from opcheck.strategies import calls, mostly, shapes, tensors

ONE_SHAPE = st.shared(mostly(shapes(2, 2), shapes()))
VALUES = tensors(st.sampled_from(["float32", "float64"]), ONE_SHAPE, st.integers(-9, 9))


FUZZ = {
    "MaskedMean": (
        masked_mean,
        calls(VALUES, tensors("bool", mostly(ONE_SHAPE, shapes()))),
        masked_mean_reference,
    ),
    "MaskedMeanDraft": "wrong on purpose",
    "MaskedMeanRepaired": "wrong on purpose",
}
