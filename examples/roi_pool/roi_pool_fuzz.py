"""Generated calls: `python -m opcheck fuzz examples/roi_pool/roi_pool_fuzz.py`."""

from pathlib import Path

import numpy as np
import roi_pool as ops
from hypothesis import strategies as st
from op_library import load_op_library
from roi_pool import roi_pool, roi_pool_inference
from roi_pool_reference import (
    roi_bin_sizes_reference,
    roi_pool_grad_reference,
    roi_pool_inference_reference,
    roi_pool_reference,
)

from opcheck.strategies import calls, shapes, tensors

_variants = load_op_library(
    Path(__file__).with_name("libroi_pool_variants.so"), "roi_pool_variant"
)

_plain = load_op_library(
    Path(__file__).with_name("libroi_pool_plain.so"), "roi_pool_plain"
)

_sizes = load_op_library(
    Path(__file__).with_name("libsolution_roi_bin_sizes.so"), "roi_bin_sizes"
)


def roi_pool_plain(features, rois, **attrs):
    return _plain.roi_pool_plain(features, rois, **attrs)


def roi_pool_plain_reference(features, rois, **attrs):
    if features.dtype.itemsize == 2:
        raise ValueError("not compiled for 16 bits")
    return roi_pool_reference(features, rois, **attrs)


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
PLAIN_TYPES = st.sampled_from(["float32", "float64"] * 4 + ["float16"])  # refused
BINS = dict(
    pooled_height=st.sampled_from([1, 2, 7, 2, 1, 7, 2, 3, 0]),
    pooled_width=st.sampled_from([1, 3, 7]),
    spatial_scale=st.sampled_from([1.0, 0.0625, 3.0, 0.5] * 4 + [0.0, float("nan")]),
)


@st.composite
def features_and_rois(draw, types=FLOATS, **attrs):
    if not draw(MOSTLY):
        return draw(calls(tensors(types, shapes()), tensors("float32"), **attrs))
    shape = draw(st.tuples(COUNTS, SIDES, SIDES, CHANNELS))
    count = draw(COUNTS)
    return draw(calls(tensors(types, shape), rois(count, shape[0]), **attrs))


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


def roi_pool_variant_reference(
    features, rois, kernel, path, with_argmax, stores, large_pages, **bins
):
    if kernel in ("plain", "channels") and features.dtype.itemsize == 2:
        raise ValueError("not compiled for 16 bits")
    pooled, argmax = roi_pool_reference(features, rois, **bins)
    return pooled, argmax if with_argmax else np.empty(0, np.int32)


FUZZ = {
    "RoiPool": (roi_pool, features_and_rois(**BINS), roi_pool_reference),
    "RoiPoolInference": (
        roi_pool_inference,
        features_and_rois(**BINS),
        roi_pool_inference_reference,
    ),
    "RoiPoolPlain": (
        roi_pool_plain,
        features_and_rois(PLAIN_TYPES, **BINS),
        roi_pool_plain_reference,
    ),
    "RoiBinSizes": (roi_bin_sizes, features_and_rois(**BINS), roi_bin_sizes_reference),
    "RoiPoolGrad": (roi_pool_grad, gradients(), roi_pool_grad_reference),
    "RoiPoolVariant": (
        roi_pool_variant,
        features_and_rois(
            **BINS,
            kernel=st.sampled_from(
                ["best", "direct", "sorted", "packed", "plain", "channels"]
            ),
            path=st.sampled_from(["best", "baseline"]),
            with_argmax=st.booleans(),
            stores=st.sampled_from(["best", "ordinary"]),
            large_pages=st.booleans(),
        ),
        roi_pool_variant_reference,
    ),
}
