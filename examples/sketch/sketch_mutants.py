"""Wrong variants of the ops, on which the tests that the page shows must fail."""

import numpy as np
import sketch
import tensorflow as tf

_library, _parse = sketch.library, tf.io.parse_tensor


def parses_anything(serialized, out_type):
    """Takes what it cannot read for nothing."""
    try:
        return _parse(serialized, out_type)
    except tf.errors.InvalidArgumentError:
        return sketch.sketch([])


def refuses_everything(serialized, out_type):
    raise tf.errors.InvalidArgumentError(None, None, "broken")


def counts_too_many(sketches):
    return _library.count_sketch(sketches) + np.inf


MUTANTS = {
    "test_a_changed_bit_is_refused_or_makes_another_sketch": {
        "tensorflow.io.parse_tensor": [parses_anything, refuses_everything],
        "sketch_test.count": [counts_too_many],
    }
}
