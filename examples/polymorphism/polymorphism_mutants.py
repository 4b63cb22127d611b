"""Wrong variants of KeepRows, on which the test that the page shows must fail."""

import tensorflow as tf
from polymorphism import KeptRows, keep_rows


def counts_rows_from_one(tensors, keep):
    kept, rows = keep_rows(tensors, keep)
    return KeptRows(kept, rows + 1)


def forgets_the_last_tensor(tensors, keep):
    kept, rows = keep_rows(tensors, keep)
    return KeptRows(kept[:-1], rows)


def gives_another_dtype(tensors, keep):
    kept, rows = keep_rows(tensors, keep)
    return KeptRows([tf.fill(tf.shape(kept[0]), "text"), *kept[1:]], rows)


def reverses_the_rows(tensors, keep):
    kept, rows = keep_rows(tensors, keep)
    return KeptRows([one[::-1] for one in kept], rows)


MUTANTS = {
    "test_keep_rows_equals_numpy": {
        "polymorphism.keep_rows": [
            counts_rows_from_one,
            forgets_the_last_tensor,
            gives_another_dtype,
            reverses_the_rows,
        ]
    }
}
