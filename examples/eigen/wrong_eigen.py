"""How often an expression is computed that nobody has assigned to a tensor."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(
    Path(__file__).with_name("libwrong_eigen.so"), "times_read", "scalar_as_float"
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
