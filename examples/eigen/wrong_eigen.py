"""What an expression costs that nobody assigns to a tensor, and what a long sum loses."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(
    Path(__file__).with_name("libwrong_eigen.so"),
    *("times_read", "row_mean", "scalar_as_float"),
)


def times_read(x, kept: bool) -> tf.Tensor:
    """Counts how many elements are read for the means of rows, which are then taken off the rows.

    Args:
      x: `[rows, columns]`, float32.
      kept: Whether the means are assigned to a tensor first.

    Returns:
      The count, an int64 scalar.

    Raises:
      tf.errors.InvalidArgumentError: `x` is not a matrix.
    """
    return _library.times_read(x=x, kept=kept)


WAYS = "mean, by value", "mean, by type", "sum, by type"


def row_mean(x, way: str) -> tf.Tensor:
    """The means of rows.

    Args:
      x: `[rows, columns]`, float32.
      way: One of `WAYS`: which reduction of Eigen, and whether its axis is a value or a type.

    Returns:
      `[rows]`, float32; of long rows wrong, unless they are added up by the last way.

    Raises:
      tf.errors.InvalidArgumentError: `x` is not a matrix, or there is no such way.
    """
    return _library.row_mean(x=x, way=way)


def scalar_as_float(x) -> tf.Tensor:
    """Reads the one element of `x` as if it were a float, as `scalar<float>()` does unasked.

    Args:
      x: int32, of any shape with one element.

    Returns:
      A float32 scalar of the same bits.

    Raises:
      tf.errors.InvalidArgumentError: `x` has no element, or several.
    """
    return _library.scalar_as_float(x=x)
