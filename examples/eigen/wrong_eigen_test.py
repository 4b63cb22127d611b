"""What is wrong with expressions: `pytest examples/eigen`."""

import numpy as np
import pytest
import tensorflow as tf
from wrong_eigen import WAYS, row_mean, scalar_as_float, times_read


def test_a_mean_that_is_not_kept_is_computed_for_each_element(mode):
    x = tf.zeros([20, 50])
    assert mode(times_read)(x, kept=True) == 20 * 50
    assert mode(times_read)(x, kept=False) == 20 * 50 * 50


def test_what_is_no_matrix_is_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="x must be a matrix"):
        times_read(tf.zeros([3]), kept=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match="x must be a matrix"):
        row_mean(tf.zeros([3]), way=WAYS[0])


def test_only_a_sum_by_type_is_right_for_long_rows(mode):
    x = 10 + np.random.default_rng(0).random((1, 10_000_000), np.float32)
    wrong = {way: abs(float(mode(row_mean)(x, way=way)[0]) - 10.5) for way in WAYS}
    assert wrong["sum, by type"] < 0.001
    assert wrong["mean, by value"] > wrong["mean, by type"] > 0.01


def test_scalar_looks_neither_at_the_type_nor_at_the_rank(mode):
    for x in np.int32(7), np.int32([[7]]):
        found = mode(scalar_as_float)(x).numpy()
        assert found.shape == () and found.view(np.int32) == 7
    with pytest.raises(tf.errors.InvalidArgumentError, match="x must have one element"):
        mode(scalar_as_float)(np.int32([7, 7]))
