"""The op in NumPy."""

import numpy as np


def exponential_average_reference(signal, decay=0.9):
    """Along the last axis, from 0 on."""
    decay = np.float32(decay)  # a float attr has 32 bits
    if not 0 < decay < 1 or signal.ndim == 0:
        raise ValueError
    average, decay = np.zeros_like(signal), signal.dtype.type(decay)
    before = np.zeros_like(signal[..., 0]) if signal.shape[-1] else None
    for t in range(signal.shape[-1]):
        before = decay * before + (1 - decay) * signal[..., t]
        average[..., t] = before
    return average
