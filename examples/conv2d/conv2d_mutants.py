"""Gradients of Conv2D that are wrong, on which the test that the page shows must fail."""

import tensorflow as tf
from conv2d import conv2d


@tf.custom_gradient
def _doubled(y):
    return y, lambda dy: 2 * dy


def doubles_the_gradient(*arguments):
    return _doubled(conv2d(*arguments))


def shifted(*arguments):
    return conv2d(*arguments) + 1


MUTANTS = {
    "test_gradients_are_those_that_differences_give": {
        "conv2d.conv2d": [doubles_the_gradient]
    },
    "test_as_tensorflow_s_op": {"conv2d.conv2d": [shifted]},
}
