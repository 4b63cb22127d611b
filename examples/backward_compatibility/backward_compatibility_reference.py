"""The ops of both versions in NumPy; the defaults are those of version 1."""

import numpy as np


def amplify_reference(signal, factor=2):
    """The signal times a factor."""
    return np.float32(factor) * signal


def attenuate_reference(signal, divisor=2):
    """The signal over a divisor."""
    return signal / np.float32(divisor)


def rectify_reference(signal):
    """What is above zero."""
    return np.maximum(signal, 0)


def limit_reference(signal, limit):
    """At most the limit."""
    return np.where(signal > np.float32(limit), limit, signal)


def gate_reference(signal, threshold=0.5):
    """Zero where the signal is weaker than the threshold."""
    return np.where(abs(signal) < np.float32(threshold), 0, signal)


def snap_reference(signal, rounding):
    """Whole numbers."""
    return {"up": np.ceil, "down": np.floor, "nearest": np.rint}[rounding](signal)


def mix_reference(signals):
    """The sum of all signals."""
    return np.sum(np.stack(signals), axis=0)


def power_reference(signals):
    """The square of their sum."""
    return np.square(mix_reference(signals))


def flip_phase_reference(signals):
    """Their sum, negated."""
    return -mix_reference(signals)


def blend_reference(signals):
    """Their mean."""
    return mix_reference(signals) / np.float32(len(signals))


def softsign_reference(signal):
    """Between -1 and 1."""
    return signal / (1 + abs(signal))


def halve_reference(signal):
    """Half of the signal."""
    return signal / 2
