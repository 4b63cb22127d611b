"""ManhattanDistances: sums of absolute differences between all vectors of two sets."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(Path(__file__).with_name("libcpu.so"), "manhattan_distances")
tf.no_gradient("ManhattanDistances")


def manhattan_distances(points, centers) -> tf.Tensor:
    """The sum of absolute differences between each point and each center.

    Args:
      points: `[points, size]`, float32.
      centers: `[centers, size]`, float32. One takes the time and the memory of 32.

    Returns:
      `[points, centers]`, float32. It has no gradient.

    Raises:
      tf.errors.InvalidArgumentError: These are no matrices, or their rows have different lengths.
      ValueError: The same, while a graph is traced.
    """
    return _library.manhattan_distances(points=points, centers=centers)
