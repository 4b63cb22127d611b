"""Collect as it was before it was right: `pytest examples/send_recv`."""

import numpy as np
import send_recv
import tensorflow as tf
from send_recv_test import X, seconds, unordered
from wrong_collect import blocking_collect, endless_collect


def test_a_wait_in_compute_ends_with_its_timeout():
    function = unordered(lambda: blocking_collect("none", tf.float32, timeout_ms=100))
    error, match = tf.errors.DeadlineExceededError, "a thread waited 100 ms for none"
    assert seconds(function, error=error, match=match) < 60


def test_a_wait_without_a_timeout_ends_with_the_tensor_or_an_error():
    def function(x, checked):
        value = endless_collect("late", tf.float32)
        checked = tf.debugging.check_numerics(checked, "checked")
        with tf.control_dependencies([send_recv.post(x + checked, "late")]):
            return tf.identity(value)

    function = unordered(function, tf.TensorSpec([3]), tf.TensorSpec([]))
    for _ in range(20):
        np.testing.assert_array_equal(function(X, tf.constant(1.0)), X + 1)
    error, match = tf.errors.InvalidArgumentError, "checked : Tensor had Inf"
    assert seconds(function, X, tf.constant(np.inf), error=error, match=match) < 60
