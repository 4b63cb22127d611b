"""The Python side of ZeroOutAt and Extremes: load the libraries, wrap the ops, register their gradients."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_here = Path(__file__)
_zero_out_at = load_op_library(_here.with_name("libzero_out_at.so"), "zero_out_at")
_extremes = load_op_library(
    _here.with_name("libmulti_output.so"), "extremes", "extremes_grad"
)
extremes_grad = _extremes.extremes_grad


def zero_out_at(
    to_zero, index: int = 0, name: str | None = None
) -> tuple[tf.Tensor, tf.Tensor]:
    """Keeps one element of a tensor and sets all others to zero.

    Args:
      to_zero: A tensor, or what converts to one: any shape; float32, float64 or
        int32.
      index: Which element to keep, in row-major order.
      name: Of the op in the graph.

    Returns:
      A named tuple: `zeroed`, of the same shape and dtype, and `indices`, int64, one
      for each dimension of `to_zero`: where the element is.

    Raises:
      tf.errors.InvalidArgumentError: No such element, or, in eager execution, another
        dtype or a negative index.
      ValueError: No such element, or a negative index, found while a `tf.function` is
        traced.
      TypeError: Another dtype, in a `tf.function`.
    """
    return _zero_out_at.zero_out_at(to_zero=to_zero, index=index, name=name)


@tf.RegisterGradient("ZeroOutAt")
def _zero_out_at_grad(
    op: tf.Operation, zeroed_grad: tf.Tensor, indices_grad: tf.Tensor | None
) -> tf.Tensor:
    """A one-hot tensor: only the kept element reaches the output."""
    to_zero, index = op.inputs[0], op.get_attr("index")
    kept_grad = tf.reshape(zeroed_grad, [-1])[index]
    one_hot = tf.scatter_nd([[index]], [kept_grad], [tf.size(to_zero)])
    return tf.reshape(one_hot, tf.shape(to_zero))


def extremes(
    values, name: str | None = None
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor]:
    """The smallest and the largest element along the last axis, and where they are.

    A NaN counts as both. Of equal elements the first one is taken, and it alone gets the gradient.

    Args:
      values: A tensor, or what converts to one: `[..., columns]` with at least one column;
        float32, float64 or int32.
      name: Of the op in the graph.

    Returns:
      A named tuple of `minimum` and `maximum`, of the dtype of `values`, and `argmin` and
      `argmax`, int64, all of the shape of `values` without its last axis.

    Raises:
      tf.errors.InvalidArgumentError: A scalar, no columns, or, in eager execution, another dtype.
      ValueError: A scalar or no columns, found while a `tf.function` is traced.
      TypeError: Another dtype, in a `tf.function`.
    """
    return _extremes.extremes(values=values, name=name)


@tf.RegisterGradient("Extremes")
def _extremes_grad(
    op: tf.Operation,
    minimum_grad: tf.Tensor,
    maximum_grad: tf.Tensor,
    argmin_grad: tf.Tensor | None,
    argmax_grad: tf.Tensor | None,
) -> tf.Tensor:
    """The gradient of an extreme goes to where the extreme came from."""
    _, _, argmin, argmax = op.outputs
    return extremes_grad(
        minimum_grad=minimum_grad,
        maximum_grad=maximum_grad,
        argmin=argmin,
        argmax=argmax,
        columns=tf.shape(op.inputs[0], tf.int64)[-1],
    )


@tf.RegisterGradient("ExtremesGrad")
def _extremes_grad_grad(
    op: tf.Operation, grad: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor, None, None, None]:
    """ExtremesGrad scatters, so its gradient gathers; its integer inputs have none."""
    _, _, argmin, argmax, columns = op.inputs

    def gather(index: tf.Tensor) -> tf.Tensor:
        rows = tf.reshape(grad, [-1, columns])
        picked = tf.gather(rows, tf.reshape(index, [-1]), batch_dims=1)
        return tf.reshape(picked, tf.shape(index))

    return gather(argmin), gather(argmax), None, None, None
