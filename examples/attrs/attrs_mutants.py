"""Wrong variants of PreserveIndex, on which the test that the page shows must fail."""

import tensorflow as tf
from preserve_index import preserve_index


def takes_negative_indices(to_zero, index=0):
    return preserve_index(to_zero, max(index, 0))


def does_not_say_the_index(to_zero, index=0):
    raise tf.errors.InvalidArgumentError(None, None, "index must be at least 0")


MUTANTS = {
    "test_a_negative_index_is_refused": {
        "preserve_index.preserve_index": [
            takes_negative_indices,
            does_not_say_the_index,
        ]
    }
}
