"""Tests of MovingMedian: `pytest examples/attrs`."""

import inspect

import numpy as np
import pytest
import tensorflow as tf
from attrs_reference import moving_median_reference
from moving_median import (
    _library,
    moving_median,
    network_moving_median,
    stock_moving_median,
)

from opcheck.testing import op_test


@pytest.mark.parametrize("call", [moving_median, tf.function(moving_median)])
@pytest.mark.parametrize("window", [2, 4])
def test_an_even_window_is_refused(call, window):
    with pytest.raises(ValueError, match=f"window must be odd, but is {window}"):
        call([5.0, 4.0, 3.0, 2.0, 1.0], window)


test_moving_median_keeps_its_promises = op_test(
    moving_median,
    np.float32([[3, 1, 4, 15, 9, 2], [-2, 7, 1, 8, 28, 18]]),
    window=5,
    reference=moving_median_reference,
)


@pytest.mark.parametrize(
    "shape, window",
    [((), 1), ((1,), 1), ((7,), 7), ((2, 5), 3), ((3, 1, 8), 5), ((0, 4), 3)],
)
def test_equals_the_reference(mode, shape, window):
    signal = np.asarray(np.random.default_rng(0).normal(size=shape))
    expected = moving_median_reference(signal, window)
    result = mode(moving_median)(signal, window)
    np.testing.assert_array_equal(result, expected, strict=True)
    stock = stock_moving_median(tf.constant(signal), window)
    np.testing.assert_array_equal(stock, expected)


@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize("length, window", [(1, 1), (7, 7), (40, 3), (40, 9)])
def test_the_network_has_the_same_bits_and_a_gradient(length, window, jit_compile):
    signal = np.random.default_rng(0).normal(size=length).astype(np.float32)

    @tf.function(jit_compile=jit_compile, autograph=False)
    def medians_and_gradient(x):
        medians = network_moving_median(x, window)
        return medians, tf.gradients(medians, x)[0]

    medians, gradient = medians_and_gradient(signal)
    expected = moving_median(signal, window)
    assert medians.numpy().tobytes() == expected.numpy().tobytes()
    with tf.GradientTape() as tape:
        tape.watch(x := tf.constant(signal))
        ours = moving_median(x, window)
    np.testing.assert_array_equal(gradient, tape.gradient(ours, x))


def test_a_scalar_has_a_gradient(mode):
    [analytical], [numerical] = tf.test.compute_gradient(
        mode(lambda x: moving_median(x, 1)), [np.float64(3)]
    )
    np.testing.assert_allclose(analytical, numerical)


def test_a_nan_reaches_every_window_that_has_it(mode):
    signal = [1.0, 2.0, np.nan, np.inf, 3.0, -np.inf, 4.0]
    medians = mode(moving_median)(signal)
    np.testing.assert_array_equal(medians, [1, np.nan, np.nan, np.nan, 3, 3, 4])


def test_subnormal_numbers_are_not_zero(mode):
    signal = np.float32([3e-40, 1e-40, 2e-40])
    np.testing.assert_array_equal(
        mode(moving_median)(signal), np.float32([3e-40, 2e-40, 2e-40])
    )


@pytest.mark.parametrize("window", [0, -1, 2**63, 2**64 + 3])
def test_a_window_that_the_interface_refuses_is_a_value_error(mode, window):
    message = "minimum 1|must be a number of 64 bits"
    for signal in [5.0, 4.0], tf.constant([5.0, 4.0]), np.float32([5.0, 4.0]):
        with pytest.raises(ValueError, match=message):
            mode(lambda signal=signal: moving_median(signal, window))()


@pytest.mark.parametrize("shape, window", [((), 3), ((2,), 3), ((4, 0), 1)])
def test_a_window_longer_than_the_signal_is_refused(shape, window):
    length = shape[-1] if shape else 1
    message = f"at most the length of signal, {length}, but is {window}"
    with pytest.raises(ValueError, match=message):
        moving_median(np.zeros(shape, np.float32), window)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.function(moving_median)(np.zeros(shape, np.float32), window)


def test_a_window_takes_no_memory_if_there_are_no_rows(mode):
    medians = mode(moving_median)(tf.zeros([0, 2**50]), 2**50 - 1)
    assert medians.shape == [0, 2**50]


@pytest.mark.parametrize("window", [3.0, "3", None])
def test_what_is_no_integer_is_a_type_error(mode, window):
    with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
        mode(lambda: moving_median([5.0, 4.0, 3.0], window))()


def test_another_dtype_is_refused():
    with pytest.raises(ValueError, match="T=DT_INT32|int32"):
        moving_median(tf.constant([5, 4, 3]))
    with pytest.raises(TypeError, match="int32"):
        tf.function(moving_median)(tf.constant([5, 4, 3]))


def test_the_default_is_that_of_the_interface():
    ours, generated = (
        inspect.signature(each).parameters["window"].default
        for each in (moving_median, _library.moving_median)
    )
    assert ours == generated
