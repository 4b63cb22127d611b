"""Tests of KeepFirst, the op of the reference of checks: `pytest examples/opcheck`."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import strategies as st
from keep_first import keep_first
from keep_first_reference import keep_first_reference, shift_right_reference
from solution_shift_right import shift_right_repaired

import opcheck
from opcheck.strategies import calls, tensors
from opcheck.testing import op_test

SAMPLE = np.float32([[5, 4, 3], [2, 1, 6]])
test_keep_first = op_test(keep_first, SAMPLE, count=2, reference=keep_first_reference)


@pytest.mark.slow
def test_keep_first_survives_generated_calls():
    some = calls(tensors("float32"), count=st.integers(0, 9))
    opcheck.fuzz(
        keep_first, some, examples=1000, reference=keep_first_reference
    ).assert_ok()


def test_a_negative_count_is_refused(mode):
    with pytest.raises(
        (tf.errors.InvalidArgumentError, ValueError),
        match=r"(?i)attr 'count' of .*-1 (must be at least|less than) minimum 0",
    ):
        mode(keep_first)(SAMPLE, count=-1)


test_the_solution_of_the_exercise = op_test(
    shift_right_repaired, SAMPLE, places=2, reference=shift_right_reference
)


def test_the_solution_has_a_gradient_for_many_places(mode):
    shift = mode(lambda x: shift_right_repaired(x, places=2**32 + 1))
    [computed], [estimated] = tf.test.compute_gradient(shift, [SAMPLE])
    np.testing.assert_array_equal(computed, estimated)
