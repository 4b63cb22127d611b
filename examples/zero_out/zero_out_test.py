"""Tests of ZeroOut: `pytest examples/zero_out`."""

import numpy as np
import pytest
import tensorflow as tf
from zero_out import zero_out
from zero_out_reference import zero_out_reference

from opcheck.testing import op_test


@pytest.mark.parametrize("call", [zero_out, tf.function(zero_out)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize("shape", [(), (7,), (2, 3), (0,), (2, 0, 3)])
def test_equals_the_reference(call, dtype, shape):
    x = np.random.default_rng(0).integers(1, 100, shape).astype(dtype)
    np.testing.assert_array_equal(call(x), zero_out_reference(x), strict=True)


test_zero_out_keeps_its_promises = op_test(
    zero_out, np.float32([[3, 4], [5, 6]]), reference=zero_out_reference
)


@pytest.mark.parametrize("shape", [(1,), (3, 1, 4, 1, 5), (2**40, 0), (100_000,)])
def test_takes_every_shape(shape):
    x = np.ones(shape, np.float32)
    np.testing.assert_array_equal(zero_out(x), zero_out_reference(x), strict=True)


@pytest.mark.parametrize("value", [np.nan, np.inf, -0.0])
def test_keeps_the_bits_of_special_values(value):
    zeroed = zero_out([value, np.nan, np.inf]).numpy()
    assert zeroed.tobytes() == np.float32([value, 0, 0]).tobytes()


def test_an_integer_input_has_no_gradient():
    to_zero = tf.constant([1, 2, 3])
    with tf.GradientTape() as tape:
        tape.watch(to_zero)
        zeroed = zero_out(to_zero)
    assert tape.gradient(zeroed, to_zero) is None


class ZeroOutGradientTest(tf.test.TestCase):
    def test_second_order(self):
        to_zero = tf.constant([3.0, 4.0])
        with tf.GradientTape() as outer:
            outer.watch(to_zero)
            with tf.GradientTape() as inner:
                inner.watch(to_zero)
                square = zero_out(to_zero) ** 2
            gradient = inner.gradient(square, to_zero)
        self.assertAllEqual(gradient, [6.0, 0.0])
        self.assertAllEqual(outer.gradient(gradient, to_zero), [2.0, 0.0])
