import unittest

import tensorflow as tf
from your_ops import your_sum


# [wrong]
@tf.RegisterGradient("YourSum")
def gradient(op, grad):
    return tf.ones_like(grad), tf.ones_like(grad)


# [cured]
@tf.RegisterGradient("YourSum")
def gradient(op, grad):
    return grad, grad


# [both]
def weighted(x):
    return 3.0 * your_sum(x, tf.ones([3]))


analytic, numeric = tf.test.compute_gradient(weighted, [tf.ones([3])])
error = tf.reduce_max(tf.abs(analytic[0] - numeric[0])).numpy()
unittest.TestCase().assertLess(error, 1e-2, "of compute_gradient")  # noqa: PT009
