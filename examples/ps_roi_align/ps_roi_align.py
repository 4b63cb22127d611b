"""The Python side of PsRoiAlign: load the library, wrap the ops, register their gradients."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(
    Path(__file__).with_name("libps_roi_align.so"), "ps_roi_align", "ps_roi_align_grad"
)
ps_roi_align_grad = _library.ps_roi_align_grad
ATTRS = ("pooled_height", "pooled_width", "spatial_scale", "sampling_ratio")


def ps_roi_align(
    features,
    rois,
    pooled_height: int,
    pooled_width: int,
    spatial_scale: float = 1.0,
    sampling_ratio: int = -1,
    name: str | None = None,
) -> tf.Tensor:
    """Cuts each region into bins and takes the mean of each, every bin in channels of its own.

    Samples lie as in torchvision's `ps_roi_align`: a region begins half a pixel before its corner, and between pixels
    the map is interpolated linearly. The method is that of R-FCN (Dai et al., 2016, https://arxiv.org/abs/1605.06409)
    with the samples of RoIAlign (He et al., Mask R-CNN, 2017, https://arxiv.org/abs/1703.06870).

    Args:
      features: `[batch, height, width, pooled_height * pooled_width * channels]`: the channels of the first bin, then
        those of the next one in its row. half, bfloat16, float32 or float64. torchvision takes
        `[batch, channels * pooled_height * pooled_width, height, width]`, in which the bins of a channel lie together.
      rois: `[num_rois, 5]`, float32: batch index, x1, y1, x2, y2, in pixels of the image. Corners beyond 2^20 pixels
        of the map are taken to be there.
      pooled_height: Bins along the height, at least 1.
      pooled_width: Bins along the width, at least 1.
      spatial_scale: Pixels of the map for each pixel of the image, positive.
      sampling_ratio: Samples of a bin along each axis, at most 1024. If not positive: as many as the bin has pixels,
        rounded up, and none in a region without an area.
      name: Of the op in the graph.

    Returns:
      `[num_rois, pooled_height, pooled_width, channels]`, of the dtype of `features`. Samples that are more than one
      pixel outside of the map count as 0, and a bin without samples is 0.

    Raises:
      tf.errors.InvalidArgumentError: A shape or an attribute that does not fit, a batch index that is none, a
        coordinate that is not finite (the GPU gives 0 for a region with one of the latter two), or, in eager
        execution, another dtype.
      ValueError: A shape or an attribute that does not fit, found while a `tf.function` is traced.
      TypeError: Another dtype, in a `tf.function`.
    """
    return _library.ps_roi_align(
        features=features,
        rois=rois,
        pooled_height=pooled_height,
        pooled_width=pooled_width,
        spatial_scale=spatial_scale,
        sampling_ratio=sampling_ratio,
        name=name,
    )


@tf.RegisterGradient("PsRoiAlign")
def _ps_roi_align_grad(op: tf.Operation, grad: tf.Tensor) -> tuple[tf.Tensor, None]:
    """Each pixel gets its share of the means that it counts in; regions have no gradient."""
    features, rois = op.inputs
    attrs = {name: op.get_attr(name) for name in ATTRS}
    return ps_roi_align_grad(grad, rois, tf.shape(features), **attrs), None


@tf.RegisterGradient("PsRoiAlignGrad")
def _ps_roi_align_grad_grad(
    op: tf.Operation, grad: tf.Tensor
) -> tuple[tf.Tensor, None, None]:
    """The means are linear in the features, so this is the op itself."""
    attrs = {name: op.get_attr(name) for name in ATTRS}
    return ps_roi_align(grad, op.inputs[1], **attrs), None, None
