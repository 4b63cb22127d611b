"""The Python side: load the library, wrap the ops, register their gradients."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(
    Path(__file__).with_name("libelementwise.so"),
    *("log_cosh", "log_cosh_plain", "abs_difference", "packet_sizes"),
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


def abs_difference(x, y, name: str | None = None) -> tf.Tensor:
    """Computes |x - y| for each pair of elements, after broadcasting as in NumPy.

    Args:
      x: A tensor of any shape; float16, bfloat16, float32, float64, uint8, int32 or int64.
      y: A tensor of the same dtype, whose shape broadcasts with that of x.
      name: Of the op in the graph.

    Returns:
      A tensor of the common shape. A difference of signed integers that the dtype does not hold wraps around.

    Raises:
      tf.errors.InvalidArgumentError: The shapes do not broadcast, in eager execution.
      ValueError: The same in a `tf.function`.
    """
    return _library.abs_difference(x=x, y=y, name=name)


def packets() -> dict[str, list[int]]:
    """How many elements TensorFlow's functors compute at once, as this library was compiled.

    Returns:
      From a functor to the numbers for float32, float64, bfloat16, int32 and uint8. 1 is one by one.
    """
    names, sizes = _library.packet_sizes()
    return dict(zip(names.numpy().astype(str), sizes.numpy().tolist()))


@tf.RegisterGradient("LogCosh")
def _log_cosh_gradient(op: tf.Operation, dy: tf.Tensor) -> tf.Tensor:
    return tf.tanh(op.inputs[0]) * dy


@tf.RegisterGradient("AbsDifference")
def _abs_difference_gradient(op: tf.Operation, dz: tf.Tensor) -> list[tf.Tensor]:
    x, y = op.inputs
    up = tf.sign(x - y) * dz
    shapes = tf.shape(x), tf.shape(y)
    repeated = tf.raw_ops.BroadcastGradientArgs(s0=shapes[0], s1=shapes[1])
    return [
        tf.reshape(tf.reduce_sum(gradient, axes), shape)
        for gradient, axes, shape in zip([up, -up], repeated, shapes)
    ]
