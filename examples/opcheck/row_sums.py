"""A function that is wrong for long rows."""

import tensorflow as tf


def row_sums(x):
    """The sum of each row, or of its first 1,024 elements."""
    return tf.reduce_sum(x[:, :1024], axis=1)


def row_sums_reference(x):
    """What it should be."""
    return x.sum(axis=1)
