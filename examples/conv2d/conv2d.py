"""The Python side: load the library, wrap the ops, register their gradients."""

from collections.abc import Sequence
from numbers import Integral
from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(
    Path(__file__).with_name("libconv2d.so"),
    *(
        "op_by_op_conv2d",
        "op_by_op_conv2d_backprop_input",
        "op_by_op_conv2d_backprop_filter",
    ),
)
Pair = int | Sequence[int]
Padding = str | Sequence[Sequence[int]]


def conv2d(
    x,
    filter,
    strides: Pair = 1,
    padding: Padding = "VALID",
    dilations: Pair = 1,
    name: str | None = None,
) -> tf.Tensor:
    """Convolves images with a filter: moves the filter over them, multiplies, and adds.

    Args:
      x: Images [batch, rows, columns, channels]; float16, bfloat16, float32 or float64.
      filter: Of the same dtype, [rows, columns, channels, filters].
      strides: From one window to the next; two numbers are for rows and columns.
      padding: "SAME", "VALID", or [[top, bottom], [left, right]], rows and columns of zeros around the image.
      dilations: From one element of a window to the next. Zeros are stored as far as the filter reaches.
      name: Of the op in the graph.

    Returns:
      [batch, rows, columns, filters].

    Raises:
      tf.errors.InvalidArgumentError: Shapes that do not fit, no window fits into the image, or wrong numbers, in
        eager execution.
      ValueError: The same in a `tf.function`.
    """
    layout = _layout(strides, padding, dilations)
    return _library.op_by_op_conv2d(x=x, filter=filter, **layout, name=name)


def conv2d_backprop_input(
    x_sizes,
    filter,
    dy,
    strides: Pair = 1,
    padding: Padding = "VALID",
    dilations: Pair = 1,
    name: str | None = None,
) -> tf.Tensor:
    """The gradient of `conv2d` for its images, from that of its result.

    Args:
      x_sizes: The shape of the images; int32 [4].
      filter: As of `conv2d`.
      dy: Of the shape of the result.
      strides: As of `conv2d`, and so are padding and dilations.
      padding: See there.
      dilations: See there.
      name: Of the op in the graph.

    Returns:
      A tensor of the shape x_sizes.

    Raises:
      tf.errors.InvalidArgumentError: As of `conv2d`, or dy has another shape, in eager execution.
      ValueError: The same in a `tf.function`.
    """
    layout = _layout(strides, padding, dilations)
    return _library.op_by_op_conv2d_backprop_input(
        x_sizes=x_sizes, filter=filter, dy=dy, **layout, name=name
    )


def conv2d_backprop_filter(
    x,
    filter_sizes,
    dy,
    strides: Pair = 1,
    padding: Padding = "VALID",
    dilations: Pair = 1,
    name: str | None = None,
) -> tf.Tensor:
    """The gradient of `conv2d` for its filter, from that of its result.

    Args:
      x: As of `conv2d`.
      filter_sizes: The shape of the filter; int32 [4].
      dy: Of the shape of the result.
      strides: As of `conv2d`, and so are padding and dilations.
      padding: See there.
      dilations: See there.
      name: Of the op in the graph.

    Returns:
      A tensor of the shape filter_sizes.

    Raises:
      tf.errors.InvalidArgumentError: As of `conv2d`, or dy has another shape, in eager execution.
      ValueError: The same in a `tf.function`.
    """
    layout = _layout(strides, padding, dilations)
    return _library.op_by_op_conv2d_backprop_filter(
        x=x, filter_sizes=filter_sizes, dy=dy, **layout, name=name
    )


def _pair(sizes: Pair) -> Sequence[int]:
    return [sizes] * 2 if isinstance(sizes, Integral) else sizes


def _layout(strides: Pair, padding: Padding, dilations: Pair) -> dict:
    """The attrs of the ops."""
    explicit = not isinstance(padding, str)
    return {
        "strides": _pair(strides),
        "dilations": _pair(dilations),
        "padding": "EXPLICIT" if explicit else padding,
        "explicit_paddings": [n for pair in padding for n in pair] if explicit else [],
    }


ATTRS = "strides", "dilations", "padding", "explicit_paddings"


def _attrs(op: tf.Operation) -> dict:
    """Those of an op that its gradient has in common with it."""
    return {name: op.get_attr(name) for name in ATTRS}


@tf.RegisterGradient("OpByOp>Conv2D")
def _conv2d_gradient(op: tf.Operation, dy: tf.Tensor) -> list[tf.Tensor]:
    x, filter = op.inputs
    to_x = _library.op_by_op_conv2d_backprop_input
    to_filter = _library.op_by_op_conv2d_backprop_filter
    return [
        to_x(tf.shape(x), filter, dy, **_attrs(op)),
        to_filter(x, tf.shape(filter), dy, **_attrs(op)),
    ]


@tf.RegisterGradient("OpByOp>Conv2DBackpropInput")
def _input_gradient(op: tf.Operation, up: tf.Tensor) -> list[tf.Tensor | None]:
    _, filter, dy = op.inputs
    to_filter = _library.op_by_op_conv2d_backprop_filter
    return [
        None,
        to_filter(up, tf.shape(filter), dy, **_attrs(op)),
        _library.op_by_op_conv2d(up, filter, **_attrs(op)),
    ]


@tf.RegisterGradient("OpByOp>Conv2DBackpropFilter")
def _filter_gradient(op: tf.Operation, up: tf.Tensor) -> list[tf.Tensor | None]:
    x, _, dy = op.inputs
    to_x = _library.op_by_op_conv2d_backprop_input
    return [
        to_x(tf.shape(x), up, dy, **_attrs(op)),
        None,
        _library.op_by_op_conv2d(x, up, **_attrs(op)),
    ]
