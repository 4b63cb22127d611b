"""The Python side of the chapter's ops: load the library, wrap the ops."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

library = load_op_library(
    Path(__file__).with_name("libshape_functions.so"),
    "cross_features",
    "crop_or_pad",
    "silent_cross_features",
)


def cross_features(users, items, name: str | None = None) -> tf.Tensor:
    """Multiplies each number of a user by each number of an item, row by row.

    It is the outer product of "Outer Product-based Neural Collaborative Filtering", https://arxiv.org/abs/1808.03912.

    Args:
      users: float32 `[batch, m]`.
      items: float32 `[batch, n]`.
      name: Of the op in the graph.

    Returns:
      float32 `[batch, m * n]`: in each row, the products of the user's first number come first.

    Raises:
      tf.errors.InvalidArgumentError: Other shapes, or too many columns. What is known to be wrong already while
        a `tf.function` is traced raises ValueError, here and in the function below.
    """
    return library.cross_features(users=users, items=items, name=name)


def crop_or_pad(input, shape, name: str | None = None) -> tf.Tensor:
    """Cuts off or fills up with zeros, at the end of each dimension.

    Args:
      input: float32, any shape.
      shape: int32 or int64 `[rank of input]`, the shape of the result.
      name: Of the op in the graph.

    Returns:
      float32, of that shape.

    Raises:
      tf.errors.InvalidArgumentError: `shape` has a negative element, or not one for each dimension.
    """
    return library.crop_or_pad(input=input, shape=shape, name=name)
