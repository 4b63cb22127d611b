"""Generated calls: `python -m opcheck fuzz tests/sliding_max_fuzz.py`."""

from hypothesis import strategies as st
from sliding_max import sliding_max, sliding_max_grad
from sliding_max_reference import sliding_max_grad_reference, sliding_max_reference

from opcheck.strategies import calls, mostly, shapes, tensors

DTYPES = st.sampled_from(
    ["bfloat16", "float16", "float32", "float64"]
    + [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]
)
SHAPES = mostly(shapes(min_rank=1, max_side=6), shapes())
FLOATS = st.sampled_from(["bfloat16", "float16", "float32", "float64"])
SAME = st.shared(SHAPES)
FUZZ = {
    "SlidingMax": (
        sliding_max,
        calls(tensors(DTYPES, SHAPES), window=st.integers(1, 3)),
        sliding_max_reference,
    ),
    "SlidingMaxGrad": (
        sliding_max_grad,
        calls(
            tensors(FLOATS, SAME),
            tensors(st.just("int64"), SAME),
            window=st.integers(1, 3),
        ),
        sliding_max_grad_reference,
    ),
}
