"""Tests of ManhattanDistances: `pytest examples/cpu`."""

import numpy as np
import pytest
import tensorflow as tf
from cpu import manhattan_distances
from cpu_reference import manhattan_distances_reference
from cpu_steps import STEPS, step

from opcheck.testing import op_test


def numbers(*shape):
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


# More than two panels, of which the last is not full; points enough for several threads.
test_manhattan_distances_keeps_its_promises = op_test(
    manhattan_distances,
    numbers(900, 40),
    numbers(75, 40)[::-1],
    reference=manhattan_distances_reference,
)


@pytest.mark.parametrize("size", [0, 1, 7])
@pytest.mark.parametrize("count", [0, 1, 31, 32, 33, 64, 65])
def test_the_bits_are_those_of_the_reference(mode, count, size):
    points, centers = numbers(5, size), numbers(count, size)
    distances = mode(manhattan_distances)(points, centers)
    expected = manhattan_distances_reference(points, centers)
    np.testing.assert_array_equal(distances, expected)


def test_subnormal_numbers_are_not_zero(mode):
    points, centers = numbers(900, 40) * 1e-39, numbers(75, 40) * 1e-39
    distances = mode(manhattan_distances)(points, centers)
    expected = manhattan_distances_reference(points, centers)
    np.testing.assert_array_equal(distances, expected)


@pytest.mark.parametrize("name", STEPS)
def test_all_steps_give_the_same_bits(name):
    points, centers = numbers(5, 40), numbers(96, 40)
    expected = manhattan_distances_reference(points, centers)
    np.testing.assert_array_equal(step(name)(points, centers), expected)


def test_what_does_not_fit_is_refused(mode):
    refused = tf.errors.InvalidArgumentError, ValueError
    for points, centers in ([2, 3], [2, 4]), ([3], [2, 3]), ([2, 3], [1, 2, 3]):
        with pytest.raises(
            refused, match="must be matrices|must be equal|must be rank"
        ):
            mode(manhattan_distances)(numbers(*points), numbers(*centers))


def test_more_distances_than_a_tensor_holds_are_refused():
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="centers are too many: .*overflow"
    ):
        manhattan_distances(tf.zeros([2**40, 0]), tf.zeros([2**40, 0]))


def test_it_has_no_gradient():
    points = tf.Variable(numbers(2, 3))
    with tf.GradientTape() as tape:
        distances = manhattan_distances(points, points)
    assert tape.gradient(distances, points) is None
