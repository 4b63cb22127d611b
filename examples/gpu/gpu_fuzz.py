"""Generated calls: `python -m opcheck fuzz examples/gpu/gpu_fuzz.py`."""

import numpy as np
from gpu_reference import (
    rms_norm_grad_reference,
    rms_norm_reference,
    softsign_reference,
)
from hypothesis import strategies as st
from rms_norm import rms_norm, rms_norm_grad
from softsign import softsign

from opcheck.strategies import calls, mostly, shapes, tensors


def quiet(reference):
    """Without NumPy's warnings of what overflows on its way."""

    def silenced(*inputs, **attrs):
        with np.errstate(all="ignore"):
            return reference(*inputs, **attrs)

    return silenced


SHAPE = st.shared(shapes(min_rank=1), key="shape")
EPSILON = mostly(
    st.sampled_from([1e-6, 0.0, 1.0]), st.sampled_from([-1.0, float("nan")])
)
FUZZ = {
    "OpByOp>Softsign": (softsign, calls(tensors()), quiet(softsign_reference)),
    "RmsNorm": (
        rms_norm,
        calls(tensors(), epsilon=EPSILON),
        quiet(rms_norm_reference),
    ),
    "RmsNormGrad": (
        rms_norm_grad,
        calls(
            tensors(shape=mostly(SHAPE, shapes())),
            tensors(shape=SHAPE),
            epsilon=EPSILON,
        ),
        quiet(rms_norm_grad_reference),
    ),
}
