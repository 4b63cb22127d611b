"""The Python side of the chapter's ops: load the library, wrap the ops."""

from collections.abc import Sequence
from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(
    Path(__file__).with_name("libshape_functions.so"),
    "crop_or_pad",
    "direct_sum",
    "elementwise_median",
    "kronecker_product",
    "mat_vec",
    "rgb_to_gray",
    "unit_impulse",
)


def mat_vec(matrix, vector, name: str | None = None) -> tf.Tensor:
    """Multiplies a matrix by a vector.

    Args:
      matrix: float32 `[rows, columns]`.
      vector: float32 `[columns]`.
      name: Of the op in the graph.

    Returns:
      float32 `[rows]`.

    Raises:
      tf.errors.InvalidArgumentError: Other shapes. What is known to be wrong already while a `tf.function`
        is traced raises ValueError, here and in the functions below.
    """
    return _library.mat_vec(matrix=matrix, vector=vector, name=name)


def rgb_to_gray(rgb, name: str | None = None) -> tf.Tensor:
    """Weighs red, green and blue into one channel, as `tf.image.rgb_to_grayscale` does.

    Args:
      rgb: float32 `[..., 3]`.
      name: Of the op in the graph.

    Returns:
      float32 `[..., 1]`.

    Raises:
      tf.errors.InvalidArgumentError: The last dimension is not 3.
    """
    return _library.rgb_to_gray(rgb=rgb, name=name)


def direct_sum(a, b, name: str | None = None) -> tf.Tensor:
    """Puts two matrices along the diagonal of one, zeros elsewhere.

    Args:
      a: float32 `[m, n]`.
      b: float32 `[p, q]`.
      name: Of the op in the graph.

    Returns:
      float32 `[m + p, n + q]`.

    Raises:
      tf.errors.InvalidArgumentError: Not matrices, or the result would be too large.
    """
    return _library.direct_sum(a=a, b=b, name=name)


def kronecker_product(a, b, name: str | None = None) -> tf.Tensor:
    """Replaces each element of `a` by that element times `b`.

    Args:
      a: float32 `[m, n]`.
      b: float32 `[p, q]`.
      name: Of the op in the graph.

    Returns:
      float32 `[m * p, n * q]`.

    Raises:
      tf.errors.InvalidArgumentError: Not matrices, or the result would be too large.
    """
    return _library.kronecker_product(a=a, b=b, name=name)


def elementwise_median(inputs: Sequence, name: str | None = None) -> tf.Tensor:
    """The median of tensors of one shape, for each element; NaN where one of them is NaN.

    Args:
      inputs: One or more float32 tensors of the same shape.
      name: Of the op in the graph.

    Returns:
      float32, of that shape.

    Raises:
      tf.errors.InvalidArgumentError: The shapes differ.
    """
    return _library.elementwise_median(inputs=inputs, name=name)


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
    return _library.crop_or_pad(input=input, shape=shape, name=name)


def unit_impulse(position, size: int, name: str | None = None) -> tf.Tensor:
    """All zeros but for a one.

    Args:
      position: int64 `[rank]`, where the one is.
      size: Of each dimension, at least 1.
      name: Of the op in the graph.

    Returns:
      float32 `[size, ..., size]`, with one dimension for each element of `position`.

    Raises:
      tf.errors.InvalidArgumentError: `position` is not a vector, lies outside, or has more than 254 elements.
    """
    return _library.unit_impulse(position=position, size=size, name=name)
