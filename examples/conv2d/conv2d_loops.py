"""A convolution and its gradients in loops that anybody could write."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(
    Path(__file__).with_name("libconv2d_loops.so"),
    "loop_conv2d",
    "loop_conv2d_backprop_input",
    "loop_conv2d_backprop_filter",
)


def loop_conv2d(x, filter, stride: int = 1, dilation: int = 1) -> tf.Tensor:
    """Convolves images without padding.

    Args:
      x: Images [batch, rows, columns, channels]; float32 or float64.
      filter: Of the same dtype, [rows, columns, channels, filters].
      stride: From one window to the next.
      dilation: From one element of a window to the next.

    Returns:
      [batch, rows, columns, filters].

    Raises:
      tf.errors.InvalidArgumentError: Shapes that do not fit.
    """
    return _library.loop_conv2d(x=x, filter=filter, stride=stride, dilation=dilation)


def loop_conv2d_backprop_input(
    x_sizes, filter, dy, stride: int = 1, dilation: int = 1
) -> tf.Tensor:
    """The gradient of `loop_conv2d` for its images, of the shape `x_sizes`.

    Args:
      x_sizes: The shape of the images; int32 [4].
      filter: As of `loop_conv2d`.
      dy: Of the shape of the result.
      stride: As of `loop_conv2d`.
      dilation: As of `loop_conv2d`.
    """
    return _library.loop_conv2d_backprop_input(
        x_sizes=x_sizes, filter=filter, dy=dy, stride=stride, dilation=dilation
    )


def loop_conv2d_backprop_filter(
    x, filter_sizes, dy, stride: int = 1, dilation: int = 1
) -> tf.Tensor:
    """The gradient of `loop_conv2d` for its filter, of the shape `filter_sizes`.

    Args:
      x: As of `loop_conv2d`.
      filter_sizes: The shape of the filter; int32 [4].
      dy: Of the shape of the result.
      stride: As of `loop_conv2d`.
      dilation: As of `loop_conv2d`.
    """
    return _library.loop_conv2d_backprop_filter(
        x=x, filter_sizes=filter_sizes, dy=dy, stride=stride, dilation=dilation
    )


@tf.RegisterGradient("LoopConv2D")
def _loop_conv2d_gradient(op: tf.Operation, dy: tf.Tensor) -> list[tf.Tensor]:
    x, filter = op.inputs
    layout = {name: op.get_attr(name) for name in ("stride", "dilation")}
    return [
        loop_conv2d_backprop_input(tf.shape(x), filter, dy, **layout),
        loop_conv2d_backprop_filter(x, tf.shape(filter), dy, **layout),
    ]
