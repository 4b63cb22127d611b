"""MuLaw of both versions in NumPy."""

import numpy as np


def mu_law_reference(signal, mode, mu=255.0, gain=1.0):
    """Encoded, sizes from 0 to 1 stay there; decoding undoes it."""
    if mode not in ("encode", "decode") or not 0 < np.float32(mu) < np.inf:
        raise ValueError(f"mode {mode}, mu {mu}")
    mu, gain = (signal.dtype.type(np.float32(attr)) for attr in (mu, gain))
    size, whole = np.abs(gain * signal), np.log1p(mu)
    encoded = mode == "encode"
    result = np.log1p(mu * size) / whole if encoded else np.expm1(size * whole) / mu
    return np.copysign(result, gain * signal)
