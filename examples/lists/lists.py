"""The Python side: load the library, wrap its ops, register their gradients."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(
    Path(__file__).with_name("liblists.so"),
    "weighted_sum",
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


def weighted_sum(inputs: Sequence, weights, name: str | None = None) -> tf.Tensor:
    """Multiplies each tensor by its weight and adds the products, as to average the weights of models.

    Averages of models: Wortsman et al., "Model soups" (https://arxiv.org/abs/2203.05482).
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
    """Rows that stay take their gradient, the others zero."""
    rows = op.outputs[-1]
    return [
        tf.math.unsorted_segment_sum(grad, rows, tf.shape(tensor, tf.int64)[0])
        if tensor.dtype.is_floating or tensor.dtype.is_complex
        else None
        for tensor, grad in zip(op.inputs[:-1], grads)
    ] + [None]
