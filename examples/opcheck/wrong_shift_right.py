"""The Python side of the exercise."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(
    Path(__file__).with_name("libwrong_shift_right.so"), "shift_right"
)


def shift_right(values, places):
    """Moves the elements of a tensor by a number of places towards its end."""
    return _library.shift_right(values=values, places=places)


@tf.RegisterGradient("ShiftRight")
def _shift_right_grad(op, grad):
    return shift_right(grad, op.get_attr("places"))
