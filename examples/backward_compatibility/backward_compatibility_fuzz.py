"""Generated calls: `python tools/fuzz.py examples/backward_compatibility/backward_compatibility_fuzz.py`."""

from pathlib import Path

import backward_compatibility as v2
import numpy as np
import op_def_check
from hypothesis import strategies as st
from op_library import load_op_library

from opcheck.strategies import calls, mostly, shapes, tensors

_blend = load_op_library(Path(__file__).with_name("libsolution_blend.so"), "blend")


def power(signals):
    return v2._library.power(signals)


def flip_phase(signal, others):
    return v2._library.flip_phase(signal, others)


def mix(signals):
    return v2._library.mix(signals)


def blend(signals):
    return _blend.blend(signals)


def attenuate(signal, divisor):
    return v2._library.attenuate(signal, divisor=divisor)


def limit(signal, limit):
    return v2._library.limit(signal, limit=limit)


def gate(signal):
    return v2._library.gate(signal)


def check_op_def(old, between):
    return op_def_check._library.check_op_def(old, between)


def added(signals):
    return np.sum(np.stack(signals), axis=0)


def snap_reference(signal, rounding):
    return {"up": np.ceil, "down": np.floor, "nearest": np.rint}[rounding](signal)


SIGNAL = calls(tensors())
SHAPE = st.shared(shapes(max_rank=2), key="shape")
LIST = st.lists(
    tensors(shape=mostly(SHAPE, shapes(max_rank=2))), min_size=1, max_size=4
)
NUMBERS = st.sampled_from([0.0, 1.0, -2.5, 1e30, float("nan"), float("inf")])
DEFINITION = tensors(
    "string",
    mostly(st.just(()), shapes(max_rank=1)),
    mostly(
        st.just(b"\n\x04Gate"),
        st.sampled_from([b"", b"\n\x03Mix", b"\n\x04gone"]) | st.binary(max_size=12),
    ),
)
# Their errors say "input 1", not the name of a list.
NUMBERED = ("bad_input",)
FUZZ = {
    "Amplify": (
        v2.amplify,
        calls(tensors(), factor=NUMBERS),
        lambda signal, factor: np.float32(factor) * signal,
    ),
    "Attenuate": (
        attenuate,
        calls(tensors(), divisor=NUMBERS),
        lambda signal, divisor: signal / np.float32(divisor),
    ),
    "Rectify": (
        v2.rectify,
        calls(tensors(st.sampled_from(["float32", "float64"]))),
        lambda signal: np.maximum(signal, 0),
    ),
    "Limit": (
        limit,
        calls(tensors(), limit=NUMBERS),
        lambda signal, limit: np.where(signal > np.float32(limit), limit, signal),
    ),
    "Gate": (gate, SIGNAL, lambda signal: np.where(abs(signal) < 0.5, 0, signal)),
    "Snap": (
        v2.snap,
        calls(tensors(), rounding=st.sampled_from(["up", "down", "nearest", "x"])),
        snap_reference,
    ),
    "Power": (
        power,
        calls(LIST),
        lambda signals: np.square(added(signals)),
        NUMBERED,
    ),
    "FlipPhase": (
        flip_phase,
        calls(tensors(shape=SHAPE), LIST),
        lambda signal, others: -added([signal, *others]),
        NUMBERED,
    ),
    "OpByOp>Softsign": (
        v2.softsign,
        SIGNAL,
        lambda signal: signal / (1 + np.abs(signal)),
    ),
    "Mix": (mix, calls(LIST), added, NUMBERED),
    "Blend": (
        blend,
        calls(LIST),
        lambda signals: added(signals) / np.float32(len(signals)),
        NUMBERED,
    ),
    "CheckOpDef": (
        check_op_def,
        calls(
            DEFINITION,
            DEFINITION,
        ),
        "the comparison is TensorFlow's own",
        ("bad_input",),  # TensorFlow says what is wrong with a definition
    ),
    "Halve": "deprecated: it refuses every call",
}
