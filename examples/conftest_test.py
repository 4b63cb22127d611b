"""Tests of what the examples' tests share."""

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
