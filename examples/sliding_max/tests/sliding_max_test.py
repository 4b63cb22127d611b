"""Tests of SlidingMax: `pytest`."""

import numpy as np
import pytest
import tensorflow as tf
from sliding_max import sliding_max, sliding_max_grad
from sliding_max_reference import sliding_max_grad_reference, sliding_max_reference

from opcheck.testing import op_test

test_sliding_max_keeps_its_promises = op_test(
    sliding_max,
    np.float32([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]]),
    window=3,
    reference=sliding_max_reference,
)
test_its_gradient_keeps_its_promises = op_test(
    sliding_max_grad,
    np.float32([[1, 10, 100], [1, 10, 100]]),
    np.array([[2, 2, 4], [0, 2, 2]]),
    window=3,
    reference=sliding_max_grad_reference,
)


@pytest.mark.parametrize("dtype", ["float16", "float64", "uint8", "int32", "int64"])
@pytest.mark.parametrize("window", [1, 2, 7, 50])
def test_equals_the_reference(dtype, window):
    x = np.random.default_rng(0).integers(0, 9, (3, 2, 50)).astype(dtype)
    for ours, reference in zip(
        sliding_max(x, window), sliding_max_reference(x, window)
    ):
        np.testing.assert_array_equal(ours, reference, strict=True)


def test_rising_and_falling_rows():
    x = np.stack([np.arange(100.0), -np.arange(100.0)])
    for ours, reference in zip(sliding_max(x, 9), sliding_max_reference(x, 9)):
        np.testing.assert_array_equal(ours, reference, strict=True)


def test_a_long_row_is_shared_among_the_cores():
    x = np.random.default_rng(0).integers(0, 99, [2, 1_000_003])
    for ours, reference in zip(sliding_max(x, 64), sliding_max_reference(x, 64)):
        np.testing.assert_array_equal(ours, reference, strict=True)


def test_subnormal_numbers_are_not_zero():
    x = np.float32([[1e-40, 2e-40, 5e-41], [-1e-40, 0, -2e-40]])
    y, position = sliding_max(x, 3)
    np.testing.assert_array_equal(y, np.float32([[2e-40], [0]]))
    np.testing.assert_array_equal(position, [[1], [1]])
    grad = sliding_max_grad(np.float32([1e-40, 1e-40]), np.array([1, 1]), 2)
    assert grad.numpy()[1] == 2 * np.float32(1e-40)


def test_the_gradient_goes_to_the_first_of_equals():
    x = tf.constant([2.0, 5, 5, 1])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y, _ = sliding_max(x, 2)
        weighted = y * [1, 10, 100]
    np.testing.assert_array_equal(tape.gradient(weighted, x), [0, 11, 100, 0])


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float64"])
@pytest.mark.parametrize("window", [1, 2, 7, 50])
def test_the_gradient_equals_the_reference(dtype, window):
    random = np.random.default_rng(0)
    x = tf.constant(random.integers(0, 9, (3, 2, 50)), dtype)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y, position = sliding_max(x, window)
    grad = tf.constant(random.integers(0, 9, y.shape), dtype)
    expected = sliding_max_grad_reference(grad.numpy(), position.numpy(), window)
    np.testing.assert_array_equal(tape.gradient(y, x, grad), expected, strict=True)


def test_the_gradient_has_a_gradient():
    x = tf.constant([2.0, 5, 5, 1])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(sliding_max(x, 2)[0] ** 3)
        grad = inner.gradient(y, x)
    np.testing.assert_array_equal(outer.gradient(grad, x), [0, 2 * 30, 30, 0])


@pytest.mark.parametrize("position", [[0, 0], [0, -1], [0, 3], [0, 2**40]])
def test_what_lies_outside_of_its_window_has_no_gradient(position):
    grad = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(grad)
        grad_of_x = sliding_max_grad(grad, position, 2)
    np.testing.assert_array_equal(grad_of_x, [1, 0, 0])
    gradient = tape.gradient(grad_of_x, grad, tf.constant([1.0, 10.0, 100.0]))
    np.testing.assert_array_equal(gradient, [1, 0])


@pytest.mark.parametrize("dtype, total", [("float16", 3000), ("bfloat16", 3008)])
def test_gradients_of_16_bits_are_rounded_once(dtype, total):
    position = tf.fill([3000], tf.constant(2999, tf.int64))
    grad = sliding_max_grad(tf.ones([3000], dtype), position, 3000)
    assert grad[2999].numpy() == total


@pytest.mark.parametrize("n", [0, 2, 3])
def test_rows_that_are_known_to_be_too_short_are_refused_in_a_graph(n):
    function = tf.function(lambda x: sliding_max(x, 4)[0])
    with pytest.raises(ValueError, match="x has rows shorter than window=4"):
        function.get_concrete_function(tf.TensorSpec([2, n]))


@pytest.mark.parametrize("position", [0, [0, 0, 0]])
def test_a_gradient_and_positions_of_different_shapes_are_refused(position):
    with pytest.raises(tf.errors.InvalidArgumentError, match="need the same shape"):
        sliding_max_grad([1.0, 2.0], position, 3)


def test_a_gradient_that_no_tensor_holds_is_refused():
    window = 2**63 - 1
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=f"window={window} is too large"
    ):
        sliding_max_grad([1.0, 2.0], [0, 0], window)


@pytest.mark.parametrize("x", [1.0, [1.0, 2.0], np.zeros([3, 0], np.float32)])
def test_rows_that_are_too_short_are_refused(x):
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="x needs rows of at least window=3"
    ):
        sliding_max(x, 3)


def test_a_layer_learns_through_it():
    layer = tf.keras.layers.Lambda(lambda x: sliding_max(x, 3)[0], output_shape=(6,))
    model = tf.keras.Sequential([tf.keras.Input([8]), tf.keras.layers.Dense(8), layer])
    model.compile(loss="mse", jit_compile=False)
    x = np.random.default_rng(0).normal(size=(64, 8)).astype(np.float32)
    y = sliding_max(x, 3)[0]
    losses = model.fit(x, y, epochs=3, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
