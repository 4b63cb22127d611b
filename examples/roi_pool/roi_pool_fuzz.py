"""Generated calls: `python tools/fuzz.py examples/roi_pool/roi_pool_fuzz.py`."""

from pathlib import Path

import numpy as np
import roi_pool as ops
from hypothesis import strategies as st
from op_library import load_op_library
from roi_pool import roi_pool, roi_pool_inference
from roi_pool_test import corners

from opcheck.strategies import calls, shapes, tensors

_variants = load_op_library(
    Path(__file__).with_name("libroi_pool_variants.so"), "roi_pool_variant"
)

_sizes = load_op_library(
    Path(__file__).with_name("libsolution_roi_bin_sizes.so"), "roi_bin_sizes"
)


def roi_bin_sizes(features, rois, **attrs):
    return _sizes.roi_bin_sizes(features, rois, **attrs)


def roi_pool_grad(gradient, argmax, rois, *, feature_shape):
    """With a shape that stays when the values of the inputs are varied: not any size fits into memory."""
    return ops.roi_pool_grad(gradient, argmax, rois, feature_shape)


def roi_pool_variant(features, rois, **attrs):
    return _variants.roi_pool_variant(features, rois, **attrs)


NEAR = st.integers(-2, 12).map(float) | st.floats(-20, 40, width=32)
FAR = st.floats(-1e5, 1e5, width=32) | st.floats(width=32)
MOSTLY = st.sampled_from([True] * 9 + [False])


@st.composite
def rois(draw, count, batch):
    """Boxes `[count, 5]`, most of them in a batch of that size and near the map."""
    corners = NEAR if draw(MOSTLY) else NEAR | FAR
    boxes = draw(tensors("float32", (count, 5), corners))
    images = st.integers(0, max(0, batch - 1))
    if draw(MOSTLY):
        boxes[:, 0] = draw(st.lists(images, min_size=count, max_size=count))
    return boxes


SIDES = st.sampled_from([0, 1, 1, 2, 3, 4, 5, 5, 6, 7, 7, 9])
COUNTS = st.sampled_from([0, 1, 1, 2, 2, 3, 3, 4])
CHANNELS = st.sampled_from([0, 1, 2, 3, 7, 8, 9, 16, 33, 65])
FLOATS = st.sampled_from(["float16", "bfloat16", "float32", "float64"])
BINS = dict(
    pooled_height=st.sampled_from([1, 2, 7, 2, 1, 7, 2, 3, 0]),
    pooled_width=st.sampled_from([1, 3, 7]),
    spatial_scale=st.sampled_from([1.0, 0.0625, 3.0, 0.5] * 4 + [0.0, float("nan")]),
)


@st.composite
def features_and_rois(draw, **attrs):
    if not draw(MOSTLY):
        return draw(calls(tensors(FLOATS, shapes()), tensors("float32"), **attrs))
    shape = draw(st.tuples(COUNTS, SIDES, SIDES, CHANNELS))
    count = draw(COUNTS)
    return draw(calls(tensors(FLOATS, shape), rois(count, shape[0]), **attrs))


@st.composite
def gradients(draw):
    batch, height, width = draw(st.tuples(COUNTS, SIDES, SIDES))
    count = draw(COUNTS)
    shape = (count, *draw(st.tuples(SIDES, SIDES, CHANNELS)))
    other = shape if draw(MOSTLY) else draw(shapes())
    pixels = st.integers(-1, max(0, height * width - draw(MOSTLY)))
    sizes = [batch, height, width, shape[-1]]
    if not draw(MOSTLY):
        sizes = draw(st.lists(st.integers(-1, 5) | st.just(2**31 - 1), max_size=5))
    return draw(
        calls(
            tensors(FLOATS, shape),
            tensors("int32", other, pixels),
            rois(count, batch),
            feature_shape=st.just(sizes),
        )
    )


def pooled_plainly(features, rois, with_argmax=True, **attrs):
    """The plain kernel's answer; roi_pool_test.py holds that one to NumPy."""
    wide = features.astype(float if features.dtype == float else np.float32)
    if attrs.get("kernel") in ("plain", "channels") and features.dtype.itemsize == 2:
        raise ValueError
    attrs = {name: attrs[name] for name in BINS}
    pooled, argmax = roi_pool_variant(wide, rois, kernel="plain", **attrs)
    argmax = argmax.numpy() if with_argmax else np.empty(0, np.int32)
    return pooled.numpy().astype(features.dtype), argmax


def bin_sizes(features, rois, pooled_height, pooled_width, spatial_scale):
    """RoiBinSizes in NumPy."""
    batch, height, width, _ = features.shape
    if not 0 < spatial_scale < np.inf or min(pooled_height, pooled_width) < 1:
        raise ValueError
    check(rois, batch)
    x1, y1, x2, y2 = corners(rois, spatial_scale).T[:, :, None]
    rows = pixels_of_bins(pooled_height, y1, y2, height)
    return rows[:, :, None] * pixels_of_bins(pooled_width, x1, x2, width)[:, None]


def check(rois, batch):
    if rois.ndim != 2 or rois.shape[1] != 5 or not np.isfinite(rois).all():
        raise ValueError
    if not np.isin(rois[:, 0], np.arange(batch)).all():
        raise ValueError


def pixels_of_bins(bins, start, stop, limit):
    """How many rows, or columns, of the map each bin of each region has: `[num_rois, bins]`."""
    size = np.float32(np.maximum(stop - start + 1, 1)) / np.float32(bins)
    edges = np.arange(bins + 1, dtype=np.float32) * size
    first = np.clip(start + np.floor(edges[:, :-1]).astype(int), 0, limit)
    end = np.clip(start + np.ceil(edges[:, 1:]).astype(int), 0, limit)
    return np.maximum(end - first, 0).astype(np.int32)


def added(gradient, argmax, rois, feature_shape):
    """RoiPoolGrad in NumPy."""
    batch, height, width, channels = feature_shape
    if argmax.shape != gradient.shape or np.any(argmax < -1):
        raise ValueError
    if len(rois) != len(gradient) or channels != gradient.shape[3]:
        raise ValueError
    check(rois, batch)
    wide = float if gradient.dtype == float else np.float32
    sums = np.zeros([batch, height * width, channels], wide)
    *bin, channel = np.nonzero(argmax >= 0)  # in the order of the regions
    image = rois[bin[0], 0].astype(int)
    pixel = argmax[(*bin, channel)]
    np.add.at(sums, (image, pixel, channel), gradient[(*bin, channel)].astype(wide))
    return sums.reshape(feature_shape).astype(gradient.dtype)


FUZZ = {
    "RoiPool": (roi_pool, features_and_rois(**BINS), pooled_plainly),
    "RoiPoolInference": (
        roi_pool_inference,
        features_and_rois(**BINS),
        lambda *inputs, **attrs: pooled_plainly(*inputs, **attrs)[0],
    ),
    "RoiBinSizes": (roi_bin_sizes, features_and_rois(**BINS), bin_sizes),
    "RoiPoolGrad": (roi_pool_grad, gradients(), added),
    "RoiPoolVariant": (
        roi_pool_variant,
        features_and_rois(
            **BINS,
            kernel=st.sampled_from(["plain", "channels", "direct", "packed"]),
            path=st.sampled_from(["best", "baseline"]),
            with_argmax=st.booleans(),
        ),
        pooled_plainly,
    ),
}
