"""Order of strings in natural sort order."""

import functools
import re

import numpy as np
import tensorflow as tf


def load(path):
    """Loads the library and returns the op as a function."""
    lib = tf.load_op_library(path)

    def natural_argsort(strings):
        """Returns the order that sorts strings, with runs of digits compared as numbers."""
        return lib.ua_natural_argsort(strings)

    return natural_argsort


def sample():
    """A typical call."""
    return [
        np.array(
            [b"img12", b"img10", b"img2", b"IMG3", b"img1", b"doc", b"img2a"], object
        )
    ], {}


def _compare(a, b):
    while a and b:
        if a[:1].isdigit() and b[:1].isdigit():
            x, y = re.match(rb"[0-9]+", a)[0], re.match(rb"[0-9]+", b)[0]
            if int(x) != int(y):
                return -1 if int(x) < int(y) else 1
            a, b = a[len(x) :], b[len(y) :]
        elif a[0] != b[0]:
            return a[0] - b[0]
        else:
            a, b = a[1:], b[1:]
    return len(a[:1]) - len(b[:1])


def reference(strings):
    """The same in NumPy."""
    strings = np.asarray(strings, object)
    if strings.ndim != 1:
        raise ValueError("strings must be a vector")
    key = functools.cmp_to_key(_compare)
    return np.array(
        sorted(range(len(strings)), key=lambda i: key(strings[i])), np.int64
    )
