"""Tests of CumMax: `pytest`."""

import numpy as np
import pytest
import tensorflow as tf
from cum_max import cum_max
from cum_max_reference import cum_max_reference

from opcheck.testing import op_test

test_cum_max_keeps_its_promises = op_test(
    cum_max, np.float32([[3, 1, 4, 1], [-5, 9, 2, 6]]), reference=cum_max_reference
)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_equals_the_reference(dtype):
    x = np.random.default_rng(0).integers(-100, 100, (3, 2, 50)).astype(dtype)
    np.testing.assert_array_equal(cum_max(x), cum_max_reference(x), strict=True)


def test_what_is_not_a_number_stays():
    np.testing.assert_array_equal(cum_max([1, np.nan, 2]), [1, np.nan, np.nan])


def test_subnormal_numbers_are_not_zero():
    x = np.float32([0, 1e-40, 3e-40, 2e-40])
    np.testing.assert_array_equal(cum_max(x), cum_max_reference(x), strict=True)


def test_the_gradient_goes_to_the_first_of_equals():
    x = tf.constant([[3.0, 1, 3, 4], [2, 5, 5, 1]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = cum_max(x) * [[1, 2, 3, 4], [5, 6, 7, 8]]
    np.testing.assert_array_equal(tape.gradient(y, x), [[6, 0, 0, 4], [5, 21, 0, 0]])


def test_the_gradient_of_nan_goes_to_the_first():
    x = tf.constant([1, np.nan, 2, np.nan])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = cum_max(x)
    upstream = tf.constant([1.0, 10, 100, 1000])
    np.testing.assert_array_equal(tape.gradient(y, x, upstream), [1, 1110, 0, 0])


def test_the_gradient_of_more_elements_than_int32_counts():
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = cum_max(x)
        return tape.gradient(y, x)

    spec = tf.TensorSpec([2**16, 2**15])
    traced = tf.function(gradient, autograph=False).get_concrete_function(spec)
    assert traced.output_shapes == spec.shape


def test_a_scalar_and_another_dtype_are_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="x must have at least"):
        cum_max(1.0)
    with pytest.raises((tf.errors.InvalidArgumentError, TypeError), match="bool"):
        cum_max(tf.constant([True]))
