import decimal

import numpy as np
import tensorflow as tf


def load(path):
    lib = tf.load_op_library(path)
    tf.no_gradient("UbPolylineEncode")

    def polyline_encode(points, *, precision=5):
        """Encoded polyline of a float64 [n, 2] track of (latitude, longitude)."""
        return lib.ub_polyline_encode(points, precision=precision)

    return polyline_encode


def sample():
    return [np.array([[38.5, -120.2], [40.7, -120.95], [43.252, -126.453]])], {
        "precision": 5
    }


def reference(points, *, precision=5):
    points = np.asarray(points)
    if points.ndim != 2 or points.shape[1] != 2 or not 1 <= precision <= 7:
        raise ValueError("points must have shape [n, 2]")
    if not np.all(np.abs(points) <= [90.0, 180.0]):
        raise ValueError("points out of range")
    text, previous = "", [0, 0]
    for point in points:
        for j in range(2):
            scaled = decimal.Decimal(float(point[j]) * 10.0**precision)
            current = int(scaled.to_integral_value(decimal.ROUND_HALF_UP))
            delta = current - previous[j]
            previous[j] = current
            bits = ~(delta << 1) if delta < 0 else delta << 1
            while bits >= 0x20:
                text += chr((0x20 | (bits & 0x1F)) + 63)
                bits >>= 5
            text += chr(bits + 63)
    return np.array(text.encode(), dtype=object)
