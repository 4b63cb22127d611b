"""A function that is wrong for long columns."""

import tensorflow as tf


def column_sums(x):
    """The sum of each column, or of its first 1,024 elements."""
    return tf.reduce_sum(x[:1024], axis=0)


def column_sums_reference(x):
    """What it should be."""
    return x.sum(axis=0)
