"""Generated calls: `python tools/fuzz.py examples/backward_compatibility/backward_compatibility_fuzz.py`."""

from pathlib import Path

import backward_compatibility as v2
import op_def_check
from backward_compatibility_reference import (
    amplify_reference,
    attenuate_reference,
    blend_reference,
    flip_phase_reference,
    gate_reference,
    limit_reference,
    mix_reference,
    power_reference,
    rectify_reference,
    snap_reference,
    softsign_reference,
)
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
        amplify_reference,
    ),
    "Attenuate": (
        attenuate,
        calls(tensors(), divisor=NUMBERS),
        attenuate_reference,
    ),
    "Rectify": (
        v2.rectify,
        calls(tensors(st.sampled_from(["float32", "float64"]))),
        rectify_reference,
    ),
    "Limit": (
        limit,
        calls(tensors(), limit=NUMBERS),
        limit_reference,
    ),
    "Gate": (gate, SIGNAL, gate_reference),
    "Snap": (
        v2.snap,
        calls(tensors(), rounding=st.sampled_from(["up", "down", "nearest", "x"])),
        snap_reference,
    ),
    "Power": (
        power,
        calls(LIST),
        power_reference,
        NUMBERED,
    ),
    "FlipPhase": (
        flip_phase,
        calls(tensors(shape=SHAPE), LIST),
        lambda signal, others: flip_phase_reference([signal, *others]),
        NUMBERED,
    ),
    "OpByOp>Softsign": (
        v2.softsign,
        SIGNAL,
        softsign_reference,
    ),
    "Mix": (mix, calls(LIST), mix_reference, NUMBERED),
    "Blend": (
        blend,
        calls(LIST),
        blend_reference,
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
