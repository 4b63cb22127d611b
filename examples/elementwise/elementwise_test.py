"""Tests of LogCosh: `pytest examples/elementwise`."""

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import tensorflow as tf
from addresses import addresses
from elementwise import log_cosh, log_cosh_plain
from elementwise_reference import log_cosh_reference
from op_library import load_op_library

from opcheck.testing import op_test

FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]


def values(*shape, dtype=np.float64):
    return (3 * np.random.default_rng(0).normal(size=shape)).astype(dtype)


test_log_cosh_keeps_its_promises = op_test(
    log_cosh, values(3, 5), reference=log_cosh_reference
)
test_log_cosh_plain_keeps_its_promises = pytest.mark.slow(
    op_test(
        log_cosh_plain, values(3, 5, dtype=np.float32), reference=log_cosh_reference
    )
)


def test_log_cosh_takes_over_memory_that_nobody_else_needs():
    def build(x):
        return log_cosh(tf.multiply(x, 3.0, name="before"), name="log_cosh")

    at = addresses(build)
    assert at["log_cosh"][0] == at["before"][0] != 0


@pytest.mark.parametrize("dtype", FLOATS)
def test_an_element_does_not_depend_on_its_place(dtype):
    """Of an expression of Eigen's, the last elements would be computed one by one."""
    x = values(1029, dtype=dtype)
    whole = log_cosh(x).numpy()
    for begin, end in (0, 1), (3, 20), (5, 1029):
        part = log_cosh(x[begin:end]).numpy()
        if dtype != np.float64:
            np.testing.assert_array_equal(part, whole[begin:end])


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
    x = np.float32(10 ** np.random.default_rng(0).uniform(-18.65, 2, 1_000_000))
    expected = log_cosh_reference(x.astype(np.float64))
    np.testing.assert_allclose(log_cosh(x), expected, rtol=1e-6)


def test_the_formulas_for_one_number(mode):
    x = np.float32(EXTREMES)
    with np.errstate(all="ignore"):
        expected = log_cosh_reference(x)
    np.testing.assert_allclose(mode(log_cosh_plain)(x), expected, 1e-6, 1e-45)


def test_log_cosh_errs_by_few_units_in_the_last_place():
    """By 7.1 where it errs most, a little above 1/8, and by less from 1 on."""
    worst = np.arange(1000, dtype=np.float32) * 2**-23 + np.float32(0.12505)
    x = np.append(np.geomspace(1e-18, 100, 1_000_000).astype(np.float32), worst)
    exact = log_cosh_reference(x.astype(np.float64))
    units = abs(log_cosh(x).numpy() - exact) / np.spacing(exact.astype(np.float32))
    assert units.max() < 7.2
    assert units[x >= 1].max() < 2


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


CALLS = {"log_cosh": (log_cosh, [values(2, 3)])}


@pytest.mark.parametrize("name", CALLS)
def test_the_gradient_is_the_same_in_both_languages(same_gradient_in_cpp, name):
    same_gradient_in_cpp(*CALLS[name])


@pytest.mark.parametrize("name", CALLS)
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


def test_the_solution_of_the_exercise(mode):
    library = load_op_library(
        Path(__file__).with_name("libsolution_softsign.so"), "soft_sign"
    )
    for dtype in np.float32, np.float64:
        x = values(2, 9, dtype=dtype)
        y = mode(library.soft_sign)(x)
        np.testing.assert_array_equal(y, tf.nn.softsign(x))
