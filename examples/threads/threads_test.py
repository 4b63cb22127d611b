"""Tests of SteadySum, SortRows and PlayBackwards: `pytest examples/threads`."""

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from op_library import load_op_library
from threads import play_backwards, sort_rows, steady_sum
from threads_reference import (
    even_part_reference,
    first_highest_reference,
    play_backwards_reference,
    sort_rows_reference,
    steady_sum_reference,
)

from opcheck.testing import op_test

HERE = Path(__file__).parent
DTYPES = [tf.float32, tf.float64]
BLOCK = 4096


def numbers(*shape, dtype=np.float32):
    return np.random.default_rng(0).random(shape, dtype)


# Several blocks, which opcheck lets threads share.
test_steady_sum_keeps_its_promises = op_test(
    steady_sum, numbers(3, 100_000), reference=steady_sum_reference
)
test_sort_rows_keeps_its_promises = op_test(
    sort_rows,
    np.random.default_rng(0).integers(0, 99, 50_000),
    np.int64([0, 0, 40_000, 40_001, 50_000, 50_000]),
    reference=sort_rows_reference,
)
test_play_backwards_keeps_its_promises = op_test(
    play_backwards, numbers(7), gain=2.5, reference=play_backwards_reference
)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "size", [0, 1, 15, 17, BLOCK - 1, BLOCK, BLOCK + 1, 5 * BLOCK + 33]
)
def test_sums_of_all_sizes(mode, size, dtype):
    x = np.arange(size, dtype=dtype.as_numpy_dtype) % 8  # exact in any order
    total = mode(steady_sum)(x)
    assert total.dtype == dtype and total == np.sum(x, dtype=np.float64)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_bits_are_those_of_the_reference(mode, dtype):
    """Another order of the additions would be another op."""
    x = numbers(20 * BLOCK + 77, dtype=dtype.as_numpy_dtype)
    expected = steady_sum_reference(x)
    assert mode(steady_sum)(x).numpy().tobytes() == expected.tobytes()


def test_the_smallest_numbers_count(mode):
    tiny = np.full(10_000, 1e-45, np.float32)  # TensorFlow compares them as zeros
    assert mode(steady_sum)(tiny).numpy() == np.sum(tiny, dtype=np.float64)


def test_rows_that_do_not_fit_are_refused(mode):
    values = np.arange(3)
    for splits, said in {
        (): r"a vector with elements, got shape \[0\]",
        (0, 2, 1, 3): "must not decrease, got 1 after 2",
        (1, 3): "must go from 0 to the 3 values, got 1 to 3",
        (0, 2): "must go from 0 to the 3 values, got 0 to 2",
    }.items():
        with pytest.raises(tf.errors.InvalidArgumentError, match=said):
            mode(sort_rows)(values, np.int64(splits))
    refused = tf.errors.InvalidArgumentError, ValueError
    with pytest.raises(refused, match="values must be a vector|must be rank 1"):
        mode(sort_rows)(values[None], np.int64([0, 3]))
    with pytest.raises(refused, match="row_splits must be a vector|must be rank 1"):
        mode(sort_rows)(values, np.int64(3))


def test_every_thread_takes_subnormal_numbers_for_zero():
    tiny = np.full(100_000, 1e-39, np.float32)
    assert not play_backwards(tiny, gain=0.5).numpy().any()


def test_what_is_no_vector_is_refused(mode):
    for signal in tf.zeros([]), tf.zeros([2, 3]):
        with pytest.raises(
            (tf.errors.InvalidArgumentError, ValueError),
            match="signal must be a vector|must be rank 1",
        ):
            mode(play_backwards)(signal)


@pytest.mark.parametrize("op", [steady_sum, play_backwards])
def test_other_dtypes_are_refused(mode, op):
    with pytest.raises(
        (tf.errors.InvalidArgumentError, TypeError), match="allowed values"
    ):
        mode(op)(tf.constant([1]))


def test_gradients(mode):
    x = tf.constant(numbers(5), tf.float64)
    for op in steady_sum, lambda x: play_backwards(x, gain=0.5):
        analytical, numerical = tf.test.compute_gradient(mode(op), [x])
        np.testing.assert_allclose(analytical, numerical, rtol=1e-6)


def test_the_solution_of_the_exercise_on_eigen(mode):
    even_part = load_op_library(
        HERE / "libsolution_even_part.so", "even_part"
    ).even_part
    x = numbers(100_001)
    halves = mode(lambda x: even_part(x * 2))(x)  # whose memory nobody else needs
    np.testing.assert_array_equal(halves, even_part_reference(x * 2))
    refused = tf.errors.InvalidArgumentError, ValueError
    with pytest.raises(refused, match="signal must be a vector|must be rank 1"):
        mode(even_part)(x[None])


def test_the_solution_of_the_exercise(mode):
    library = load_op_library(HERE / "libsolution_first_highest.so", "first_highest")
    x = np.random.default_rng(0).integers(0, 50, [9, 5000]).astype(np.float32)
    assert mode(library.first_highest)(x) == first_highest_reference(x)
    x = np.zeros(9000, np.float32)
    x[5000] = 1e-40  # where subnormal numbers are taken for zero, all are equal
    assert mode(library.first_highest)(x) == 5000
    with pytest.raises(tf.errors.InvalidArgumentError, match="x must have elements"):
        mode(library.first_highest)(tf.zeros([0]))
