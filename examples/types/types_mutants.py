"""Wrong variants of RunningSum, on which the test that the page shows must fail."""

import tensorflow as tf
from running_sum import running_sum


def along_the_first_axis(values):
    return tf.transpose(running_sum(tf.transpose(values)))


def in_float(values):
    return running_sum(tf.cast(values, tf.float32))


MUTANTS = {
    "test_running_sum_equals_numpy": {
        "running_sum.running_sum": [along_the_first_axis, in_float]
    }
}
