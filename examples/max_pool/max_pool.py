"""The Python side: load the library, wrap the ops, register their gradients."""

from collections.abc import Sequence
from numbers import Integral
from pathlib import Path
from typing import NamedTuple

import numpy as np
import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(
    Path(__file__).with_name("libmax_pool.so"),
    "op_by_op_max_pool",
    "op_by_op_max_pool_with_argmax",
    "op_by_op_max_pool_grad",
    "op_by_op_max_pool_grad_grad",
    "op_by_op_avg_pool",
    "op_by_op_avg_pool_grad",
    "max_pool_plain",
    "max_pool_patches",
)


# For MaxPoolGrad, which then looks for the maxima itself.
_NOT_NOTED = np.zeros([0], np.uint8)


class MaxPoolWithArgmax(NamedTuple):
    """The outputs of `max_pool_with_argmax`."""

    output: tf.Tensor
    argmax: tf.Tensor


def _whole(sizes: int | Sequence[int]) -> list[int]:
    """A number or two of them, as a size in each of the four dimensions."""
    height, width = [sizes] * 2 if isinstance(sizes, Integral) else sizes
    return [1, height, width, 1]


def _attrs(ksize, strides, padding: str) -> dict:
    return dict(ksize=_whole(ksize), strides=_whole(strides), padding=padding)


def max_pool(
    input,
    ksize: int | Sequence[int],
    strides: int | Sequence[int],
    padding: str,
    name: str | None = None,
) -> tf.Tensor:
    """Takes the maximum of each window, in each channel, as `tf.nn.max_pool2d` does.

    Args:
      input: `[batch, height, width, channels]`; float16, bfloat16, float32 or float64.
      ksize: The height and width of a window, or one number for both.
      strides: From one window to the next, likewise.
      padding: "VALID", where windows lie inside of the input, or "SAME", where they reach over its edges.
      name: Of the op in the graph.

    Returns:
      A tensor `[batch, pooled_height, pooled_width, channels]` of the same dtype. NaN and -infinity count as the lowest
      finite number.

    Raises:
      tf.errors.InvalidArgumentError: The input has not four dimensions, a size is not positive, or a window of VALID
        padding does not fit into the input, in eager execution.
      ValueError: The same in a `tf.function`.
    """
    return _library.op_by_op_max_pool(
        input=input, **_attrs(ksize, strides, padding), name=name
    ).output


def max_pool_plain(
    input,
    ksize: int | Sequence[int],
    strides: int | Sequence[int],
    padding: str,
    name: str | None = None,
) -> tf.Tensor:
    """The same for float32, by a plain loop: arguments as for `max_pool`.

    Args:
      input: `[batch, height, width, channels]`, float32.
      ksize: As for `max_pool`.
      strides: As for `max_pool`.
      padding: As for `max_pool`.
      name: Of the op in the graph.

    Returns:
      As `max_pool`.
    """
    return _library.max_pool_plain(
        input=input, **_attrs(ksize, strides, padding), name=name
    )


def max_pool_patches(
    input,
    ksize: int | Sequence[int],
    strides: int | Sequence[int],
    padding: str,
    name: str | None = None,
) -> tf.Tensor:
    """The same for float32, by Eigen's `extract_image_patches`: arguments as for `max_pool`.

    Args:
      input: `[batch, height, width, channels]`, float32.
      ksize: As for `max_pool`.
      strides: As for `max_pool`.
      padding: As for `max_pool`.
      name: Of the op in the graph.

    Returns:
      As `max_pool`, for finite numbers.
    """
    return _library.max_pool_patches(
        input=input, **_attrs(ksize, strides, padding), name=name
    )


def max_pool_with_argmax(
    input,
    ksize: int | Sequence[int],
    strides: int | Sequence[int],
    padding: str,
    include_batch_in_index: bool = False,
    name: str | None = None,
) -> MaxPoolWithArgmax:
    """Takes the maximum of each window, and where it was, as `tf.nn.max_pool_with_argmax` does.

    Args:
      input: `[batch, height, width, channels]`; float16, bfloat16, float32 or float64.
      ksize: As for `max_pool`.
      strides: As for `max_pool`.
      padding: As for `max_pool`.
      include_batch_in_index: Whether `argmax` counts the elements of the images before, too.
      name: Of the op in the graph.

    Returns:
      `output`, the first of the largest numbers of each window, or NaN where the first number of the window is NaN; and
      `argmax`, int64, of the same shape: `(y * width + x) * channels + channel`.

    Raises:
      tf.errors.InvalidArgumentError: As for `max_pool`.
      ValueError: The same in a `tf.function`.
    """
    return MaxPoolWithArgmax(
        *_library.op_by_op_max_pool_with_argmax(
            input=input,
            **_attrs(ksize, strides, padding),
            include_batch_in_index=include_batch_in_index,
            name=name,
        )
    )


def max_pool_grad(
    orig_input,
    orig_output,
    grad,
    ksize: int | Sequence[int],
    strides: int | Sequence[int],
    padding: str,
    name: str | None = None,
) -> tf.Tensor:
    """Gives the gradient of each window to the pixel that was its maximum, as `tf.raw_ops.MaxPoolGrad` does.

    Args:
      orig_input: What `max_pool` was given.
      orig_output: What it returned.
      grad: The gradient of that, of the same shape and dtype.
      ksize: As for `max_pool`.
      strides: As for `max_pool`.
      padding: As for `max_pool`.
      name: Of the op in the graph.

    Returns:
      The gradient of `orig_input`.

    Raises:
      tf.errors.InvalidArgumentError: Shapes do not fit, in eager execution.
      ValueError: The same in a `tf.function`.
    """
    return _library.op_by_op_max_pool_grad(
        orig_input=orig_input,
        orig_output=orig_output,
        grad=grad,
        place=_NOT_NOTED,
        **_attrs(ksize, strides, padding),
        name=name,
    )


def max_pool_grad_grad(
    orig_input,
    orig_output,
    grad,
    ksize: int | Sequence[int],
    strides: int | Sequence[int],
    padding: str,
    name: str | None = None,
) -> tf.Tensor:
    """Takes from `grad`, for each window, the number at the maximum, as `tf.raw_ops.MaxPoolGradGrad` does.

    Args:
      orig_input: What `max_pool` was given.
      orig_output: What it returned.
      grad: A tensor of the shape and dtype of `orig_input`.
      ksize: As for `max_pool`.
      strides: As for `max_pool`.
      padding: As for `max_pool`.
      name: Of the op in the graph.

    Returns:
      A tensor of the shape of `orig_output`, with 0 where no pixel of the window equals the maximum.

    Raises:
      tf.errors.InvalidArgumentError: Shapes do not fit, in eager execution.
      ValueError: The same in a `tf.function`.
    """
    return _library.op_by_op_max_pool_grad_grad(
        orig_input=orig_input,
        orig_output=orig_output,
        grad=grad,
        **_attrs(ksize, strides, padding),
        name=name,
    )


def avg_pool(
    input,
    ksize: int | Sequence[int],
    strides: int | Sequence[int],
    padding: str,
    name: str | None = None,
) -> tf.Tensor:
    """Takes the average of each window, in each channel, as `tf.nn.avg_pool2d` does.

    Args:
      input: `[batch, height, width, channels]`; float32 or float64.
      ksize: As for `max_pool`.
      strides: As for `max_pool`.
      padding: As for `max_pool`. Pixels outside of the input are not counted.
      name: Of the op in the graph.

    Returns:
      A tensor `[batch, pooled_height, pooled_width, channels]` of the same dtype.

    Raises:
      tf.errors.InvalidArgumentError: As for `max_pool`.
      ValueError: The same in a `tf.function`.
    """
    return _library.op_by_op_avg_pool(
        input=input, **_attrs(ksize, strides, padding), name=name
    )


def avg_pool_grad(
    orig_input_shape,
    grad,
    ksize: int | Sequence[int],
    strides: int | Sequence[int],
    padding: str,
    name: str | None = None,
) -> tf.Tensor:
    """Shares the gradient of each window among its pixels, as `tf.raw_ops.AvgPoolGrad` does.

    Args:
      orig_input_shape: The shape of what `avg_pool` was given, int32.
      grad: The gradient of what it returned; float32 or float64.
      ksize: As for `max_pool`.
      strides: As for `max_pool`.
      padding: As for `max_pool`.
      name: Of the op in the graph.

    Returns:
      The gradient of what `avg_pool` was given.

    Raises:
      tf.errors.InvalidArgumentError: Shapes do not fit.
    """
    return _library.op_by_op_avg_pool_grad(
        orig_input_shape=orig_input_shape,
        grad=grad,
        **_attrs(ksize, strides, padding),
        name=name,
    )


def _attrs_of(op: tf.Operation) -> dict:
    return {name: op.get_attr(name) for name in ("ksize", "strides")} | {
        "padding": op.get_attr("padding").decode()
    }


# [gradients]
@tf.RegisterGradient("OpByOp>MaxPool")
def _max_pool_gradient(op: tf.Operation, grad: tf.Tensor, _) -> tf.Tensor:
    return _gradient(op, grad, place=op.outputs[1])


@tf.RegisterGradient("OpByOp>MaxPoolWithArgmax")
def _max_pool_with_argmax_gradient(op: tf.Operation, grad: tf.Tensor, _) -> tf.Tensor:
    return _gradient(op, grad, place=_NOT_NOTED)


def _gradient(op: tf.Operation, grad: tf.Tensor, place) -> tf.Tensor:
    return _library.op_by_op_max_pool_grad(
        orig_input=op.inputs[0],
        orig_output=op.outputs[0],
        grad=grad,
        place=place,
        **_attrs_of(op),
    )


@tf.RegisterGradient("OpByOp>MaxPoolGrad")
def _max_pool_grad_gradient(op: tf.Operation, grad: tf.Tensor) -> list:
    taken = _library.op_by_op_max_pool_grad_grad(
        orig_input=op.inputs[0],
        orig_output=op.inputs[1],
        grad=grad,
        **_attrs_of(op),
    )
    return [None, None, taken, None]


@tf.RegisterGradient("OpByOp>MaxPoolGradGrad")
def _max_pool_grad_grad_gradient(op: tf.Operation, grad: tf.Tensor) -> list:
    given = _library.op_by_op_max_pool_grad(
        orig_input=op.inputs[0],
        orig_output=op.inputs[1],
        grad=grad,
        place=_NOT_NOTED,
        **_attrs_of(op),
    )
    return [None, None, given]


@tf.RegisterGradient("OpByOp>AvgPool")
def _avg_pool_gradient(op: tf.Operation, grad: tf.Tensor) -> tf.Tensor:
    return _library.op_by_op_avg_pool_grad(
        orig_input_shape=tf.shape(op.inputs[0]), grad=grad, **_attrs_of(op)
    )


@tf.RegisterGradient("OpByOp>AvgPoolGrad")
def _avg_pool_grad_gradient(op: tf.Operation, grad: tf.Tensor) -> list:
    return [None, _library.op_by_op_avg_pool(input=grad, **_attrs_of(op))]
