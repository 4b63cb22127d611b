"""The op in NumPy: the weight of every pixel in the mean of every bin."""

import numpy as np


def check(shape, rois, bins, spatial_scale, sampling_ratio):
    """Raises ValueError where the ops refuse a call."""
    batch, height, width, channels = shape
    if max(height, width) > 2**20 or min(shape) < 0 or sampling_ratio > 1024:
        raise ValueError("a map beyond the reach of regions, or too many samples")
    if not 0 < spatial_scale < np.inf or min(bins) < 1 or channels % np.prod(bins):
        raise ValueError("no bins, or channels that they cannot share")
    if rois.ndim != 2 or rois.shape[1] != 5 or not np.isfinite(rois).all():
        raise ValueError("no regions")
    if not np.isin(rois[:, 0], np.arange(batch)).all():
        raise ValueError("a region of an image that is not there")


def samples(begin, end, bins, ratio):
    """Where the samples of each bin lie along one axis, `[bins, samples]`; `begin` sets the precision."""
    size = (end - begin) / begin.dtype.type(bins)
    count = ratio if ratio > 0 else max(int(np.ceil(size)), 0)
    i = np.arange(count, dtype=begin.dtype) + begin.dtype.type(0.5)
    p = np.arange(bins, dtype=begin.dtype)[:, None]
    return p * size + begin + i * size / begin.dtype.type(max(count, 1))


def weights(begin, end, bins, ratio, limit):
    """How much each of `limit` pixels counts in each bin along one axis, `[bins, limit]`."""
    shares = np.zeros([bins, limit])
    at = samples(begin, end, bins, ratio)
    for p, inside in enumerate((at >= -1) & (at <= limit) & (limit > 0)):
        near = np.clip(at[p, inside], 0, limit - 1)[:, None] - np.arange(limit)
        shares[p] = np.maximum(1 - np.abs(near), 0).sum(axis=0) / max(at.shape[1], 1)
    return shares


def all_weights(shape, rois, bins, scale, ratio, dtype):
    """Those of each region along the height and along the width."""
    check(shape, rois, bins, scale, ratio)
    wide = np.promote_types(dtype, np.float32).type
    scaled = rois[:, 1:].astype(wide) * wide(np.float32(scale))
    corners = np.clip(scaled, wide(-(2**20)), wide(2**20)) - wide(0.5)
    for x1, y1, x2, y2 in corners:
        yield [
            weights(y1, y2, bins[0], ratio, shape[1]),
            weights(x1, x2, bins[1], ratio, shape[2]),
        ]


def ps_roi_align_reference(
    features, rois, pooled_height, pooled_width, spatial_scale=1.0, sampling_ratio=-1
):
    """The mean of each bin: of its own channels, weighted along both axes."""
    *map_shape, channels = features.shape
    bins, options = (pooled_height, pooled_width), (spatial_scale, sampling_ratio)
    pairs = list(all_weights(features.shape, rois, bins, *options, features.dtype))
    split = features.reshape(*map_shape, *bins, channels // np.prod(bins))
    pooled = np.zeros([len(rois), *split.shape[3:]])
    for n, (down, across) in enumerate(pairs):
        for i, j in np.ndindex(bins):
            pixels = np.ix_(down[i] > 0, across[j] > 0)
            image = split[int(rois[n, 0]), :, :, i, j][pixels].astype(float)
            shares = np.outer(down[i], across[j])[pixels]
            pooled[n, i, j] = np.einsum("hwc,hw->c", image, shares)
    return pooled.astype(features.dtype)


def ps_roi_align_grad_reference(
    gradient, rois, feature_shape, *, pooled_height, pooled_width, **options
):
    """The same weights the other way round."""
    bins = pooled_height, pooled_width
    options = {"spatial_scale": 1.0, "sampling_ratio": -1} | options
    pairs = list(
        all_weights(feature_shape, rois, bins, *options.values(), gradient.dtype)
    )
    channels = feature_shape[3] // np.prod(bins)
    if gradient.shape != (len(rois), *bins, channels):
        raise ValueError("not a number for each bin")
    wide = np.promote_types(gradient.dtype, np.float32)
    sums = np.zeros([*feature_shape[:3], *bins, channels], wide)
    for n, (down, across) in enumerate(pairs):
        for i, j in np.ndindex(bins):
            pixels = np.ix_(down[i] > 0, across[j] > 0)
            shares = np.outer(down[i], across[j])[pixels]
            given = np.einsum("hw,c->hwc", shares, gradient[n, i, j].astype(wide))
            sums[int(rois[n, 0]), :, :, i, j][pixels] += given
    return sums.reshape(feature_shape).astype(gradient.dtype)
