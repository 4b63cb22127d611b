"""Generated calls: `python tools/fuzz.py examples/backward_compatibility/backward_compatibility_v1_fuzz.py`."""

from pathlib import Path

from backward_compatibility_reference import (
    amplify_reference,
    attenuate_reference,
    blend_reference,
    flip_phase_reference,
    gate_reference,
    halve_reference,
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

_v1 = load_op_library(
    Path(__file__).with_name("libbackward_compatibility_v1.so"), "amplify"
)


def amplify(signal):
    return _v1.amplify(signal)


def attenuate(signal):
    return _v1.attenuate(signal)


def rectify(signal):
    return _v1.rectify(signal)


def power(signal):
    return _v1.power(signal)


def flip_phase(signal):
    return _v1.flip_phase(signal)


def softsign(signal):
    return _v1.op_by_op_softsign(signal)


def limit(signal, limit):
    return _v1.limit(signal, limit=limit)


def gate(signal, threshold):
    return _v1.gate(signal, threshold=threshold)


def snap(signal, rounding):
    return _v1.snap(signal, rounding=rounding)


def mix(signals):
    return _v1.mix(signals)


def halve(signal):
    return _v1.halve(signal)


def blend(first, second):
    return _v1.blend(first, second)


SIGNAL = calls(tensors())
SHAPE = st.shared(shapes(max_rank=2), key="shape")
ONE = tensors(shape=mostly(SHAPE, shapes(max_rank=2)))
NUMBERS = st.sampled_from([0.0, 1.0, -2.5, 1e30, float("nan"), float("inf")])
# Their errors say "input 1", not the name of a list.
NUMBERED = ("bad_input",)
FUZZ = {
    "Amplify": (amplify, SIGNAL, amplify_reference),
    "Attenuate": (attenuate, SIGNAL, attenuate_reference),
    "Rectify": (rectify, SIGNAL, rectify_reference),
    "Power": (power, SIGNAL, lambda signal: power_reference([signal])),
    "FlipPhase": (flip_phase, SIGNAL, lambda signal: flip_phase_reference([signal])),
    "OpByOp>Softsign": (softsign, SIGNAL, softsign_reference),
    "Limit": (
        limit,
        calls(tensors(), limit=NUMBERS),
        limit_reference,
    ),
    "Gate": (
        gate,
        calls(tensors(), threshold=NUMBERS),
        gate_reference,
    ),
    "Snap": (
        snap,
        calls(tensors(), rounding=st.sampled_from(["up", "down", "x"])),
        snap_reference,
    ),
    "Mix": (
        mix,
        calls(st.lists(ONE, min_size=1, max_size=4)),
        mix_reference,
        NUMBERED,
    ),
    "Halve": (halve, SIGNAL, halve_reference),
    "Blend": (
        blend,
        calls(ONE, ONE),
        lambda first, second: blend_reference([first, second]),
        NUMBERED,
    ),
    "CheckOpDef": "of version 2",
}
