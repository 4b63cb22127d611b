"""Generated calls: `python -m opcheck fuzz examples/cc_gradients/cc_gradients_fuzz.py`."""

from pathlib import Path

from cc_gradients import cyclic_encoding, round_to_step, squared_relu
from cc_gradients_reference import (
    cyclic_encoding_reference,
    round_through_reference,
    round_to_step_reference,
    squared_relu_reference,
)
from hypothesis import strategies as st
from op_library import load_op_library

from opcheck.strategies import calls, mostly, tensors

_round_through = load_op_library(
    Path(__file__).with_name("libsolution_round_through.so"), "round_through"
)


def round_through(x):
    return _round_through.round_through(x)


TWO = st.sampled_from(["float32", "float64"])
STEPS = mostly(
    st.sampled_from([1.0, 0.5, 3.0, 365.25, 1e30, 1e-30, 1e-40]),
    st.sampled_from([0.0, -1.0, float("nan")]),
)
FUZZ = {
    "SquaredRelu": (squared_relu, calls(tensors(TWO)), squared_relu_reference),
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
    "RoundThrough": (round_through, calls(tensors()), round_through_reference),
    "MistypedDefine": "has no kernel",
    "MistypedCreate": "has no kernel",
    "GradientForgotten": "returns its input",
    "GradientRegistries": "has no input",
    "GradientFunction": "its input is a NodeDef",
}
