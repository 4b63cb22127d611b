"""Wrong variants of MedianFilter, on which the test that the page shows must fail."""

import tensorflow as tf
from median_filter import median_filter


def takes_even_windows(signal, window=3, ends="repeat"):
    return median_filter(signal, window | 1, ends)


def does_not_say_the_window(signal, window=3, ends="repeat"):
    raise tf.errors.InvalidArgumentError(None, None, "window must be odd")


MUTANTS = {
    "test_an_even_window_is_refused": {
        "median_filter.median_filter": [takes_even_windows, does_not_say_the_window]
    }
}
