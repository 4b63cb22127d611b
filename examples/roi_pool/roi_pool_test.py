"""Tests of RoiPool: `pytest examples/roi_pool`."""

import numpy as np
import pytest
import tensorflow as tf
from roi_pool import roi_pool, roi_pool_inference

DTYPES = [tf.half, tf.bfloat16, tf.float32, tf.float64]
ROIS = np.float32(
    [
        [0, 0, 0, 11, 8],
        [1, 2, 1, 7, 6],
        [1, 9, 7, 3, 2],  # reversed
        [0, 2.5, 0.5, 3.5, -0.5],  # half-integer
        [0, 4, 4, 4, 4],  # a point
        [1, -9, -9, 30, 30],  # over the edge
        [0, 40, 3, 50, 5],  # outside
        [0, -3e9, -3e38, 3e38, 3e9],
    ]
)


def reference(features, rois, pooled, scale):
    """Bins as float32 has them; the first maximum of each, as NumPy finds it."""
    n, (batch, rows, cols, channels) = len(rois), features.shape
    scaled = np.clip(rois[:, 1:] * np.float32(scale), -(2**29), 2**29).astype(float)
    x1, y1, x2, y2 = (np.sign(scaled) * np.floor(abs(scaled) + 0.5)).astype(int).T
    out, argmax = np.zeros([n, *pooled, channels], features.dtype), np.full([n, *pooled, channels], -1, np.int32)
    for r, i, j in np.ndindex(n, *pooled):
        ys, xs = (np.r_[slice(*np.clip(lo + np.int64([np.floor(np.float32(p) * size), np.ceil(np.float32(p + 1) * size)]), 0, limit))]
                  for p, lo, size, limit in [(i, y1[r], np.float32(max(y2[r] - y1[r] + 1, 1)) / np.float32(pooled[0]), rows),
                                             (j, x1[r], np.float32(max(x2[r] - x1[r] + 1, 1)) / np.float32(pooled[1]), cols)])
        if len(ys) and len(xs):
            where = (ys[:, None] * cols + xs).ravel()
            values = features[int(rois[r, 0])].reshape(-1, channels)[where]
            first = np.where(np.isnan(values), -np.inf, values.astype(float)).argmax(0)
            argmax[r, i, j], out[r, i, j] = where[first], values[first, range(channels)]
    return out, argmax


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("channels", [1, 3, 7, 17, 33, 65, 512])
def test_equals_the_reference(mode, dtype, channels):
    features = np.random.default_rng(0).integers(-20, 20, [2, 9, 12, channels]).astype(dtype.as_numpy_dtype)
    pooled, argmax = mode(roi_pool)(features, ROIS, 3, 4, 1.0)
    expected, where = reference(features, ROIS, (3, 4), 1.0)
    np.testing.assert_array_equal(pooled, expected, strict=True)
    np.testing.assert_array_equal(argmax, where, strict=True)
    np.testing.assert_array_equal(mode(roi_pool_inference)(features, ROIS, 3, 4, 1.0), expected)


def test_gradient():
    features = np.random.default_rng(0).permutation(2 * 9 * 12 * 3).reshape(2, 9, 12, 3)
    a, n = tf.test.compute_gradient(lambda x: roi_pool(x, ROIS, 3, 4, 1.0)[0], [features.astype(float)])
    np.testing.assert_allclose(a[0], n[0], atol=1e-6)
