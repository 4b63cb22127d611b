"""MuLaw of both versions in NumPy."""

import numpy as np


def mu_law_reference(signal, mode, mu=255.0, gain=1.0):
    """Sizes from 0 to 1 stay there."""
    mu, gain = float(np.float32(mu)), signal.dtype.type(np.float32(gain))
    if mode not in ("encode", "decode") or not 0 < mu < np.inf:
        raise ValueError(f"mode {mode}, mu {mu}")
    size = np.abs(gain * signal).astype(float)
    if mode == "encode":
        result = np.log1p(mu * size) / np.log1p(mu)
    else:
        result = np.expm1(size * np.log1p(mu)) / mu
    return np.copysign(result.astype(signal.dtype), gain * signal)
