"""Tests of Standardize and of the table: `pytest examples/eigen`."""

import numpy as np
import pytest
import tensorflow as tf
from eigen import eigen_table, in_eigen, standardize
from eigen_reference import standardize_reference

from opcheck.testing import op_test

X = np.float32([[1, 5, -2], [7.5, 0, 3]])
Y = np.float32([[4, -5, 6], [7, 8, 9]])
V = np.float32([10, 20, 30])
ROWS = list(enumerate(eigen_table()))


def values(*shape, dtype=np.float64):
    return np.random.default_rng(0).normal(3, 2, shape).astype(dtype)


test_standardize_keeps_its_promises = op_test(
    standardize, values(3, 5), epsilon=0.5, reference=standardize_reference
)


@pytest.mark.parametrize("row, line", ROWS, ids=[line[1] for _, line in ROWS])
def test_each_row_of_the_table_is_what_numpy_gives(row, line):
    _, numpy, _ = line
    expected = np.asarray(eval(numpy, {"np": np, "x": X, "y": Y, "v": V}))
    np.testing.assert_allclose(
        in_eigen(X, Y, V, row), expected.astype(np.float32), rtol=1e-6, strict=True
    )


def test_only_the_largest_may_differ_with_nan():
    x, y = X.copy(), Y.copy()
    x[0, 1] = y[1, 0] = np.nan
    differ = set()
    for row, (_, numpy, _) in ROWS:
        if numpy == "x.astype(np.int32)":  # not defined for NaN
            continue
        expected = np.asarray(eval(numpy, {"np": np, "x": x, "y": y, "v": V}))
        found = in_eigen(x, y, V, row).numpy()
        if not np.allclose(found, expected, rtol=1e-6, equal_nan=True):
            differ.add(numpy)
    largest = {"np.maximum(x, y)", "np.maximum(x, 0)", "x.max(axis=1)"}
    assert differ and differ <= largest | {"x.argmax(axis=1)"}


def test_rows_that_are_not_there_and_other_shapes_are_refused(mode):
    refused = tf.errors.InvalidArgumentError
    with pytest.raises(refused, match=f"row must be below {len(ROWS)}, got 99"):
        mode(in_eigen)(X, Y, V, row=99)
    with pytest.raises(refused, match=r"must have the shapes .* and \[2\]"):
        mode(in_eigen)(X, Y, V[:2], row=0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 1), (0, 4), (1, 1000), (300, 17)])
def test_rows_of_all_lengths(mode, dtype, shape):
    x = values(*shape, dtype=dtype)
    z = mode(standardize)(x).numpy()
    tolerance = 1e-5 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(z, standardize_reference(x), tolerance, tolerance)


def test_long_rows(mode):
    """A single accumulator would stop at 2**24."""
    ones = np.ones([1, 2**25], np.float32)
    np.testing.assert_array_equal(mode(standardize)(ones), 0 * ones)
    x = 10 + np.random.default_rng(0).random((1, 10_000_000), np.float32)
    expected = standardize_reference(x.astype(np.float64))
    np.testing.assert_allclose(mode(standardize)(x), expected, atol=1e-5)


@pytest.mark.parametrize("columns", [768, 1000, 10_000])
def test_equal_numbers_become_zeros(mode, columns):
    x = np.full([2, columns], 1000.123, np.float32)
    np.testing.assert_array_equal(mode(standardize)(x), 0 * x)


def test_what_is_no_matrix_is_refused(mode):
    for x in tf.zeros([3]), tf.zeros([2, 3, 4]):
        with pytest.raises(
            (tf.errors.InvalidArgumentError, ValueError),
            match="x must be a matrix|must be rank 2",
        ):
            mode(standardize)(x)


@pytest.mark.parametrize("epsilon", [-1e-6, np.inf, np.nan])
def test_another_epsilon_is_refused(mode, epsilon):
    match = "epsilon must be finite and at least 0, got"
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=match):
        mode(standardize)(tf.ones([2, 2]), epsilon=epsilon)


def test_other_dtypes_are_refused(mode):
    with pytest.raises(
        (tf.errors.InvalidArgumentError, TypeError), match="allowed values"
    ):
        mode(standardize)(tf.constant([[1]]))


def test_gradients(mode):
    analytical, numerical = tf.test.compute_gradient(
        mode(lambda x: standardize(x, epsilon=0.1)), [values(3, 4)]
    )
    np.testing.assert_allclose(analytical, numerical, rtol=1e-5, atol=1e-6)
