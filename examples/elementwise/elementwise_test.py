"""Tests of LogCosh and AbsDifference: `pytest examples/elementwise`."""

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import tensorflow as tf
from addresses import addresses
from elementwise import abs_difference, log_cosh, log_cosh_plain, packets
from elementwise_reference import (
    abs_difference_reference,
    hypotenuse_reference,
    log_cosh_reference,
)
from op_library import load_op_library

from opcheck.testing import op_test

HERE = Path(__file__).parent
FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
INTEGERS = [np.uint8, np.int32, np.int64]


def values(*shape, dtype=np.float64):
    return (3 * np.random.default_rng(0).normal(size=shape)).astype(dtype)


test_log_cosh_keeps_its_promises = op_test(
    log_cosh, values(3, 5), reference=log_cosh_reference
)
test_abs_difference_keeps_its_promises = op_test(
    abs_difference, values(2, 3), values(3) + 10, reference=abs_difference_reference
)


@pytest.mark.parametrize("which", ["x", "y"])
def test_abs_difference_takes_over_memory_that_nobody_else_needs(which):
    def build(x):
        before = tf.multiply(x, 3.0, name="before")
        inputs = (before, x) if which == "x" else (x, before)
        return abs_difference(*inputs, name="difference")

    at = addresses(build)
    assert at["difference"][0] == at["before"][0] != 0


EXTREMES = [0, -0.0, 1e-30, -1e-6, 1e-3, 0.5, -1, 1.5, 88, -90, 1e4, np.inf, np.nan]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", [1, 3, 4, 17])
def test_log_cosh_at_the_extremes(mode, dtype, size):
    """Of each size some numbers are in packets and some behind them."""
    x = np.resize(np.array(EXTREMES).astype(dtype), [13, size])
    with np.errstate(all="ignore"):
        expected = log_cosh_reference(x)
    y = mode(log_cosh)(x).numpy()
    assert y.dtype == dtype
    y, expected = y.astype(float), expected.astype(float)
    tolerance = {np.float64: 1e-14, np.float32: 1e-6}.get(dtype, 0)
    np.testing.assert_allclose(y, expected, rtol=tolerance, atol=1e-45)


def test_the_short_series_are_right_to_a_millionth():
    x = np.float32(10 ** np.random.default_rng(0).uniform(-6, 2, 1_000_000))
    expected = log_cosh_reference(x.astype(np.float64))
    np.testing.assert_allclose(log_cosh(x), expected, rtol=1e-6)


def test_the_formulas_for_one_number(mode):
    x = np.float32(EXTREMES)
    with np.errstate(all="ignore"):
        expected = log_cosh_reference(x)
    np.testing.assert_allclose(mode(log_cosh_plain)(x), expected, 1e-6, 1e-45)


def test_log_cosh_errs_by_few_units_in_the_last_place():
    """By 5.3 where it errs most, of a million numbers of all sizes."""
    x = np.geomspace(1e-18, 100, 1_000_000).astype(np.float32)
    exact = log_cosh_reference(x.astype(np.float64))
    units = abs(log_cosh(x).numpy() - exact) / np.spacing(exact.astype(np.float32))
    assert units.max() < 6


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16])
def test_16_bits_are_rounded_once(dtype):
    """Of all numbers; only those near the smallest normal one may be taken for 0."""
    every = tf.bitcast(tf.constant(np.arange(2**16, dtype=np.uint16)), dtype)
    with np.errstate(all="ignore"):
        expected = log_cosh_reference(every.numpy()).astype(np.float32)
    y = tf.cast(log_cosh(every), tf.float32).numpy()
    tiny = np.abs(expected) < 4 * np.finfo(np.float32).tiny
    np.testing.assert_array_equal(y[~tiny], expected[~tiny])
    np.testing.assert_allclose(y[tiny], expected[tiny], atol=5e-38)


SHAPES = [
    ([], []),
    ([3], []),
    ([], [2, 3]),
    ([2, 3], [3]),
    ([2, 3], [2, 1]),
    ([2, 1], [1, 3]),
    ([1, 1], [1]),
    ([5, 1, 4], [3, 1]),
    ([2, 1, 2, 1, 2, 1, 2], [1, 3, 1, 3, 1, 3, 1]),
    ([0, 3], [1, 3]),
    ([4, 0], [4, 1]),
    ([1], [0]),
    ([100, 1, 64], [50, 1]),
]


@pytest.mark.parametrize("x_shape, y_shape", SHAPES)
def test_broadcasting(mode, x_shape, y_shape):
    x, y = values(*x_shape), values(*y_shape) + 1
    expected = np.asarray(abs_difference_reference(x, y))
    z = mode(abs_difference)(x, y).numpy()
    np.testing.assert_array_equal(z, expected, strict=True)


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
def test_abs_difference_of_all_types(mode, dtype):
    x, y = np.abs(values(3, 40)).astype(dtype), np.abs(values(40)).astype(dtype)
    z = mode(abs_difference)(x, y).numpy()
    np.testing.assert_array_equal(z, abs_difference_reference(x, y), strict=True)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_differences_wrap_around_where_they_do_not_fit(dtype):
    limits = np.iinfo(dtype)
    x = np.array([limits.max, limits.min, 0] * 10, dtype)
    expected = abs_difference_reference(x, x[::-1])
    np.testing.assert_array_equal(abs_difference(x, x[::-1]), expected)


@pytest.mark.parametrize(
    "x_shape, y_shape, z_shape",
    [
        (None, [3], None),
        ([None, 3], [3], [None, 3]),
        ([None, 1], [1, None], [None, None]),
        ([2, 1], [4], [2, 4]),
    ],
)
def test_static_shapes(x_shape, y_shape, z_shape):
    specs = [tf.TensorSpec(shape) for shape in (x_shape, y_shape)]
    traced = tf.function(abs_difference).get_concrete_function(*specs)
    assert str(traced.output_shapes) == str(tf.TensorShape(z_shape))


def test_shapes_that_do_not_broadcast_are_refused(mode):
    message = r"x and y must have sizes .* got shapes \[2,3\] and \[4\]|must be equal"
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=message):
        mode(abs_difference)(tf.zeros([2, 3]), tf.zeros([4]))


def test_too_many_elements_are_refused(mode):
    x, y = tf.zeros([2**40, 1, 0]), tf.zeros([1, 2**40, 0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="overflow"):
        mode(abs_difference)(x, y)


def test_other_dtypes_are_refused(mode):
    with pytest.raises(
        (tf.errors.InvalidArgumentError, TypeError), match="allowed values"
    ):
        mode(log_cosh)(tf.constant([1]))


def test_more_dimensions_than_tensorflow_s_base_class_takes(mode):
    x = tf.reshape(tf.constant(values(6)), [1, 2, 1, 3, 1, 1, 1, 1, 1])
    message = "We only handle up to Tensor::dims"
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        mode(lambda x: tf.raw_ops.SoftsignGrad(gradients=x, features=x))(x)
    np.testing.assert_allclose(mode(log_cosh)(x), log_cosh_reference(x.numpy()), 1e-14)


CALLS = {
    "log_cosh": (log_cosh, [values(2, 3)]),
    **{
        f"{x} {y}": (abs_difference, [values(*x), values(*y) + 1])
        for x, y in SHAPES
        if len(x) < 6
    },
}


@pytest.mark.parametrize("name", CALLS)
def test_the_gradient_is_the_same_in_both_languages(cpp_gradient, name):
    function, inputs = CALLS[name]
    with tf.GradientTape() as tape:
        tape.watch(inputs := list(map(tf.constant, inputs)))
        output = function(*inputs)
        grad = tf.random.stateless_normal(output.shape, [0, 1], dtype=output.dtype)
        loss = tf.reduce_sum(grad * output)
    in_python = tape.gradient(loss, inputs)
    in_cpp = cpp_gradient(function, inputs, [grad])
    for expected, gradient in zip(in_python, in_cpp, strict=True):
        np.testing.assert_allclose(gradient, expected, rtol=1e-12)


def test_the_gradient_stops_where_tensorflow_s_ops_stop():
    x, y = tf.zeros([2, 1, 2, 1, 2, 1]), tf.zeros([1, 2, 1, 2, 1, 2])
    assert abs_difference(x, y).shape == [2] * 6
    with tf.GradientTape() as tape:
        tape.watch(x)
        z = abs_difference(x, y)
    with pytest.raises(tf.errors.UnimplementedError, match="Broadcast between"):
        tape.gradient(z, x)


@pytest.mark.parametrize("name", ["log_cosh", "[2, 3] [2, 1]", "[5, 1, 4] [3, 1]"])
def test_gradients_are_those_that_differences_give(mode, name):
    function, inputs = CALLS[name]
    analytical, numerical = tf.test.compute_gradient(mode(function), inputs)
    for left, right in zip(analytical, numerical):
        np.testing.assert_allclose(left, right, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float32])
def test_gradients_in_cpp_are_there_for_all_types(cpp_gradient, dtype):
    x = tf.constant([-2.0, 0.0, 1.0], dtype)
    (dx,) = cpp_gradient(log_cosh, [x], [tf.ones_like(x)])
    np.testing.assert_array_equal(dx, tf.tanh(x))
    y = tf.zeros([2, 1], dtype)
    dx, dy = cpp_gradient(abs_difference, [x, y], [tf.ones([2, 3], dtype)])
    np.testing.assert_array_equal(dx, tf.constant([-2, 0, 2], dtype))
    np.testing.assert_array_equal(dy, tf.zeros([2, 1], dtype))


def test_sizes_of_packets():
    sizes = packets()
    assert set(sizes["mod"]) == {1}
    assert {size for row in sizes.values() for size in row} <= {1, 2, 4, 8, 16, 32, 64}
    assert sizes["exp"][0] == sizes["add"][0] == 2 * sizes["exp"][1]


def test_the_solution_of_the_exercise(mode):
    hypotenuse = load_op_library(
        HERE / "libsolution_hypotenuse.so", "hypotenuse"
    ).hypotenuse
    x = np.float32([3, 0, 1e30, -1e30, 1e-30, np.inf, np.nan])
    y = np.float32([[4], [0], [1e30], [-np.inf]])
    with np.errstate(all="ignore"):
        expected = hypotenuse_reference(x, y)
    np.testing.assert_allclose(mode(hypotenuse)(x, y), expected, rtol=1e-6)
