"""Expands a run-length encoding."""

import numpy as np
import tensorflow as tf


def load(path):
    """Loads the library and returns the op as a function."""
    lib = tf.load_op_library(path)

    @tf.RegisterGradient("UaRunLengthDecode")
    def _grad(op, g):
        counts = op.inputs[1]
        n = tf.size(counts)
        run = tf.repeat(tf.range(n), counts)
        return tf.math.unsorted_segment_sum(g, run, n), None

    def run_length_decode(values, counts):
        """Returns a vector with values[i] repeated counts[i] times."""
        return lib.ua_run_length_decode(values, counts)

    return run_length_decode


def sample():
    """A typical call."""
    return [
        np.array([1.5, 2.5, -3.0, 4.0], np.float32),
        np.array([3, 1, 0, 2], np.int32),
    ], {}


def reference(values, counts):
    """The same in NumPy."""
    values, counts = np.asarray(values), np.asarray(counts)
    if values.ndim != 1 or counts.ndim != 1 or len(values) != len(counts):
        raise ValueError("values and counts must be vectors of one length")
    if (counts < 0).any():
        raise ValueError("counts must not be negative")
    return np.repeat(values, counts)
