"""Wrong variants of Frexp, on which the test that the page shows must fail."""

import tensorflow as tf
from frexp import frexp


def has_twice_the_gradient(values):
    mantissa, exponent = frexp(values)
    return frexp(values)._replace(mantissa=2 * mantissa - tf.stop_gradient(mantissa))


def is_zero(values):
    return frexp(values)._replace(mantissa=0 * frexp(values).mantissa)


MUTANTS = {
    "test_the_gradient_equals_differences": {
        "frexp.frexp": [has_twice_the_gradient, is_zero]
    }
}
