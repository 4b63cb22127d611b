"""The Python side: load the library, wrap the ops, register their gradients."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(
    Path(__file__).with_name("libeigen.so"),
    *("standardize", "eigen_table", "in_eigen"),
)


def standardize(x, epsilon: float = 1e-6, name: str | None = None) -> tf.Tensor:
    """Shifts and scales each row, so that its mean is 0 and its variance 1.

    Args:
      x: `[rows, columns]`, float32 or float64.
      epsilon: What is added to the variance before the root is taken: finite, 0 or more.
      name: Of the op in the graph.

    Returns:
      `[rows, columns]`, of the same dtype.

    Raises:
      tf.errors.InvalidArgumentError: `x` is not a matrix or, in eager execution, of another dtype.
      ValueError: It is not a matrix, found while a `tf.function` is traced.
      TypeError: Another dtype, in a `tf.function`.
    """
    return _library.standardize(x=x, epsilon=epsilon, name=name)


def eigen_table() -> list[tuple[str, str, str]]:
    """Of each row of the table: its group, and the line in NumPy and in Eigen."""
    rows = _library.eigen_table().numpy().astype(str)
    return [tuple(row) for row in rows.tolist()]


def in_eigen(x, y, v, row: int) -> tf.Tensor:
    """Computes a row of the table.

    Args:
      x: `[2, 3]`, float32.
      y: `[2, 3]`, float32.
      v: `[3]`, float32.
      row: Which row, counted from 0.

    Returns:
      What the expression gives, as float32.

    Raises:
      tf.errors.InvalidArgumentError: Another shape, or a row that is not there.
    """
    return _library.in_eigen(x=x, y=y, v=v, row=row)


@tf.RegisterGradient("Standardize")
def _standardize_gradient(op: tf.Operation, dz: tf.Tensor) -> tf.Tensor:
    """What moves the mean or the variance of a row is taken off, and the rest scaled as the row was."""
    x, z = op.inputs[0], op.outputs[0]
    variance = tf.math.reduce_variance(x, axis=1, keepdims=True)
    scale = tf.math.rsqrt(variance + op.get_attr("epsilon"))

    def mean(values: tf.Tensor) -> tf.Tensor:
        return tf.reduce_mean(values, axis=1, keepdims=True)

    return scale * (dz - mean(dz) - z * mean(dz * z))
