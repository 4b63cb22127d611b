"""The Python side: load the library, wrap the ops, register their gradients."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(
    Path(__file__).with_name("libelementwise.so"),
    *("log_cosh", "log_cosh_plain"),
)


def log_cosh(x, name: str | None = None) -> tf.Tensor:
    """Computes log(cosh(x)) for each element, without overflow and with all digits near 0.

    Args:
      x: A tensor of any shape; float16, bfloat16, float32 or float64.
      name: Of the op in the graph.

    Returns:
      A tensor of the same shape and dtype.
    """
    return _library.log_cosh(x=x, name=name)


def log_cosh_plain(x) -> tf.Tensor:
    """Computes log(cosh(x)) for each element by the formulas for one number, to compare.

    Args:
      x: A tensor of any shape; float32.

    Returns:
      A tensor of the same shape and dtype.
    """
    return _library.log_cosh_plain(x=x)


@tf.RegisterGradient("LogCosh")
@tf.RegisterGradient("LogCoshPlain")
def _log_cosh_gradient(op: tf.Operation, dy: tf.Tensor) -> tf.Tensor:
    return tf.tanh(op.inputs[0]) * dy
