"""Tests of ZeroSmall: `pytest examples/zero_out`."""

import numpy as np
import pytest
import tensorflow as tf
from zero_small import zero_small
from zero_small_reference import zero_small_reference

from opcheck.testing import op_test

test_zero_small_keeps_its_promises = op_test(
    zero_small,
    np.float32([[3, -0.5], [0.25, -6]]),
    np.float32(1),
    reference=zero_small_reference,
)


@pytest.mark.parametrize("call", [zero_small, tf.function(zero_small)])
@pytest.mark.parametrize("threshold", [0, 1, np.inf, np.nan])
@pytest.mark.parametrize("shape", [(), (7,), (2, 3), (0,)])
def test_equals_the_reference(call, shape, threshold):
    x = np.random.default_rng(0).integers(-2, 3, shape).astype(np.float32)
    threshold = np.float32(threshold)
    expected = zero_small_reference(x, threshold)
    np.testing.assert_array_equal(call(x, threshold), expected, strict=True)


def test_nan_stays():
    np.testing.assert_array_equal(zero_small([np.nan, 0.5], 1.0), [np.nan, 0])


@pytest.mark.parametrize("call", [zero_small, tf.function(zero_small)])
def test_subnormal_numbers_are_not_zero(call):
    x, threshold = np.float32([1e-40, -2e-40, 1.0]), np.float32(1.5e-40)
    np.testing.assert_array_equal(
        call(x, threshold), zero_small_reference(x, threshold)
    )


@pytest.mark.parametrize("threshold", [[], [1.0], [1.0, 2.0], [[1.0]]])
def test_a_threshold_that_is_no_scalar_is_refused(threshold):
    shape = str(np.shape(threshold)).strip("(,)").replace(" ", "")
    message = rf"threshold must be a scalar, but has shape \[{shape}\]"
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        zero_small([5.0, -0.1], threshold)
    with pytest.raises(ValueError, match="Shape must be rank 0 but is rank"):
        tf.function(zero_small)([5.0, -0.1], threshold)
    unknown = tf.function(zero_small, input_signature=[tf.TensorSpec(None)] * 2)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        unknown([5.0, -0.1], threshold)


def test_another_dtype_is_refused_and_eagerly_an_array_is_converted():
    x = np.float64([5.0, -0.1])
    np.testing.assert_array_equal(zero_small(x, 1.0), np.float32([5, 0]), strict=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected to be a float"):
        zero_small(tf.constant(x), 1.0)
    with pytest.raises(TypeError, match="float64 that does not match"):
        tf.function(zero_small)(x, 1.0)


def test_the_shape_is_that_of_x():
    specs = tf.TensorSpec([2, None]), tf.TensorSpec(None)
    traced = tf.function(zero_small).get_concrete_function(*specs)
    assert traced.output_shapes.as_list() == [2, None]


@pytest.mark.parametrize("call", [zero_small, tf.function(zero_small)])
def test_gradient_of_what_stays(call):
    x, threshold = tf.constant([3.0, -0.5, -6.0, np.nan]), tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch([x, threshold])
        loss = call(x, threshold) * [2.0, 3.0, 4.0, 5.0]
    of_x, of_threshold = tape.gradient(loss, [x, threshold])
    np.testing.assert_array_equal(of_x, [2, 0, 4, 5])
    assert of_threshold is None
