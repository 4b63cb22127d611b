"""How often an expression is computed: `pytest examples/eigen`."""

import pytest
import tensorflow as tf
from wrong_eigen import times_read


def test_a_mean_that_is_not_kept_is_computed_for_each_element(mode):
    x = tf.zeros([20, 50])
    assert mode(times_read)(x, kept=True) == 20 * 50
    assert mode(times_read)(x, kept=False) == 20 * 50 * 50


def test_what_is_no_matrix_is_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="x must be a matrix"):
        times_read(tf.zeros([3]), kept=True)
