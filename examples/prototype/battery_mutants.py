"""Wrong variants of Battery, on which the test that the page shows must fail."""

import tensorflow as tf


def never_full(flow, capacity):
    del capacity
    return tf.cumsum(flow, axis=-1)


def gives_float64(flow, capacity):
    return tf.cast(never_full(flow, capacity), tf.float64)


MUTANTS = {
    "test_equals_the_reference": {
        "battery.battery": [never_full, gives_float64],
        "battery_in_numpy.battery": [never_full, gives_float64],
    }
}
