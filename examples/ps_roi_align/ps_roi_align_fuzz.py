"""Generated calls: `python -m opcheck fuzz examples/ps_roi_align/ps_roi_align_fuzz.py`."""

from pathlib import Path

import numpy as np
import ps_roi_align as ops
from hypothesis import strategies as st
from op_library import load_op_library
from ps_roi_align_reference import (
    ps_roi_align_grad_reference,
    ps_roi_align_reference,
)

from opcheck import tolerance
from opcheck.strategies import calls, shapes, tensors

HERE = Path(__file__).parent
_blocks = load_op_library(HERE / "libshard_blocks.so", "shard_blocks")
_medians = load_op_library(HERE / "librow_median.so", "median_per_row")
_counts = load_op_library(HERE / "libsolution_count_values.so", "count_values")


def ps_roi_align_grad(gradient, rois, *, feature_shape, **attrs):
    """With a shape that stays when the values of the inputs are varied: not any size fits into memory."""
    return ops.ps_roi_align_grad(gradient, rois, feature_shape, **attrs)


def row_median(rows):
    return _medians.median_per_row(rows)


def row_median_reference(rows):
    """The upper one of two."""
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise ValueError("not a matrix with a column or more")
    return np.sort(rows, axis=1)[:, rows.shape[1] // 2]


def count_values(values, size):
    return _counts.count_values(values, size=size)


def count_values_reference(values, size):
    """Those outside of 0 … size − 1 are left out."""
    if values.ndim != 1:
        raise ValueError("not a vector")
    return np.bincount(values[(values >= 0) & (values < size)], minlength=size)


def shard_blocks(total, **attrs):
    """Alone the work: which thread has which block is not told by the attrs."""
    return _blocks.shard_blocks(total=total, **attrs).product


def shard_blocks_reference(total, cycles, multiplications):
    x = np.arange(total, dtype=np.uint64) + np.uint64(2)
    for _ in range(multiplications):
        x = x * (x | np.uint64(1))
    return x


NEAR = st.integers(-2, 12).map(float) | st.floats(-20, 40, width=32)
FAR = st.floats(-1e4, 1e4, width=32) | st.sampled_from([3e38, -3e38, float("nan")])
MOSTLY = st.sampled_from([True] * 9 + [False])
SIDES = st.sampled_from([0, 1, 1, 2, 3, 5, 6, 9])
COUNTS = st.sampled_from([0, 1, 1, 2, 3])
CHANNELS = st.sampled_from([0, 1, 2, 3, 8, 17])
FLOATS = st.sampled_from(["float16", "bfloat16", "float32", "float64"])


@st.composite
def rois(draw, count, batch):
    """Boxes `[count, 5]`, most of them in a batch of that size and near the map."""
    boxes = draw(tensors("float32", (count, 5), NEAR if draw(MOSTLY) else NEAR | FAR))
    images = st.integers(0, max(0, batch - 1))
    if draw(MOSTLY):
        boxes[:, 0] = draw(st.lists(images, min_size=count, max_size=count))
    return boxes


def attrs(bins):
    return dict(
        pooled_height=st.just(bins[0]),
        pooled_width=st.just(bins[1]),
        spatial_scale=st.sampled_from([1.0, 0.25, 3.0] * 4 + [0.0, float("nan")]),
        sampling_ratio=st.sampled_from([-1, 0, 1, 2, 5] * 3 + [1025]),
    )


BINS = st.tuples(st.sampled_from([1, 2, 3, 1, 2, 0]), st.sampled_from([1, 2, 7]))


@st.composite
def features_and_rois(draw):
    bins = draw(BINS)
    if not draw(MOSTLY):
        some = tensors(FLOATS, shapes()), tensors("float32")
        return draw(calls(*some, **attrs(bins)))
    channels = draw(CHANNELS) * bins[0] * bins[1] + (not draw(MOSTLY))
    shape = (*draw(st.tuples(COUNTS, SIDES, SIDES)), channels)
    boxes = rois(draw(COUNTS), shape[0])
    return draw(calls(tensors(FLOATS, shape), boxes, **attrs(bins)))


@st.composite
def gradients(draw):
    bins, count = draw(BINS), draw(COUNTS)
    channels = draw(CHANNELS)
    sizes = [*draw(st.tuples(COUNTS, SIDES, SIDES)), channels * bins[0] * bins[1]]
    boxes = rois(count, sizes[0])
    if not draw(MOSTLY):
        sizes = draw(st.lists(st.integers(-1, 5) | st.just(2**31 - 1), max_size=5))
    shape = (count, *bins, channels) if draw(MOSTLY) else draw(shapes())
    return draw(
        calls(
            tensors(FLOATS, shape),
            boxes,
            feature_shape=st.just(sizes),
            **attrs(bins),
        )
    )


def precise(reference):
    """A reference without an answer where so much cancels in a sum that its order shows."""

    def answer(numbers, *others, **attrs):
        expected = reference(numbers, *others, **attrs)
        finite = np.where(np.isfinite(numbers), np.abs(numbers), 0)
        added = reference(finite.astype(numbers.dtype), *others, **attrs)
        wide = np.promote_types(numbers.dtype, np.float32)
        relative, absolute = tolerance(expected.dtype)
        allowed = absolute + relative * np.abs(expected.astype(float))
        if np.any(32 * np.finfo(wide).eps * added.astype(float) > allowed):
            raise NotImplementedError("a sum in which digits cancel")
        return expected

    return answer


def grad_reference(gradient, rois, feature_shape, **attrs):
    if len(feature_shape) != 4:
        raise ValueError("not a shape of features")
    return ps_roi_align_grad_reference(gradient, rois, feature_shape, **attrs)


FUZZ = {
    "PsRoiAlign": (
        ops.ps_roi_align,
        features_and_rois(),
        precise(ps_roi_align_reference),
    ),
    "PsRoiAlignGrad": (ps_roi_align_grad, gradients(), precise(grad_reference)),
    "ShardBlocks": (
        shard_blocks,
        calls(
            total=st.integers(0, 300),
            cycles=st.sampled_from([0, 1, 1000, 10**6, 2**40]),
            multiplications=st.sampled_from([0, 1, 5]),
        ),
        shard_blocks_reference,
    ),
    "MedianPerRow": (
        row_median,
        calls(tensors("float32", shapes(), NEAR)),
        row_median_reference,
    ),
    "CountValues": (
        count_values,
        calls(
            tensors("int32", shapes(), st.integers(-2, 20)),
            size=st.sampled_from([1, 2, 7, 16]),
        ),
        count_values_reference,
    ),
}
