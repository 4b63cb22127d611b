"""Wrong variants of the ops, on which the tests that the page shows must fail."""

import tensorflow as tf
from lists import KeptRows, keep_rows, weighted_sum


def adds_without_weights(inputs, weights):
    return weighted_sum(inputs, tf.ones_like(weights))


def stops_the_gradient(inputs, weights):
    return weighted_sum(inputs, tf.stop_gradient(weights))


def keeps_the_first_rows(tensors, keep):
    kept, rows = keep_rows(tensors, keep)
    count = tf.size(rows, tf.int64)
    return KeptRows([each[:count] for each in tensors], rows)


def numbers_rows_anew(tensors, keep):
    kept, rows = keep_rows(tensors, keep)
    return KeptRows(kept, tf.range(tf.size(rows, tf.int64)))


MUTANTS = {
    "test_weighted_sum_keeps_its_promises": {
        "lists.weighted_sum": [adds_without_weights, stops_the_gradient]
    },
    "test_keep_rows_keeps_its_promises": {
        "lists.keep_rows": [keeps_the_first_rows, numbers_rows_anew]
    },
}
