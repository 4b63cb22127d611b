"""MuLaw of both versions in NumPy."""

import numpy as np


def mu_law_reference(signal, mode, mu=255.0, gain=1.0):
    """Sizes from 0 to 1 stay there."""
    mu, gain = np.float32([mu, gain]).astype(signal.dtype)
    if mode not in ("encode", "decode") or not 0 < mu < np.inf:
        raise ValueError(f"mode {mode}, mu {mu}")
    size = np.abs(gain * signal)
    if mode == "encode":
        result = np.log1p(mu * size) / np.log1p(mu)
    else:
        result = np.expm1(size * np.log1p(mu)) / mu
    return np.copysign(result, gain * signal)
