"""The ops of the chapter in NumPy: one bin after the other."""

import numpy as np


def check(shape, rois, pooled_height=1, pooled_width=1, spatial_scale=1.0):
    """Raises ValueError where the ops refuse a call."""
    batch, height, width, _ = shape
    if max(height, width) > 2**29:
        raise ValueError("a map beyond the reach of regions")
    normal = np.finfo(np.float32).tiny <= spatial_scale < np.inf
    if not normal or min(pooled_height, pooled_width) < 1:
        raise ValueError("no bins")
    if rois.ndim != 2 or rois.shape[1] != 5 or not np.isfinite(rois).all():
        raise ValueError("no regions")
    if not np.isin(rois[:, 0], np.arange(batch)).all():
        raise ValueError("a region of an image that is not there")


def whole(scaled):
    """The nearest whole numbers, halves away from zero, and no farther than the op goes."""
    exact = np.clip(scaled, -(2**29), 2**29).astype(float)  # adding 0.5 rounds nothing
    return (np.sign(exact) * np.floor(np.abs(exact) + 0.5)).astype(int)


def bin_edges(start, end, pooled, limit):
    """The first pixel of each bin and the one after its last, along one axis."""
    bin_size = np.float32(max(end - start + 1, 1)) / np.float32(pooled)
    p = np.arange(pooled, dtype=np.float32)
    edges = np.stack([np.floor(p * bin_size), np.ceil((p + 1) * bin_size)], axis=1)
    return np.clip(start + edges.astype(int), 0, limit)


def bins_of(shape, rois, pooled_height, pooled_width, spatial_scale):
    """Each bin [n, i, j] that has pixels, with its image and its pixels, row after row."""
    check(shape, rois, pooled_height, pooled_width, spatial_scale)
    _, height, width, _ = shape
    for n, roi in enumerate(rois):
        x1, y1, x2, y2 = whole(roi[1:] * np.float32(spatial_scale))
        for i, (top, bottom) in enumerate(bin_edges(y1, y2, pooled_height, height)):
            rows = np.arange(top, bottom)[:, None] * width
            for j, (left, right) in enumerate(bin_edges(x1, x2, pooled_width, width)):
                pixels = (rows + np.arange(left, right)).ravel()
                if pixels.size:
                    yield (n, i, j), int(roi[0]), pixels


def roi_pool_reference(features, rois, pooled_height, pooled_width, spatial_scale):
    """The largest number of each bin and channel, and its first pixel; NaN counts as -∞."""
    batch, height, width, channels = features.shape
    numbers = np.where(np.isnan(features), features.dtype.type(-np.inf), features)
    numbers = numbers.reshape(batch, height * width, channels)
    sizes = pooled_height, pooled_width
    argmax = np.full([len(rois), *sizes, channels], -1, np.int32)
    pooled = np.zeros(argmax.shape, features.dtype)
    for place, image, pixels in bins_of(features.shape, rois, *sizes, spatial_scale):
        argmax[place] = pixels[numbers[image, pixels].argmax(axis=0)]
        pooled[place] = numbers[image, argmax[place], range(channels)]
    return pooled, argmax


def roi_pool_inference_reference(features, rois, **sizes):
    """The numbers alone."""
    return roi_pool_reference(features, rois, **sizes)[0]


def roi_pool_grad_reference(gradient, argmax, rois, feature_shape):
    """Adds each gradient where its number came from, 16-bit numbers in float32."""
    check(feature_shape, rois)
    batch, height, width, channels = feature_shape
    fitting = len(rois), *argmax.shape[1:3], channels
    if not argmax.shape == gradient.shape == fitting or np.any(argmax < -1):
        raise ValueError("not a pixel for each gradient")
    wide = np.promote_types(gradient.dtype, np.float32)
    sums = np.zeros([batch, height * width, channels], wide)
    n, i, j, c = np.nonzero(argmax >= 0)  # in the order of the regions and bins
    to = rois[n, 0].astype(int), argmax[n, i, j, c], c
    np.add.at(sums, to, gradient[n, i, j, c].astype(wide))
    return sums.reshape(feature_shape).astype(gradient.dtype)


def roi_bin_sizes_reference(features, rois, pooled_height, pooled_width, **scale):
    """How many pixels each bin has."""
    sizes = np.zeros([len(rois), pooled_height, pooled_width], np.int32)
    bins = bins_of(features.shape, rois, pooled_height, pooled_width, **scale)
    for place, _, pixels in bins:
        sizes[place] = pixels.size
    return sizes
