"""Generated calls: `python tools/fuzz.py examples/cc_gradients/cc_gradients_fuzz.py`."""

from pathlib import Path

import numpy as np
from cc_gradients import cyclic_encoding, mat_mul, round_to_step, squared_relu
from hypothesis import strategies as st
from op_library import load_op_library

from opcheck.strategies import calls, shapes, tensors

_round_through = load_op_library(
    Path(__file__).with_name("libround_through.so"), "round_through"
)


def round_through(x):
    return _round_through.round_through(x)


def squared_relu_reference(x):
    return np.square(np.maximum(x, 0))


def mat_mul_reference(a, b, transpose_a, transpose_b):
    a, b = a.T if transpose_a else a, b.T if transpose_b else b
    terms, result = np.abs(a) @ np.abs(b), a @ b
    if np.any(np.isinf(terms) | ((terms > 1e3) & (terms > 100 * np.abs(result)))):
        raise ValueError("huge terms that cancel or overflow")
    return result


TWO = st.sampled_from(["float32", "float64"])
STEPS = st.sampled_from([1.0, 0.5, 3.0, 0.0, -1.0, 1e30, 1e-40, float("nan")])
SIDE = st.shared(st.integers(0, 4), key="side")
MATRICES = st.tuples(SIDE, SIDE) | shapes(2, 2) | shapes()
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
    "CyclicEncoding": (cyclic_encoding, calls(tensors(TWO), period=STEPS)),
    "RoundToStep": (round_to_step, calls(tensors(TWO), step=STEPS)),
    "RoundThrough": (round_through, calls(tensors()), np.rint),
    "MistypedDefine": "has no kernel",
    "MistypedCreate": "has no kernel",
    "GradientForgotten": "has no kernel",
}
