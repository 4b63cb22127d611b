"""The Python side: load the library, wrap its ops, register their gradients."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(
    Path(__file__).with_name("libpolymorphism.so"),
    "cumulative_max",
    "op_by_op_string_to_number",
    "weighted_sum",
    "interleave",
    "deinterleave",
    "keep_rows",
)


class KeptRows(NamedTuple):
    """What `keep_rows` returns.

    Attributes:
      kept: A list of tensors, of the types of the inputs.
      rows: int64 `[rows]`, the indices of the rows that stay.
    """

    kept: list[tf.Tensor]
    rows: tf.Tensor


def cumulative_max(values, name: str | None = None) -> tf.Tensor:
    """Replaces each element by the largest up to it along the last axis, as `np.maximum.accumulate` does.

    No gradient is registered.

    Args:
      values: A tensor, or what converts to one: any shape, any real number type.
      name: Of the op in the graph.

    Returns:
      A tensor of the same shape and dtype. A NaN makes all that follow it along that axis NaN.

    Raises:
      tf.errors.InvalidArgumentError: Another dtype, in eager execution.
      TypeError: Another dtype, in a `tf.function`.
    """
    return _library.cumulative_max(values=values, name=name)


def string_to_number(
    text, out_type: tf.DType = tf.float32, name: str | None = None
) -> tf.Tensor:
    """Parses each string as a number.

    Args:
      text: A tensor of strings of any shape; white space around a number is allowed.
      out_type: float32, float64, int32 or int64.
      name: Of the op in the graph.

    Returns:
      A tensor of the same shape and of dtype `out_type`.

    Raises:
      tf.errors.InvalidArgumentError: An element is not a decimal number, or an integer that `out_type` cannot hold.
    """
    return _library.op_by_op_string_to_number(text=text, out_type=out_type, name=name)


def weighted_sum(inputs: Sequence, weights, name: str | None = None) -> tf.Tensor:
    """Multiplies each tensor by its weight and adds the products.

    float16 and bfloat16 are added in float32, and the sum is rounded once.

    Args:
      inputs: N >= 1 tensors of one shape and one dtype: float16, bfloat16, float32 or float64.
      weights: `[N]`, of the same dtype.
      name: Of the op in the graph.

    Returns:
      A tensor of the shape and dtype of the inputs.

    Raises:
      tf.errors.InvalidArgumentError: Shapes do not fit; a dtype that is not one of these, in eager execution.
      ValueError: Shapes do not fit, found when a `tf.function` is traced.
      TypeError: A dtype that is not one of these, found when a `tf.function` is traced.
    """
    return _library.weighted_sum(inputs=inputs, weights=weights, name=name)


@tf.RegisterGradient("WeightedSum")
def _weighted_sum_grad(op: tf.Operation, grad: tf.Tensor) -> list[tf.Tensor]:
    """One gradient for each tensor: N for the list, then one for the weights."""
    *inputs, weights = op.inputs
    wide = grad.dtype if grad.dtype.size > 2 else tf.float32
    wide_grad = tf.cast(grad, wide)
    sums = [tf.reduce_sum(wide_grad * tf.cast(tensor, wide)) for tensor in inputs]
    weights = tf.unstack(weights, num=len(inputs))
    return [*(grad * weight for weight in weights), tf.cast(tf.stack(sums), grad.dtype)]


def interleave(inputs: Sequence, name: str | None = None) -> tf.Tensor:
    """Takes the first row of each tensor, then the second row of each, and so on.

    Args:
      inputs: N >= 2 tensors `[rows, ...]` of one shape and one dtype: numbers, bools or strings.
      name: Of the op in the graph.

    Returns:
      A tensor `[N * rows, ...]`.

    Raises:
      tf.errors.InvalidArgumentError: Shapes do not fit; a dtype that is not one of these, in eager execution.
      ValueError: Shapes do not fit, found when a `tf.function` is traced.
      TypeError: A dtype that is not one of these, found when a `tf.function` is traced.
    """
    return _library.interleave(inputs=inputs, name=name)


def deinterleave(interleaved, num: int, name: str | None = None) -> list[tf.Tensor]:
    """Deals the rows of a tensor out to `num` tensors in turn: the inverse of `interleave`.

    Args:
      interleaved: A tensor `[num * rows, ...]` of numbers, bools or strings.
      num: At least 2.
      name: Of the op in the graph.

    Returns:
      A list of `num` tensors `[rows, ...]`.

    Raises:
      tf.errors.InvalidArgumentError: `num` does not divide the number of rows.
      ValueError: The same, found when a `tf.function` is traced.
    """
    return _library.deinterleave(interleaved=interleaved, num=num, name=name)


@tf.RegisterGradient("Interleave")
def _interleave_grad(op: tf.Operation, grad: tf.Tensor) -> list[tf.Tensor]:
    return deinterleave(grad, len(op.inputs))


@tf.RegisterGradient("Deinterleave")
def _deinterleave_grad(op: tf.Operation, *grads: tf.Tensor) -> tf.Tensor:
    return interleave(grads)


def keep_rows(tensors: Sequence, keep, name: str | None = None) -> KeptRows:
    """Keeps the rows that a vector of bools names, the same ones of each tensor.

    Args:
      tensors: One or more tensors `[rows, ...]` of numbers, bools or strings, their dtypes may differ.
      keep: bool `[rows]`.
      name: Of the op in the graph.

    Returns:
      The tensors without the other rows, and the indices of the rows that stay.

    Raises:
      tf.errors.InvalidArgumentError: Shapes do not fit; a dtype that is not one of these, in eager execution.
      ValueError: Shapes do not fit, found when a `tf.function` is traced.
      TypeError: A dtype that is not one of these, found when a `tf.function` is traced.
    """
    return KeptRows(*_library.keep_rows(tensors=tensors, keep=keep, name=name))


@tf.RegisterGradient("KeepRows")
def _keep_rows_grad(op: tf.Operation, *grads: tf.Tensor) -> list[tf.Tensor | None]:
    """Rows that stay take their gradient, the others zero; None for keep and for what is not differentiable."""
    rows = op.outputs[-1][:, tf.newaxis]
    return [
        tf.scatter_nd(rows, grad, tf.shape(tensor, tf.int64))
        if tensor.dtype.is_floating or tensor.dtype.is_complex
        else None
        for tensor, grad in zip(op.inputs[:-1], grads)
    ] + [None]
