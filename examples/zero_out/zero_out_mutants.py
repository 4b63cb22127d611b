"""Wrong variants of ZeroOut, on which the tests that the page shows must fail."""

import tensorflow as tf
from zero_out import zero_out


def keeps_all(to_zero):
    return tf.identity(to_zero)


def gives_float64(to_zero):
    return tf.cast(zero_out(to_zero), "float64")


MUTANTS = {
    "test_equals_the_reference": {"zero_out.zero_out": [keeps_all, gives_float64]}
}
