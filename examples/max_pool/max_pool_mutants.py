"""Wrong variants of MaxPool, on which the test that the page shows must fail."""

import tensorflow as tf
from max_pool import MaxPoolWithArgmax, max_pool, max_pool_with_argmax


def drops_the_sign_of_zero(x, *sizes):
    return max_pool(x, *sizes) + 0


def gives_the_last_of_equal_numbers(x, *sizes):
    backwards = max_pool_with_argmax(tf.reverse(x, [1, 2]), *sizes)
    pixels = x.shape[1] * x.shape[2] * x.shape[3]
    return MaxPoolWithArgmax(backwards.output, pixels - 1 - backwards.argmax)


MUTANTS = {
    "test_the_bits_are_those_of_tensorflow": {
        "max_pool.max_pool": [drops_the_sign_of_zero],
        "max_pool.max_pool_with_argmax": [gives_the_last_of_equal_numbers],
    }
}
