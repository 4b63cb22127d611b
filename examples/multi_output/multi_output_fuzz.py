"""Generated calls: `python tools/fuzz.py examples/multi_output/multi_output_fuzz.py`."""

from pathlib import Path

import multi_output
import numpy as np
from hypothesis import strategies as st
from multi_output import extremes, zero_out_at
from op_library import load_op_library

from opcheck.strategies import calls, shapes, tensors

_frexp = load_op_library(Path(__file__).with_name("libfrexp.so"), "frexp")


def frexp(values):
    return _frexp.frexp(values)


def extremes_grad(minimum_grad, maximum_grad, argmin, argmax, columns):
    return multi_output.extremes_grad(
        minimum_grad, maximum_grad, argmin, argmax, columns
    )


def zero_out_at_reference(to_zero, index):
    zeroed = np.zeros_like(to_zero)
    zeroed.flat[index] = to_zero.flat[index]
    return zeroed, np.array(np.unravel_index(index, to_zero.shape), np.int64)


def extremes_reference(values):
    found = [f(values, axis=-1) for f in (np.min, np.max, np.argmin, np.argmax)]
    return found


THREE = st.sampled_from(["float32", "float64", "int32"])
SHAPE = st.shared(shapes(max_rank=3), key="shape")
MOSTLY = SHAPE | SHAPE | SHAPE | shapes(max_rank=2)
INDICES = tensors("int64", MOSTLY, st.integers(-1, 5))
FUZZ = {
    "ZeroOutAt": (
        zero_out_at,
        calls(tensors(THREE), index=st.sampled_from([*range(-1, 9), 2**62])),
        zero_out_at_reference,
    ),
    "Extremes": (extremes, calls(tensors(THREE)), extremes_reference),
    "ExtremesGrad": (
        extremes_grad,
        calls(
            tensors("float32", MOSTLY),
            tensors("float32", MOSTLY),
            INDICES,
            INDICES,
            tensors("int64", st.sampled_from([(), (), (), (1,)]), st.integers(-1, 6)),
        ),
    ),
    "Frexp": (frexp, calls(tensors(st.sampled_from(["float32", "float64"])))),
    "FrexpWithoutGradient": "Frexp under another name",
    "FrexpWithOneArgument": "Frexp under another name",
    "FrexpWithTwoGradients": "Frexp under another name",
    "FrexpIsConstant": "Frexp under another name",
    "FrexpWithReport": "Frexp under another name",
    "ForgetsOutput": "forgets an output on purpose",
}
