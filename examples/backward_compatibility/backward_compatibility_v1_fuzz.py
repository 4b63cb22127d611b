"""Generated calls: `python tools/fuzz.py examples/backward_compatibility/backward_compatibility_v1_fuzz.py`."""

from pathlib import Path

import numpy as np
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
    "Amplify": (amplify, SIGNAL, lambda signal: 2 * signal),
    "Attenuate": (attenuate, SIGNAL, lambda signal: signal / 2),
    "Rectify": (rectify, SIGNAL, lambda signal: np.maximum(signal, 0)),
    "Power": (power, SIGNAL, np.square),
    "FlipPhase": (flip_phase, SIGNAL, np.negative),
    "OpByOp>Softsign": (softsign, SIGNAL, lambda signal: signal / (1 + abs(signal))),
    "Limit": (
        limit,
        calls(tensors(), limit=NUMBERS),
        lambda signal, limit: np.where(signal > np.float32(limit), limit, signal),
    ),
    "Gate": (
        gate,
        calls(tensors(), threshold=NUMBERS),
        lambda signal, threshold: np.where(
            abs(signal) < np.float32(threshold), 0, signal
        ),
    ),
    "Snap": (
        snap,
        calls(tensors(), rounding=st.sampled_from(["up", "down", "x"])),
        lambda signal, rounding: {"up": np.ceil, "down": np.floor}[rounding](signal),
    ),
    "Mix": (
        mix,
        calls(st.lists(ONE, min_size=1, max_size=4)),
        lambda signals: np.sum(np.stack(signals), axis=0),
        NUMBERED,
    ),
    "Halve": (halve, SIGNAL, lambda signal: signal / 2),
    "Blend": (
        blend,
        calls(ONE, ONE),
        lambda first, second: np.sum(np.stack([first, second]), axis=0) / 2,
        NUMBERED,
    ),
    "CheckOpDef": "of version 2",
}
