"""The check `bounds`."""

import ctypes
import os

import numpy as np
import pytest
import tensorflow as tf
from broken_twins import caught
from python_ops import normal, result

from opcheck.processes import calls
from opcheck.subject import Subject

# The broken ops that it must find, and words of the explanation.
CAUGHT = {
    "next_sum_past_end": "a read past the end of an input",
}
test_a_broken_op_is_caught = caught("bounds", CAUGHT)


def dies_of_one_column(x):
    if x.shape[-1] == 1:
        os.abort()
    return tf.identity(x)


def test_a_dimension_of_size_1_may_end_at_the_page():
    found = result("bounds", dies_of_one_column, normal(3, 4))
    assert found.detail.startswith("with 1 instead of 4 in each dimension of this size")


@pytest.mark.parametrize(("place", "where"), [(-1, "in front of"), (3, "behind")])
def test_a_read_outside_an_input_is_on_its_side(place, where):
    def neighbor(x):
        address = np.frombuffer(x, np.float32).ctypes.data + 4 * place
        return tf.constant(ctypes.c_float.from_address(address).value)

    subject = Subject(neighbor, [normal(3)], {})
    _, cause = calls.again(subject, subject.flat, subject.inputs, {})
    assert f"what is {where} the" in cause


def distances(x):
    """The sum of the distances of each element from all others, one after the other."""
    return tf.map_fn(lambda one: tf.reduce_sum(tf.abs(x - one)), x)


@pytest.mark.slow
def test_rows_are_made_longer_as_long_as_a_call_is_quick():
    assert result("bounds", distances, normal(8)).verdict == "pass"
