"""The Python side of PreserveIndex. (A module named `attrs` would hide the package of that name.)"""

import operator
from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(Path(__file__).with_name("libattrs.so"), "preserve_index")


def preserve_index(to_zero, index: int = 0, name: str | None = None) -> tf.Tensor:
    """Keeps one element of a tensor, in row-major order, and sets all others to zero.

    Args:
      to_zero: A tensor, or what converts to one: any shape with at least one element; float32,
        float64 or int32.
      index: The element to keep, counted from 0 in row-major order. Known when a `tf.function` is
        traced: not a tensor there.
      name: Of the op in the graph.

    Returns:
      A tensor of the same shape and dtype.

    Raises:
      tf.errors.InvalidArgumentError: `index` is negative or beyond the last element; or another
        dtype, in eager execution.
      ValueError: The same of `index`, where a `tf.function` is traced with a known shape.
      TypeError: `index` is not an integer; or another dtype, in a `tf.function`.
    """
    return _library.preserve_index(
        to_zero=to_zero, index=operator.index(index), name=name
    )


@tf.RegisterGradient("PreserveIndex")
def _preserve_index_grad(op: tf.Operation, grad: tf.Tensor) -> tf.Tensor:
    """Only the kept element reaches the output, so only its gradient comes back."""
    return preserve_index(grad, op.get_attr("index"))
