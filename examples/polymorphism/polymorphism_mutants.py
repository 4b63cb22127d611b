"""Wrong variants of CumulativeMax, on which the test that the page shows must fail."""

import tensorflow as tf
from polymorphism import cumulative_max


def along_the_first_axis(values):
    return tf.transpose(cumulative_max(tf.transpose(values)))


def keeps_the_first_forever(values):
    return values[..., :1] + tf.zeros_like(values) if values.ndim else values


def in_float(values):
    return cumulative_max(tf.cast(values, tf.float32))


MUTANTS = {
    "test_cumulative_max_equals_numpy": {
        "polymorphism.cumulative_max": [
            along_the_first_axis,
            keeps_the_first_forever,
            in_float,
        ]
    }
}
