"""Tests of what the examples' tests share."""

import numpy as np
import pytest
import tensorflow as tf

SEEN = []
pytestmark = pytest.mark.xdist_group("modes")


def test_a_mode_runs_a_function(mode):
    seen = []
    mode(lambda: seen.append(tf.executing_eagerly()))()
    SEEN.extend(seen)
    assert len(seen) == 1


def test_there_are_two_modes_eager_and_traced():
    assert SEEN == [True, False]


@pytest.mark.parametrize(
    "dtype, error, rtol", [("float32", 0, 1e-5), ("float64", 1e-6, 1e-4)]
)
def test_a_tolerance_that_fits_and_one_that_is_a_thousand_times_wider(
    dtype, error, rtol
):
    ones = np.ones(3, dtype)
    np.testing.assert_allclose(ones + error, ones, rtol)
    with pytest.raises(pytest.fail.Exception, match="atol=0 is wide for errors up to"):
        np.testing.assert_allclose(ones + error, ones, 1000 * rtol)


def test_a_process_that_fails_fails_its_test(in_process):
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        in_process("1 / 0")
