"""The Python side of RoiPool: load the library, wrap the ops, register their gradients."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(
    Path(__file__).with_name("libroi_pool.so"),
    "roi_pool",
    "roi_pool_inference",
    "roi_pool_grad",
)
roi_pool_grad = _library.roi_pool_grad


def roi_pool(
    features,
    rois,
    pooled_height: int,
    pooled_width: int,
    spatial_scale: float,
    check_rois: bool = False,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Cuts each region of interest into bins and takes the maximum of each.

    The convention is that of Caffe's ROIPooling layer (Girshick, Fast R-CNN, 2015,
    https://arxiv.org/abs/1504.08083) with bin edges in float32: corners are scaled and rounded,
    half away from zero; a region is at least one pixel wide and high; bins that overlap share
    pixels. NaN is never a maximum.

    Args:
      features: `[batch, height, width, channels]`; half, bfloat16, float32 or float64.
      rois: `[num_rois, 5]`, float32: batch index, x1, y1, x2, y2, in pixels of the image, both
        corners inside of the region.
      pooled_height: Bins along the height, at least 1.
      pooled_width: Bins along the width, at least 1.
      spatial_scale: Pixels of the map for each pixel of the image, positive.
      check_rois: Check the values of `rois` on the GPU, too: the call then waits for all work
        before it. Without, a bad row gives 0 and -1 there. The CPU always checks.
      name: Of the op in the graph.

    Returns:
      A named tuple of `pooled`, `[num_rois, pooled_height, pooled_width, channels]`, of the dtype
      of `features`, and `argmax`, int32, of the same shape: the first maximum of each bin as
      `h * width + w`. A bin without a pixel has 0 and -1; a bin of nothing but NaN has minus
      infinity and its first pixel.

    Raises:
      tf.errors.InvalidArgumentError: A shape or an attribute that does not fit, a batch index
        that is none, a coordinate that is not finite, or, in eager execution, another dtype.
      ValueError: A shape or an attribute that does not fit, found while a `tf.function` is traced.
      TypeError: Another dtype, in a `tf.function`.
    """
    return _library.roi_pool(
        features=features,
        rois=rois,
        pooled_height=pooled_height,
        pooled_width=pooled_width,
        spatial_scale=spatial_scale,
        check_rois=check_rois,
        name=name,
    )


def roi_pool_inference(
    features,
    rois,
    pooled_height: int,
    pooled_width: int,
    spatial_scale: float,
    check_rois: bool = False,
    name: str | None = None,
) -> tf.Tensor:
    """The `pooled` of `roi_pool` alone: faster, and without a gradient.

    Args:
      features: As of `roi_pool`, and so are all others.
      rois: `[num_rois, 5]`, float32.
      pooled_height: Bins along the height, at least 1.
      pooled_width: Bins along the width, at least 1.
      spatial_scale: Pixels of the map for each pixel of the image, positive.
      check_rois: Check the values of `rois` on the GPU too.
      name: Of the op in the graph.

    Returns:
      `[num_rois, pooled_height, pooled_width, channels]`, of the dtype of `features`.

    Raises:
      tf.errors.InvalidArgumentError: As of `roi_pool`, and so are ValueError and TypeError.
    """
    return _library.roi_pool_inference(
        features=features,
        rois=rois,
        pooled_height=pooled_height,
        pooled_width=pooled_width,
        spatial_scale=spatial_scale,
        check_rois=check_rois,
        name=name,
    )


@tf.RegisterGradient("RoiPool")
def _roi_pool_grad(
    op: tf.Operation, pooled_grad: tf.Tensor, argmax_grad: tf.Tensor | None
) -> tuple[tf.Tensor, None]:
    """The gradient of a maximum goes to where it came from; regions have none."""
    features, rois = op.inputs
    return roi_pool_grad(
        gradient=pooled_grad,
        argmax=op.outputs[1],
        rois=rois,
        feature_shape=tf.shape(features),
        spatial_scale=op.get_attr("spatial_scale"),
    ), None


@tf.RegisterGradient("RoiPoolGrad")
def _roi_pool_grad_grad(
    op: tf.Operation, grad: tf.Tensor
) -> tuple[tf.Tensor, None, None, None]:
    """RoiPoolGrad scatters, so its gradient gathers."""
    _, argmax, rois, shape = op.inputs
    pixels = tf.reshape(grad, [shape[0], shape[1] * shape[2], shape[3]])
    pixels = tf.pad(pixels, [[0, 0], [1, 0], [0, 0]])  # where argmax is -1: zero
    image = tf.cast(rois[:, 0], tf.int32)[:, None, None, None]
    channel = tf.range(shape[3])
    index = tf.stack(
        [
            tf.broadcast_to(image, tf.shape(argmax)),
            argmax + 1,
            tf.broadcast_to(channel, tf.shape(argmax)),
        ],
        axis=-1,
    )
    return tf.gather_nd(pixels, index), None, None, None
