"""Gradients of Conv2D that are wrong, on which the test that the page shows must fail."""

import tensorflow as tf
from conv2d import conv2d
from conv2d_loops import loop_conv2d


@tf.custom_gradient
def _doubled(y):
    return y, lambda dy: 2 * dy


def doubles_the_gradient(*arguments, **layout):
    return _doubled(conv2d(*arguments, **layout))


def without_dilation(x, filter, stride, dilation):
    """Of the right shape, and with the gradient of a convolution without dilation."""
    right = loop_conv2d(x, filter, stride, dilation)
    rows, columns = filter.shape[:2]
    reach = [(taps - 1) * (dilation - 1) for taps in (rows, columns)]
    wrong = loop_conv2d(
        x[:, : x.shape[1] - reach[0], : x.shape[2] - reach[1]], filter, stride
    )
    return wrong + tf.stop_gradient(right - wrong)


def shifted(*arguments):
    return conv2d(*arguments) + 1


MUTANTS = {
    "test_gradients": {
        "conv2d.conv2d": [doubles_the_gradient],
        "conv2d_loops.loop_conv2d": [without_dilation],
    },
    "test_gradients_are_those_that_differences_give": {
        "conv2d.conv2d": [doubles_the_gradient]
    },
    "test_as_tensorflow_s_op": {"conv2d.conv2d": [shifted]},
}
