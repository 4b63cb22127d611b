import numpy as np
import tensorflow as tf


def load(path):
    lib = tf.load_op_library(path)
    tf.no_gradient("UbLotSplit")

    def lot_split(quantity, lot_size):
        """(lots, odd) of int32 or int64 quantities by floor division; lot_size is a scalar or of the same shape."""
        return tuple(lib.ub_lot_split(quantity, lot_size))

    return lot_split


def sample():
    return [np.array([1050, 99, -250, 0, 300], np.int64), np.array(100, np.int64)], {}


def reference(quantity, lot_size):
    quantity, lot_size = np.asarray(quantity), np.asarray(lot_size)
    if lot_size.ndim != 0 and lot_size.shape != quantity.shape:
        raise ValueError("lot_size must be a scalar or have the shape of quantity")
    if np.any(lot_size == 0):
        raise ValueError("lot_size must not be zero")
    if np.any((quantity == np.iinfo(quantity.dtype).min) & (lot_size == -1)):
        raise ValueError("lots overflow")
    return np.asarray(quantity // lot_size), np.asarray(quantity % lot_size)
