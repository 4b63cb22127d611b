"""Wrong variants of Snake, on which the test that the page shows must fail."""

import tensorflow as tf


def has_no_wave(x):
    return tf.identity(x)


def gives_float64(x):
    return tf.cast(x + tf.sin(x) ** 2, "float64")


MUTANTS = {
    "test_equals_the_reference": {
        "snake.snake": [has_no_wave, gives_float64],
        "snake_in_numpy.snake": [has_no_wave, gives_float64],
    }
}
