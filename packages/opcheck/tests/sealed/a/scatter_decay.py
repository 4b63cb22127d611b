"""Moves rows of a variable towards new values."""

import numpy as np
import tensorflow as tf


def load(path):
    """Loads the library and returns the op as a function."""
    lib = tf.load_op_library(path)

    def scatter_decay(variable, indices, updates, *, decay):
        """Moves variable[indices] towards updates and returns the new value; an array is put in a new variable."""
        if not isinstance(variable, tf.Variable):
            variable = tf.Variable(variable)
        lib.ua_scatter_decay(variable.handle, indices, updates, decay=decay)
        return variable.read_value()

    return scatter_decay


def sample():
    """A typical call."""
    variable = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
    updates = np.array([[10, 10], [0, 0]], np.float32)
    return [variable, np.array([2, 0], np.int32), updates], {"decay": 0.75}


def reference(variable, indices, updates, *, decay):
    """The same in NumPy."""
    value, indices, updates = (
        np.array(variable),
        np.asarray(indices),
        np.asarray(updates),
    )
    if not 0 <= decay <= 1 or value.ndim < 1 or indices.ndim != 1:
        raise ValueError("bad decay, variable or indices")
    if (
        updates.shape != indices.shape + value.shape[1:]
        or ((indices < 0) | (indices >= len(value))).any()
    ):
        raise ValueError("bad indices or updates")
    decay = value.dtype.type(np.float32(decay))
    for i, row in zip(indices, updates):
        value[i] = decay * value[i] + (1 - decay) * row
    return value
