"""Random points on the unit sphere."""

import numpy as np
import tensorflow as tf


def load(path):
    """Loads the library and returns the op as a function."""
    lib = tf.load_op_library(path)
    tf.no_gradient("UaRandomSphere")

    def random_sphere(shape, *, dim, seed=0, seed2=0, dtype=tf.float32):
        """Returns random points [shape..., dim] of length one; every call draws new ones."""
        return lib.ua_random_sphere(shape, dim=dim, seed=seed, seed2=seed2, T=dtype)

    return random_sphere


def sample():
    """A typical call."""
    return [np.array([4], np.int32)], {"dim": 3, "seed": 7}
