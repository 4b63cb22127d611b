"""Softsign, and RmsNorm with its gradient, in NumPy."""

import numpy as np


def softsign_reference(x):
    return x / (1 + np.abs(x))


def rms_norm_reference(x, epsilon=1e-6):
    if x.ndim == 0 or not 0 <= epsilon < np.inf:
        raise ValueError("x must have rank 1 or more, epsilon be 0 or more")
    mean = np.sum(x * x, -1, keepdims=True) / np.float32(max(x.shape[-1], 1))
    return x / np.sqrt(mean + np.float32(epsilon))


def rms_norm_grad_reference(x, grad, epsilon=1e-6):
    if x.ndim == 0 or x.shape != grad.shape or not 0 <= epsilon < np.inf:
        raise ValueError("x and grad must have the same shape, epsilon be 0 or more")
    columns = np.float32(max(x.shape[-1], 1))
    mean = np.sum(x * x, -1, keepdims=True) / columns
    scale = 1 / np.sqrt(mean + np.float32(epsilon))
    slope = scale * scale * np.sum(grad * x, -1, keepdims=True) / columns
    return scale * (grad - slope * x)
