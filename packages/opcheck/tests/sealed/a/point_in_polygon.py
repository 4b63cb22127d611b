"""Tests which points lie inside a polygon."""

import numpy as np
import tensorflow as tf


def load(path):
    """Loads the library and returns the op as a function."""
    lib = tf.load_op_library(path)

    def point_in_polygon(points, polygon):
        """Returns for points [..., 2] whether each lies inside polygon [m, 2]."""
        return lib.ua_point_in_polygon(points, polygon)

    tf.no_gradient("UaPointInPolygon")
    return point_in_polygon


def sample():
    """A typical call."""
    points = np.array(
        [[0.5, 0.5], [2.0, 1.5], [3.5, 0.5], [-1.0, 1.0], [5.0, 0.2]], np.float32
    )
    polygon = np.array([[0, 0], [4, 0], [4, 2], [2, 3], [0, 2]], np.float32)
    return [points, polygon], {}


def reference(points, polygon):
    """The same in NumPy."""
    points, polygon = np.asarray(points), np.asarray(polygon)
    if points.ndim < 1 or points.shape[-1] != 2:
        raise ValueError("points must be [..., 2]")
    if (
        polygon.ndim != 2
        or polygon.shape[1] != 2
        or len(polygon) < 3
        or not np.isfinite(polygon).all()
    ):
        raise ValueError("polygon must be [m, 2], m >= 3, finite")
    x, y = np.moveaxis(points.astype(np.float64), -1, 0)
    inside = np.zeros(points.shape[:-1], bool)
    corners = polygon.astype(np.float64)
    with np.errstate(all="ignore"):
        for (xi, yi), (xj, yj) in zip(corners, np.roll(corners, 1, 0)):
            crosses = (yi > y) != (yj > y)
            inside ^= crosses & (x < xi + (xj - xi) * ((y - yi) / (yj - yi)))
    return inside
