"""Tests of MaskedMean: `pytest examples/opcheck`."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import strategies as st
from masked_mean import masked_mean
from masked_mean_reference import masked_mean_reference

import opcheck
from opcheck.strategies import calls, shapes, tensors
from opcheck.testing import op_test

VALUES = np.float32([[5, 4, 3, 8], [2, 1, 6, 7], [9, 12, 11, 10]])
MASK = np.arange(4) < [[3], [2], [1]]
NOTHING_LEFT = np.float32([[1, 2], [3, 4]]), np.array([[False, False], [True, True]])

test_masked_mean = op_test(
    masked_mean, VALUES, MASK, samples=[NOTHING_LEFT], reference=masked_mean_reference
)


@pytest.mark.slow
def test_masked_mean_survives_generated_calls():
    shape = st.shared(shapes(min_rank=2, max_rank=2))
    values = tensors("float32", shape, elements=st.integers(-9, 9))
    some = calls(values, tensors("bool", shape))
    opcheck.fuzz(masked_mean, some, reference=masked_mean_reference).assert_ok()


def test_another_shape_is_refused(mode):
    with pytest.raises(
        (tf.errors.InvalidArgumentError, ValueError),
        match="values and mask must be matrices of one shape|must be equal",
    ):
        mode(masked_mean)(VALUES, MASK[:, :3])


def test_the_gradient_of_a_row_without_elements_is_zero():
    values = tf.constant(NOTHING_LEFT[0])
    with tf.GradientTape() as tape:
        tape.watch(values)
        means = masked_mean(values, NOTHING_LEFT[1])
    expected = [[0, 0], [0.5, 0.5]]
    np.testing.assert_array_equal(tape.gradient(means, values), expected)


def test_an_infinite_gradient_does_not_reach_what_is_masked_out():
    values = tf.constant(NOTHING_LEFT[0])
    mask = [[True, False], [False, False]]
    with tf.GradientTape() as tape:
        tape.watch(values)
        means = masked_mean(values, mask)
    infinite = np.float32([np.inf, np.nan])
    gradient = tape.gradient(means, values, output_gradients=tf.constant(infinite))
    np.testing.assert_array_equal(gradient, [[np.inf, 0], [0, 0]])
