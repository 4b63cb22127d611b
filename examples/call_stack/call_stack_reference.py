"""The ops in NumPy: what they return."""

import numpy as np


def call_stack_reference(x: np.ndarray, expensive: bool = False) -> np.ndarray:
    return np.asarray(x)
