"""ManhattanDistances in NumPy, to the last bit."""

import numpy as np


def manhattan_distances_reference(points, centers):
    """The sum of absolute differences between each point and each center."""
    if points.ndim != 2 or centers.ndim != 2 or points.shape[1] != centers.shape[1]:
        raise ValueError("points and centers must be matrices with as many columns")
    distances = np.zeros((len(points), len(centers)), np.float32)
    for x, y in zip(points.T, centers.T):
        distances += np.abs(x[:, None] - y)
    return distances
