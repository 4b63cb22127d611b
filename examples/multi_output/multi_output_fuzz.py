"""Generated calls: `python tools/fuzz.py examples/multi_output/multi_output_fuzz.py`."""

from pathlib import Path

import multi_output
import numpy as np
from hypothesis import strategies as st
from multi_output import extremes, zero_out_at
from op_library import load_op_library

from opcheck.strategies import calls, mostly, shapes, tensors

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
    if values.ndim == 0:
        raise ValueError
    return [f(values, axis=-1) for f in (np.min, np.max, np.argmin, np.argmax)]


def extremes_grad_reference(minimum_grad, maximum_grad, argmin, argmax, columns):
    if len({minimum_grad.shape, maximum_grad.shape, argmin.shape, argmax.shape}) > 1:
        raise ValueError
    columns = int(columns)
    if np.any(
        (np.stack([argmin, argmax]) < 0) | (np.stack([argmin, argmax]) >= columns)
    ):
        raise ValueError
    if columns > 1000:
        raise NotImplementedError("more zeros than memory")
    values_grad = np.zeros([*minimum_grad.shape, columns], minimum_grad.dtype)
    rows = tuple(np.indices(minimum_grad.shape))
    np.add.at(values_grad, (*rows, argmin), minimum_grad)
    np.add.at(values_grad, (*rows, argmax), maximum_grad)
    return values_grad


THREE = st.sampled_from(["float32", "float64", "int32"])
SHAPE = st.shared(shapes(max_rank=3), key="shape")
FITTING = mostly(SHAPE, shapes(max_rank=2))
ROWS = st.tuples(SHAPE, st.integers(1, 5)).map(lambda both: (*both[0], both[1]))
INDICES = mostly(st.integers(0, 2), st.integers(-1, 5))
FUZZ = {
    "ZeroOutAt": (
        zero_out_at,
        calls(
            tensors(THREE),
            index=st.sampled_from([0, 0, 0, 1, 1, 2])
            | st.sampled_from([3, 8, -1, 2**62]),
        ),
        zero_out_at_reference,
    ),
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
            tensors("float32", FITTING),
            tensors("float32", FITTING),
            tensors("int64", FITTING, INDICES),
            tensors("int64", FITTING, INDICES),
            tensors(
                "int64",
                mostly(st.just(()), shapes(max_rank=2)),
                mostly(st.integers(3, 6), st.integers(-1, 2)),
            ),
        ),
        extremes_grad_reference,
    ),
    "Frexp": (
        frexp,
        calls(tensors(st.sampled_from(["float32", "float64"]))),
        np.frexp,
    ),
    "FrexpWithoutGradient": "Frexp under another name",
    "FrexpWithOneArgument": "Frexp under another name",
    "FrexpWithTwoGradients": "Frexp under another name",
    "FrexpIsConstant": "Frexp under another name",
    "FrexpWithReport": "Frexp under another name",
    "ForgetsOutput": "forgets an output on purpose",
}
