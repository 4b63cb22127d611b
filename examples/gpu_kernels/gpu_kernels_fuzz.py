"""Generated calls: `python -m opcheck fuzz examples/gpu_kernels/gpu_kernels_fuzz.py`."""

import numpy as np
from functor_rms_norm import functor_rms_norm
from gpu_kernels_reference import functor_rms_norm_reference
from hypothesis import strategies as st

from opcheck.strategies import calls, mostly, tensors


def quiet(x, epsilon):
    """Without NumPy's warnings of what overflows on its way."""
    with np.errstate(all="ignore"):
        return functor_rms_norm_reference(x, epsilon)


FUZZ = {
    "FunctorRmsNorm": (
        functor_rms_norm,
        calls(
            tensors(st.sampled_from(["float32", "float64"])),
            epsilon=mostly(
                st.sampled_from([1e-6, 0.0, 1.0]), st.sampled_from([-1.0, float("nan")])
            ),
        ),
        quiet,
    ),
}
