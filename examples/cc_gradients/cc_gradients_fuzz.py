"""Generated calls: `python tools/fuzz.py examples/cc_gradients/cc_gradients_fuzz.py`."""

from pathlib import Path

import numpy as np
from cc_gradients import cyclic_encoding, mat_mul, round_to_step, squared_relu
from hypothesis import strategies as st
from op_library import load_op_library

from opcheck.strategies import calls, mostly, shapes, tensors

_round_through = load_op_library(
    Path(__file__).with_name("libsolution_round_through.so"), "round_through"
)


def round_through(x):
    return _round_through.round_through(x)


def squared_relu_reference(x):
    return np.square(np.maximum(x, 0))


def mat_mul_reference(a, b, transpose_a, transpose_b):
    if a.ndim != 2 or b.ndim != 2:
        raise ValueError
    a, b = a.T if transpose_a else a, b.T if transpose_b else b
    terms, result = np.abs(a) @ np.abs(b), a @ b
    if np.any(np.isinf(terms) | ((terms > 1e3) & (terms > 100 * np.abs(result)))):
        raise NotImplementedError("huge terms that cancel or overflow")
    return result


def valid(size):
    """A period or a step, as the float32 that it becomes."""
    size = np.float32(size)
    if 0 < size < np.finfo(np.float32).tiny:
        raise NotImplementedError("a subnormal number")
    if not 0 < size < np.inf:
        raise ValueError
    return size


def cyclic_encoding_reference(x, period):
    period = float(valid(period))
    angle = 2 * np.pi * (np.fmod(x.astype(float), period) / period)
    return np.sin(angle).astype(x.dtype), np.cos(angle).astype(x.dtype)


def round_to_step_reference(x, step):
    step = valid(step).astype(x.dtype)
    return np.rint(x / step) * step


TWO = st.sampled_from(["float32", "float64"])
STEPS = mostly(
    st.sampled_from([1.0, 0.5, 3.0, 365.25, 1e30, 1e-30]),
    st.sampled_from([0.0, -1.0, 1e-40, float("nan")]),
)
SIDE = st.shared(st.integers(0, 4), key="side")
MATRICES = mostly(st.tuples(SIDE, SIDE), shapes(2, 2) | shapes())
FUZZ = {
    "SquaredRelu": (squared_relu, calls(tensors(TWO)), squared_relu_reference),
    "OpByOp>MatMul": (
        mat_mul,
        TWO.flatmap(
            lambda kind: calls(
                tensors(kind, MATRICES),
                tensors(kind, MATRICES),
                transpose_a=st.booleans(),
                transpose_b=st.booleans(),
            )
        ),
        mat_mul_reference,
    ),
    "CyclicEncoding": (
        cyclic_encoding,
        calls(tensors(TWO), period=STEPS),
        cyclic_encoding_reference,
    ),
    "RoundToStep": (
        round_to_step,
        calls(tensors(TWO), step=STEPS),
        round_to_step_reference,
    ),
    "RoundThrough": (round_through, calls(tensors()), np.rint),
    "MistypedDefine": "has no kernel",
    "MistypedCreate": "has no kernel",
    "GradientForgotten": "has no kernel",
}
