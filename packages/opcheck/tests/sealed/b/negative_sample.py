import numpy as np
import tensorflow as tf


def load(path):
    lib = tf.load_op_library(path)
    tf.no_gradient("UbNegativeSample")

    def negative_sample(positives, *, num_items, num_samples, seed=0, seed2=0):
        """Draws num_samples int64 items in [0, num_items) outside each row of positives, anew at each call."""
        return lib.ub_negative_sample(
            positives,
            num_items=num_items,
            num_samples=num_samples,
            seed=seed,
            seed2=seed2,
        )

    return negative_sample


def sample():
    positives = np.array([[3, 17, 42], [8, 8, -1]], np.int64)
    return [positives], {"num_items": 1000, "num_samples": 8, "seed": 0, "seed2": 0}
