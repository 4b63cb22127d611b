"""Generated calls: `python -m opcheck fuzz examples/multi_output/multi_output_fuzz.py`."""

import multi_output
import numpy as np
from hypothesis import strategies as st
from multi_output import extremes
from multi_output_reference import (
    extremes_grad_reference,
    extremes_reference,
)

from opcheck.strategies import calls, mostly, shapes, tensors


def extremes_grad(minimum_grad, maximum_grad, argmin, argmax, columns):
    return multi_output.extremes_grad(
        minimum_grad, maximum_grad, argmin, argmax, columns
    )


def extremes_grad_in_memory(minimum_grad, maximum_grad, argmin, argmax, columns):
    if np.any(columns > 1000):
        raise NotImplementedError("more zeros than memory")
    return extremes_grad_reference(minimum_grad, maximum_grad, argmin, argmax, columns)


THREE = st.sampled_from(["float32", "float64", "int32"])
TWO = st.shared(st.sampled_from(["float32", "float64"]), key="dtype")
SHAPE = st.shared(shapes(max_rank=3), key="shape")
FITTING = mostly(SHAPE, shapes(max_rank=2))
ROWS = st.tuples(SHAPE, st.integers(1, 5)).map(lambda both: (*both[0], both[1]))
INDICES = mostly(st.integers(0, 2), st.integers(-1, 5))
FUZZ = {
    "Extremes": (
        extremes,
        calls(
            tensors(THREE, mostly(ROWS, shapes())),
        ),
        extremes_reference,
    ),
    "ExtremesGrad": (
        extremes_grad,
        calls(
            tensors(TWO, FITTING),
            tensors(TWO, FITTING),
            tensors("int64", FITTING, INDICES),
            tensors("int64", FITTING, INDICES),
            tensors(
                "int64",
                mostly(st.just(()), shapes(max_rank=2)),
                mostly(st.integers(3, 6), st.integers(-1, 2)),
            ),
        ),
        extremes_grad_in_memory,
    ),
    "ForgetsOutput": "forgets an output on purpose",
}
