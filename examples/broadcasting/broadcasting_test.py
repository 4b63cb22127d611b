"""Tests of AbsDifference and Blend: `pytest examples/broadcasting`."""

import signal
from pathlib import Path

import forked
import numpy as np
import pytest
import tensorflow as tf
from addresses import addresses
from broadcasting import abs_difference, blend
from broadcasting_reference import (
    abs_difference_reference,
    blend_reference,
    hypotenuse_reference,
)
from op_library import load_op_library

from opcheck.testing import op_test

HERE = Path(__file__).parent
FLOATS = [np.float16, np.float32, np.float64]
INTEGERS = [np.uint8, np.int32]


def values(*shape, dtype=np.float64):
    return (3 * np.random.default_rng(0).normal(size=shape)).astype(dtype)


test_abs_difference_keeps_its_promises = op_test(
    abs_difference,
    values(2, 3),
    values(3) + 10,
    reference=abs_difference_reference,
    # BinaryOp's own message, as of tf.add: it names no input.
    expected_failures={"bad_input": "Incompatible shapes"},
)
test_blend_keeps_its_promises = op_test(
    blend, values(2, 3), values(3) + 10, values(2, 1), reference=blend_reference
)


@pytest.mark.parametrize("which", ["x", "y"])
def test_abs_difference_takes_over_memory_that_nobody_else_needs(which):
    def build(x):
        before = tf.multiply(x, 3.0, name="before")
        inputs = (before, x) if which == "x" else (x, before)
        return abs_difference(*inputs, name="difference")

    at = addresses(build)
    assert at["difference"][0] == at["before"][0] != 0


SHAPES = [
    ([], []),
    ([3], []),
    ([], [2, 3]),
    ([2, 3], [3]),
    ([2, 3], [2, 1]),
    ([2, 1], [1, 3]),
    ([1, 1], [1]),
    ([5, 1, 4], [3, 1]),
    ([2, 1, 2, 1, 2], [1, 3, 1, 3, 1]),
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
    message = r"Incompatible shapes: \[2,3\] vs. \[4\]|must be equal"
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=message):
        mode(abs_difference)(tf.zeros([2, 3]), tf.zeros([4]))


def test_more_dimensions_than_binary_op_takes(mode):
    x, y = tf.ones([2, 1, 2, 1, 2, 1]), tf.zeros([1, 2, 1, 2, 1, 2])
    with pytest.raises(tf.errors.UnimplementedError, match="Broadcast between"):
        mode(abs_difference)(x, y)
    np.testing.assert_array_equal(mode(blend)(x, y, x), tf.zeros([2] * 6))


THREE = [
    ([], [], []),
    ([2, 3], [3], [2, 1]),
    ([4, 5, 3], [3], [4, 5, 1]),
    ([3], [4, 1, 1], [5, 1]),
    ([2, 1, 2, 1, 2, 1, 2], [1, 3, 1, 3, 1, 3, 1], [3, 1]),
    ([0, 3], [1, 3], [1]),
    ([300, 1, 7], [1, 40, 7], [300, 40, 1]),
    ([100_000], [100_000], [100_000]),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shapes", THREE)
def test_blending_three_shapes(mode, shapes, dtype):
    x, y, weight = (values(*shape, dtype=dtype) + i for i, shape in enumerate(shapes))
    expected = np.asarray(blend_reference(x, y, weight))
    z = mode(blend)(x, y, weight).numpy()
    np.testing.assert_array_equal(z, expected, strict=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_weight_of_0_or_1_gives_one_input_exactly(mode, dtype):
    x, y = np.array([1e8, 0.1, -3], dtype), np.array([[1], [0.7]], dtype)
    for weight, expected in (0, x), (1, y):
        z = mode(blend)(x, y, dtype(weight))
        np.testing.assert_array_equal(z, np.broadcast_to(expected, [2, 3]))


def test_the_gradient_of_blend_takes_fewer_dimensions_than_blend():
    x, y = tf.ones([2, 1, 2, 1, 2, 1]), tf.zeros([1, 2, 1, 2, 1, 2])
    with tf.GradientTape() as tape:
        tape.watch(x)
        z = blend(x, y, x)
    with pytest.raises(tf.errors.UnimplementedError, match="Broadcast between"):
        tape.gradient(z, x)


@pytest.mark.parametrize("shapes", THREE[1:4])
def test_gradients_of_blend(mode, shapes):
    inputs = [values(*shape) + i for i, shape in enumerate(shapes)]
    analytical, numerical = tf.test.compute_gradient(mode(blend), inputs)
    for left, right in zip(analytical, numerical):
        np.testing.assert_allclose(left, right, rtol=1e-5, atol=1e-5)


def test_static_shapes_of_blend():
    specs = [tf.TensorSpec(shape) for shape in ([None, 1, 3], [5, 1], [None, 1, 1])]
    traced = tf.function(blend).get_concrete_function(*specs)
    assert traced.output_shapes.as_list() == [None, 5, 3]


def test_three_shapes_that_do_not_broadcast_are_refused(mode):
    message = r"x, y and weight must .* \[2,3\], \[3\] and \[4\]|must be equal"
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=message):
        mode(blend)(tf.zeros([2, 3]), tf.zeros([3]), tf.zeros([4]))


def test_too_many_elements_are_refused(mode):
    x, y = tf.zeros([2**40, 1, 0]), tf.zeros([1, 2**40, 0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="overflow"):
        mode(blend)(x, y, x)


TOO_MANY = """
import tensorflow as tf
from broadcasting import abs_difference
abs_difference(tf.zeros([2**40, 1, 0]), tf.zeros([1, 2**40, 0]))
"""


def test_too_many_elements_end_the_process_in_binary_op():
    run = forked.run(TOO_MANY)
    assert run.returncode == -signal.SIGABRT
    assert "Check failed" in run.stderr and "Encountered overflow" in run.stderr


CALLS = {
    f"{x} {y}": (abs_difference, [values(*x), values(*y) + 1])
    for x, y in SHAPES
    if len(x) < 6
}


@pytest.mark.parametrize("name", CALLS)
def test_the_gradient_is_the_same_in_both_languages(same_gradient_in_cpp, name):
    same_gradient_in_cpp(*CALLS[name])


@pytest.mark.parametrize("name", ["[2, 3] [2, 1]", "[5, 1, 4] [3, 1]"])
def test_gradients_are_those_that_differences_give(mode, name):
    function, inputs = CALLS[name]
    analytical, numerical = tf.test.compute_gradient(mode(function), inputs)
    for left, right in zip(analytical, numerical):
        np.testing.assert_allclose(left, right, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", [tf.float16, tf.float32])
def test_gradients_in_cpp_are_there_for_all_types(cpp_gradient, dtype):
    x, y = tf.constant([-2.0, 0.0, 1.0], dtype), tf.zeros([2, 1], dtype)
    dx, dy = cpp_gradient(abs_difference, [x, y], [tf.ones([2, 3], dtype)])
    np.testing.assert_array_equal(dx, tf.constant([-2, 0, 2], dtype))
    np.testing.assert_array_equal(dy, tf.zeros([2, 1], dtype))


def test_the_solution_of_the_exercise(mode):
    hypotenuse = load_op_library(
        HERE / "libsolution_hypotenuse.so", "hypotenuse"
    ).hypotenuse
    x = np.float32([3, 0, 1e30, -1e30, 1e-30, np.inf, np.nan])
    y = np.float32([[4], [0], [1e30], [-np.inf], [np.nan]])
    with np.errstate(all="ignore"):
        expected = hypotenuse_reference(x, y)
    np.testing.assert_allclose(mode(hypotenuse)(x, y), expected, rtol=1e-6)
