"""The check `bounds`."""

import pytest
import tensorflow as tf
from broken_twins import caught
from python_ops import dies_of_one_column, normal, result

# The broken ops that it must find, and words of the explanation.
CAUGHT = {
    "next_sum_past_end": "a read past the end of an input",
}
test_a_broken_op_is_caught = caught("bounds", CAUGHT)


def test_a_dimension_of_size_1_may_end_at_the_page():
    found = result("bounds", dies_of_one_column, normal(3, 4))
    assert found.detail.startswith("with 1 instead of 4 in each dimension of this size")


def distances(x):
    """The sum of the distances of each element from all others, one after the other."""
    return tf.map_fn(lambda one: tf.reduce_sum(tf.abs(x - one)), x)


@pytest.mark.slow
def test_rows_are_made_longer_as_long_as_a_call_is_quick():
    assert result("bounds", distances, normal(8)).verdict == "pass"
