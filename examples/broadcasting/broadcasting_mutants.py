"""A wrong `sum_to`, with which the test that the page shows must fail."""

import tensorflow as tf


def average(x, gradient):
    """Of what arrives for a repeated element, where the sum is right."""
    repeated, _ = tf.raw_ops.BroadcastGradientArgs(
        s0=tf.shape(x), s1=tf.shape(gradient)
    )
    return tf.reshape(tf.reduce_mean(gradient, repeated), tf.shape(x))


MUTANTS = {"test_gradients_of_blend": {"broadcasting.sum_to": [average]}}
