"""Wrong variants of MaskedMean, on which the tests that the page shows must fail."""

import tensorflow as tf
from masked_mean import masked_mean


def divides_by_nothing(values, mask):
    some = tf.reduce_any(mask, axis=1)
    return masked_mean(values, mask) / tf.cast(some, values.dtype)


def ignores_the_mask(values, mask):
    return masked_mean(values, tf.ones_like(mask))


MUTANTS = {
    "test_masked_mean": {
        "masked_mean.masked_mean": [divides_by_nothing, ignores_the_mask]
    },
    "test_masked_mean_survives_generated_calls": {
        "masked_mean.masked_mean": [divides_by_nothing, ignores_the_mask]
    },
}
