import numpy as np
import tensorflow as tf


def load(path):
    lib = tf.load_op_library(path)
    tf.no_gradient("UbIdRemap")

    def id_remap(ids, keys, values, *, default_value=-1):
        """int64 values of int64 ids by a table of distinct keys; default_value where there is no such key."""
        return lib.ub_id_remap(ids, keys, values, default_value=default_value)

    return id_remap


def sample():
    ids = np.array([[1001, 42, 7], [42, 99999, 12]], np.int64)
    return [
        ids,
        np.array([7, 42, 1001, 5000], np.int64),
        np.array([0, 1, 2, 3], np.int64),
    ], {"default_value": -1}


def reference(ids, keys, values, *, default_value=-1):
    ids, keys, values = np.asarray(ids), np.asarray(keys), np.asarray(values)
    if (
        keys.ndim != 1
        or values.shape != keys.shape
        or len(np.unique(keys)) != len(keys)
    ):
        raise ValueError("keys must be distinct, values of the same shape")
    table = dict(zip(keys.tolist(), values.tolist()))
    return np.array(
        [table.get(i, default_value) for i in ids.ravel().tolist()], np.int64
    ).reshape(ids.shape)
