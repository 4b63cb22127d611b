"""Wrong variants, on which the test that the page shows must fail."""

import tensorflow as tf
from xla import composed, under_xla


def forgets_the_decay(signal, decay=0.9):
    return composed(signal)


def has_half_the_gradient(signal, decay=0.9):
    half = composed(signal, decay) / 2
    return half + tf.stop_gradient(half)


def is_doubled(signal, decay=0.9):
    return composed(signal, decay) * (2 if under_xla() else 1)


MUTANTS = {
    "test_composed_is_the_op": {
        "xla.composed": [forgets_the_decay, has_half_the_gradient, is_doubled]
    }
}
