"""Wrong variants of ZeroOut, on which the tests that the page shows must fail."""

import tensorflow as tf
from zero_out import zero_out


def keeps_all(to_zero):
    return tf.identity(to_zero)


def gives_float64(to_zero):
    return tf.cast(zero_out(to_zero), "float64")


@tf.custom_gradient
def has_a_doubled_gradient(to_zero):
    return zero_out(to_zero), lambda grad: 2 * zero_out(grad)


@tf.custom_gradient
def has_a_doubled_second_order(to_zero):
    return zero_out(to_zero), has_a_doubled_gradient


MUTANTS = {
    "test_equals_the_reference": {"zero_out.zero_out": [keeps_all, gives_float64]},
    "test_second_order": {
        "zero_out.zero_out": [has_a_doubled_gradient, has_a_doubled_second_order]
    },
}
