"""The Python side: load the library, wrap the ops, register their gradients."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(
    Path(__file__).with_name("libthreads.so"),
    *("steady_sum", "sort_rows", "play_backwards"),
)


def steady_sum(x, name: str | None = None) -> tf.Tensor:
    """Adds all elements, and gives the same bits on any number of threads.

    The elements are cut into blocks of a fixed size, and the sums of the blocks are added in a fixed order, too.

    Args:
      x: A tensor of any shape; float32 or float64.
      name: Of the op in the graph.

    Returns:
      A scalar of the same dtype; 0 if `x` has no elements.

    Raises:
      tf.errors.InvalidArgumentError: Another dtype, in eager execution.
      TypeError: The same in a `tf.function`.
    """
    return _library.steady_sum(x=x, name=name)


def sort_rows(values, row_splits, name: str | None = None) -> tf.Tensor:
    """Sorts each row of a ragged tensor.

    Args:
      values: `[size]`, int64: the values of the rows, one row after the other.
      row_splits: `[rows + 1]`, int64: where each row begins in `values`, and at last `size`.
      name: Of the op in the graph.

    Returns:
      `[size]`, int64: the rows, each in ascending order.

    Raises:
      tf.errors.InvalidArgumentError: An input is not a vector or, in eager execution, of another dtype;
        `row_splits` does not begin with 0, decreases, or does not end with the number of values.
      ValueError: An input is not a vector, found while a `tf.function` is traced.
      TypeError: Another dtype, in a `tf.function`.
    """
    return _library.sort_rows(values=values, row_splits=row_splits, name=name)


def play_backwards(signal, gain: float = 1.0, name: str | None = None) -> tf.Tensor:
    """Turns a signal around in time, and multiplies it by a factor.

    Args:
      signal: `[length]`, float32 or float64.
      gain: The factor, rounded to float32.
      name: Of the op in the graph.

    Returns:
      `[length]`, of the same dtype: the last element of `signal` first.

    Raises:
      tf.errors.InvalidArgumentError: `signal` is not a vector or, in eager execution, of another dtype.
      ValueError: It is not a vector, found while a `tf.function` is traced.
      TypeError: Another dtype, in a `tf.function`.
    """
    return _library.play_backwards(signal=signal, gain=gain, name=name)


@tf.RegisterGradient("SteadySum")
def _steady_sum_grad(op: tf.Operation, grad: tf.Tensor) -> tf.Tensor:
    """Each element counts once."""
    return tf.broadcast_to(grad, tf.shape(op.inputs[0]))


@tf.RegisterGradient("PlayBackwards")
def _play_backwards_grad(op: tf.Operation, grad: tf.Tensor) -> tf.Tensor:
    """What came out last went in first, so this is the op itself."""
    return play_backwards(grad, op.get_attr("gain"))
