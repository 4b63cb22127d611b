"""Tests of RunningSum, and of CumulativeMax, the solution: `pytest examples/types`."""

import re
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from op_library import load_op_library
from running_sum import running_sum
from solution_cumulative_max import cumulative_max
from types_reference import cumulative_max_reference, running_sum_reference

from opcheck.testing import op_test

HERE = Path(__file__).parent
INTEGERS = [tf.int8, tf.int16, tf.int32, tf.int64]
INTEGERS += [tf.uint8, tf.uint16, tf.uint32, tf.uint64]
REFUSED = (tf.errors.InvalidArgumentError, TypeError)
FLOATS = [tf.float16, tf.bfloat16, tf.float32, tf.float64]
SHAPES = [(), (1,), (7,), (3, 5), (2, 3, 4), (0,), (2, 0), (0, 3)]


def some(shape, dtype, seed=0):
    """Small numbers, of which there are equal ones, as a tensor of any of the types."""
    numbers = np.random.default_rng(seed).integers(0, 50, shape)
    if dtype == tf.string:
        return tf.strings.as_string(tf.constant(numbers))
    return tf.cast(tf.constant(numbers), dtype)


test_running_sum_keeps_its_promises = op_test(
    running_sum,
    np.float32([[1, 3, 2], [-4, -5, 0]]),
    reference=running_sum_reference,
)
test_cumulative_max_keeps_its_promises = op_test(
    cumulative_max,
    np.float32([[1, 3, 2], [-4, -5, 0]]),
    reference=cumulative_max_reference,
)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", SHAPES)
def test_running_sum_equals_numpy(dtype, shape):
    values = some(shape, dtype)
    sums = running_sum(values).numpy()
    expected = running_sum_reference(values.numpy())
    np.testing.assert_array_equal(sums, expected, strict=True)


@pytest.mark.parametrize("dtype, last", [(tf.float16, 3000), (tf.bfloat16, 3008)])
def test_16_bits_are_added_in_32(dtype, last):
    assert float(running_sum(tf.ones([3000], dtype))[-1]) == last
    assert float(tf.cumsum(tf.ones([3000], dtype))[-1]) < last


@pytest.mark.parametrize("dtype", [tf.int32, tf.bool, tf.complex64, tf.string])
def test_running_sum_refuses_other_types(mode, dtype):
    with pytest.raises(REFUSED, match="(not in the|in) list of allowed values"):
        mode(running_sum)(some((3,), dtype))


@pytest.mark.parametrize("shape", SHAPES)
def test_the_gradient_of_running_sum(mode, shape):
    @mode
    def gradient(values):
        with tf.GradientTape() as tape:
            tape.watch(values)
            loss = tf.reduce_sum(running_sum(values) ** 2) / 2
        return tape.gradient(loss, values)

    values = np.atleast_1d(some(shape, tf.float64, 1).numpy())
    expected = np.cumsum(np.cumsum(values, -1)[..., ::-1], -1)[..., ::-1]
    result = gradient(tf.reshape(tf.constant(values), shape))
    np.testing.assert_array_equal(result, expected.reshape(shape))


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
@pytest.mark.parametrize("shape", SHAPES)
def test_cumulative_max_equals_numpy(dtype, shape):
    values = some(shape, dtype)
    expected = cumulative_max_reference(values.numpy())
    largest = cumulative_max(values).numpy()
    np.testing.assert_array_equal(largest, expected, strict=True)


@pytest.mark.parametrize("dtype", FLOATS)
def test_cumulative_max_passes_nan_on(dtype):
    values = tf.constant([-np.inf, 1, np.nan, np.inf], dtype)
    expected = np.float32([-np.inf, 1, np.nan, np.nan])
    np.testing.assert_array_equal(tf.cast(cumulative_max(values), tf.float32), expected)


def test_cumulative_max_tells_subnormal_numbers_apart(mode):
    values = np.float32([1e-40, 3e-40, 2e-40])
    np.testing.assert_array_equal(
        mode(cumulative_max)(values), cumulative_max_reference(values)
    )


@pytest.mark.parametrize("dtype", [tf.bool, tf.complex64, tf.string])
def test_cumulative_max_refuses_what_has_no_order(mode, dtype):
    with pytest.raises(REFUSED, match="(not in the|in) list of allowed values"):
        mode(cumulative_max)(some((3,), dtype))


@pytest.mark.parametrize("shape", [(), (5,), (2, 3), (2, 0), (0, 2)])
@pytest.mark.parametrize("dtype", FLOATS)
def test_the_gradient_goes_to_the_first_of_the_largest(mode, shape, dtype):
    @mode
    def gradient(values):
        with tf.GradientTape() as tape:
            tape.watch(values)
            largest = cumulative_max(values)
        return tape.gradient(largest, values)

    expected = np.zeros(shape or (1,))
    values = some(shape, tf.int32).numpy().reshape(expected.shape)
    for row in np.ndindex(expected.shape[:-1]):
        for i in range(expected.shape[-1]):
            expected[row][np.argmax(values[row][: i + 1])] += 1
    result = gradient(some(shape, dtype))
    assert (result.dtype, result.shape) == (dtype, shape)
    np.testing.assert_array_equal(tf.cast(result, tf.float64), expected.reshape(shape))


def test_the_gradient_of_nan_goes_to_the_first():
    values = tf.constant([1, np.nan, 2, np.nan])
    with tf.GradientTape() as tape:
        tape.watch(values)
        largest = cumulative_max(values)
    upstream = tf.constant([1.0, 10, 100, 1000])
    np.testing.assert_array_equal(
        tape.gradient(largest, values, upstream), [1, 1110, 0, 0]
    )


def test_the_gradient_of_equal_bfloat16_is_added_in_32():
    values = tf.ones([3000], tf.bfloat16)
    with tf.GradientTape() as tape:
        tape.watch(values)
        largest = cumulative_max(values)
    assert float(tape.gradient(largest, values)[0]) == 3008


def test_the_type_lists_are_those_of_the_header():
    rows = load_op_library(HERE / "libtype_lists.so").type_lists().numpy()
    header = "tensorflow/core/framework/register_types.h"
    text = Path(tf.sysconfig.get_include(), header).read_text()
    macros = re.findall(r"^#define (TF_CALL_[A-Z0-9_]+)\(m\)", text, re.M)
    assert {macro.decode() for macro, _, _ in rows} == {*macros}
    for _, dtype, _ in rows:
        assert tf.as_dtype(dtype.decode()).name
