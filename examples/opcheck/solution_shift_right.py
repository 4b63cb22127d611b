"""The Python side of the exercise's solution."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(
    Path(__file__).with_name("libsolution_shift_right.so"), "shift_right_repaired"
)


def shift_right_repaired(values, places):
    """As `shift_right`, without its bugs."""
    return _library.shift_right_repaired(values=values, places=places)


@tf.RegisterGradient("ShiftRightRepaired")
def _shift_right_repaired_grad(op, grad):
    """The gradient moves the other way: element i of the input became element i + places."""
    flat = tf.reshape(grad, [-1])
    places = tf.constant(op.get_attr("places"), tf.int64)
    places = tf.minimum(places, tf.size(flat, tf.int64))
    return tf.reshape(tf.pad(flat[places:], [[0, places]]), tf.shape(grad))
