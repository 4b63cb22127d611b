"""Tests of PsRoiAlign: `pytest examples/ps_roi_align`."""

import hashlib
import json
import re
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import tensorflow as tf
from ps_roi_align import ps_roi_align, ps_roi_align_grad
from ps_roi_align_fuzz import count_values, row_median, row_median_reference
from ps_roi_align_loops import ps_roi_align_grad_loops, ps_roi_align_loops
from ps_roi_align_reference import (
    ps_roi_align_grad_reference,
    ps_roi_align_reference,
)

from opcheck.testing import op_test

HERE = Path(__file__).parent
DTYPES = [tf.half, tf.bfloat16, tf.float32, tf.float64]
ROIS = np.float32(
    [
        [0, 0, 0, 11, 8],
        [1, 2, 1, 7, 6],
        [1, 9, 7, 3, 2],  # reversed
        [0, 2.5, 0.5, 3.5, 1.5],
        [0, 4, 4, 4, 4],  # a point
        [1, -9, -9, 30, 30],  # over the edge
        [0, 40, 3, 50, 5],  # outside
        [1, -3e9, -3e38, 3e38, 3e9],
    ]
)


def random_features(shape, dtype=np.float32):
    return np.random.default_rng(0).standard_normal(shape).astype(dtype)


SAMPLE = dict(pooled_height=2, pooled_width=3, spatial_scale=0.5)
test_ps_roi_align_keeps_its_promises = op_test(
    ps_roi_align,
    random_features([2, 9, 12, 12]),
    ROIS[:5],
    reference=ps_roi_align_reference,
    **SAMPLE,
)
test_ps_roi_align_grad_keeps_its_promises = op_test(
    ps_roi_align_grad,
    random_features([2, 2, 3, 2]),
    ROIS[:2],
    np.int32([2, 9, 12, 12]),
    reference=ps_roi_align_grad_reference,
    **SAMPLE,
)


test_row_median_keeps_its_promises = op_test(
    row_median, random_features([5, 4]), reference=row_median_reference
)


def test_median_of_many_rows():
    rows = np.random.default_rng(0).standard_normal((10_000, 101), np.float32)
    np.testing.assert_array_equal(row_median(rows), np.median(rows, axis=1))


def test_median_of_subnormal_numbers():
    medians = row_median(np.float32([[1e-40, 3e-40, 2e-40]])).numpy()
    assert medians == np.float32(2e-40)


def test_no_columns_have_no_median(mode):
    refused = ValueError, tf.errors.InvalidArgumentError
    with pytest.raises(refused, match=r"a column or more, got shape \[2,0\]"):
        mode(row_median)(tf.zeros([2, 0]))
    spec = [tf.TensorSpec([None, 0])]
    with pytest.raises(ValueError, match=r"a column or more, got shape \[\?,0\]"):
        tf.function(row_median, input_signature=spec).get_concrete_function()


def test_only_a_vector_is_counted(mode):
    with pytest.raises(
        (ValueError, tf.errors.InvalidArgumentError), match="a vector|must be rank 1"
    ):
        mode(count_values)(tf.zeros([2, 3], tf.int32), size=4)


def blocks_in_tf_data():
    """How many blocks Shard makes in a function of tf.data, by default and with four threads."""
    library = tf.load_op_library(str(HERE / "libshard_blocks.so"))
    data = tf.data.Dataset.range(1).map(
        lambda _: library.shard_blocks(total=1000, cycles=100_000).first
    )
    four = tf.data.Options()
    four.threading.max_intra_op_parallelism = 4
    return [
        len(set(first.numpy()))
        for options in (tf.data.Options(), four)
        for first in data.with_options(options)
    ]


def test_shard_uses_one_thread_in_tf_data_unless_told(with_threads):
    assert with_threads(4, blocks_in_tf_data) == "[1, 16]"


def test_loops_give_the_same():
    features, gradient = random_features([2, 9, 12, 18]), random_features([3, 3, 3, 2])
    rois = np.float32([[0, 1, 2, 9, 17], [1, 0, 0, 23, 16], [1, 4.5, 3, 5, 8]])
    options = dict(pooled_height=3, pooled_width=3, spatial_scale=0.5)
    given = tf.constant(features), tf.constant(rois), tf.constant(gradient)
    np.testing.assert_allclose(
        ps_roi_align_loops(given[0], given[1], 3, 0.5, 12.0),
        ps_roi_align(features, rois, **options),
        rtol=1e-5,
        atol=1e-5,
    )
    np.testing.assert_allclose(
        ps_roi_align_grad_loops(given[2], given[1], features.shape, 0.5, 12.0),
        ps_roi_align_grad(gradient, rois, features.shape, **options),
        rtol=1e-5,
        atol=1e-5,
    )


def test_equals_torchvision():
    """Numbers that bench/ps_roi_align_torchvision.py has written."""
    saved = json.loads((HERE / "torchvision.txt").read_text())
    features, gradient = np.float32(saved["features"]), np.float32(saved["gradient"])
    rois = np.float32(saved["rois"])
    for case in saved["cases"]:
        attrs = case["attrs"]
        pooled = ps_roi_align(features, rois, *attrs.values())
        np.testing.assert_allclose(pooled, case["pooled"], rtol=1e-5, atol=1e-5)
        back = ps_roi_align_grad(gradient, rois, features.shape, **attrs)
        np.testing.assert_allclose(back, case["back"], rtol=1e-5, atol=1e-5)


def tolerance(dtype):
    eps = float(ml_dtypes.finfo(dtype.as_numpy_dtype).eps)
    if dtype.size == 2:  # rounded once
        return dict(rtol=2 * eps, atol=2**-8)
    return dict(rtol=10 * eps, atol=40 * eps)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("channels", [1, 7, 21])
def test_equals_the_reference(mode, dtype, channels):
    features = random_features([2, 9, 12, 6 * channels], dtype.as_numpy_dtype)
    gradient = random_features([len(ROIS), 3, 2, channels], dtype.as_numpy_dtype)
    close = tolerance(dtype)
    for ratio, scale in [(-1, 1.0), (2, 0.5), (0, 1 / 3)]:
        attrs = dict(pooled_height=3, pooled_width=2)
        attrs |= dict(spatial_scale=scale, sampling_ratio=ratio)
        expected = ps_roi_align_reference(features, ROIS, **attrs)
        pooled = mode(ps_roi_align)(features, ROIS, **attrs)
        np.testing.assert_allclose(pooled.numpy(), expected.astype(float), **close)
        expected = ps_roi_align_grad_reference(gradient, ROIS, features.shape, **attrs)
        back = mode(ps_roi_align_grad)(gradient, ROIS, features.shape, **attrs)
        np.testing.assert_allclose(back.numpy(), expected.astype(float), **close)


@pytest.mark.parametrize("shape", [(0, 9, 12, 6), (2, 9, 12, 0), (2, 0, 12, 6)])
@pytest.mark.parametrize("rois", [ROIS[:0], ROIS])
def test_what_is_empty_gives_zeros(mode, shape, rois):
    rois = rois if shape[0] else ROIS[:0]
    features = tf.zeros(shape)
    with tf.GradientTape() as tape:
        tape.watch(features)
        pooled = mode(ps_roi_align)(features, rois, 2, 3)
    np.testing.assert_array_equal(pooled, np.zeros([len(rois), 2, 3, shape[3] // 6]))
    np.testing.assert_array_equal(tape.gradient(pooled, features), np.zeros(shape))


def test_a_region_without_an_area_has_no_adaptive_samples():
    features = np.ones([1, 5, 5, 1], np.float32)
    point = np.float32([[0, 2, 2, 2, 2]])
    assert ps_roi_align(features, point, 1, 1).numpy().item() == 0
    assert ps_roi_align(features, point, 1, 1, sampling_ratio=3).numpy().item() == 1


@pytest.mark.parametrize("ratio", [17, 64, 1024])
def test_the_mean_of_ones_is_one_however_many_samples(ratio):
    begin = np.random.default_rng(0).uniform(0, 4, [50, 2])
    rois = np.hstack([np.zeros([50, 1]), begin, begin + [4.8, 3.2]]).astype(np.float32)
    pooled = ps_roi_align(
        np.ones([1, 9, 9, 6], np.float32), rois, 2, 3, sampling_ratio=ratio
    )
    np.testing.assert_allclose(pooled, np.ones(pooled.shape), rtol=1e-5)


def test_a_huge_region_takes_no_longer_than_its_pixels():
    """Torchvision would visit 10^12 samples."""
    features = random_features([1, 9, 12, 2])
    rois = np.float32([[0, -1e6, -1e6, 1e6, 1e6]] * 3)
    pooled = ps_roi_align(features, rois, 1, 1)
    np.testing.assert_allclose(
        pooled, ps_roi_align_reference(features, rois, 1, 1), rtol=1e-5, atol=1e-17
    )


def digest():
    """Of both results, which `with_threads` asks for."""
    random = np.random.default_rng(0)
    features = random.standard_normal([2, 40, 60, 49 * 10], np.float32)
    corners = np.sort(random.uniform(0, 60, [2, 100, 2]), axis=0)
    rois = np.float32(np.concatenate([np.arange(100)[:, None] % 2, *corners], 1))
    bins = dict(pooled_height=7, pooled_width=7)
    pooled = ps_roi_align(features, rois, **bins)
    back = ps_roi_align_grad(pooled, rois, features.shape, **bins)
    results = pooled.numpy().tobytes() + back.numpy().tobytes()
    return hashlib.sha256(results).hexdigest()


def test_the_bits_do_not_depend_on_the_number_of_threads(with_threads):
    assert with_threads(1, digest) == with_threads(7, digest)


FEATURES = np.ones([1, 4, 4, 6], np.float32)
BOX = np.float32([[0, 0, 0, 3, 3]])


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((FEATURES[0], BOX, 2, 3), "features must have shape|rank 4 but is rank 3"),
        ((FEATURES, BOX[:, :4], 2, 3), "rois must have shape|must be 5 but is 4"),
        ((FEATURES, BOX, 2, 2), r"multiple of pooled_height \* pooled_width = 4"),
        ((FEATURES, BOX, 2**25, 1), "must be at most 16777216"),
        ((FEATURES, BOX, 2, 3, 0.0), "spatial_scale must be finite and positive"),
        ((FEATURES, BOX, 2, 3, 1.0, 2000), "sampling_ratio must be at most 1024"),
        ((np.ones([1, 2**21, 0, 6]), BOX, 2, 3), "must be at most 1048576"),
        ((FEATURES, BOX + 1, 2, 3), r"rois\[0\] must be a batch index in \[0, 1\)"),
        ((FEATURES, BOX * np.nan, 2, 3), "four finite coordinates"),
        ((FEATURES, BOX + np.float32(np.inf), 2, 3), "four finite coordinates"),
    ],
)
def test_what_does_not_fit_is_refused(mode, arguments, message):
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=message):
        mode(ps_roi_align)(*arguments)


ATTRS = dict(pooled_height=2, pooled_width=3)


def test_the_last_image_of_a_batch_beyond_float32():
    """2**24 + 1 is no float32. Without rows, so many images need no memory."""
    images = tf.zeros([2**24 + 1, 0, 1, 6])
    last = np.float32([[2**24, 0, 0, 0, 0]])
    assert ps_roi_align(images, last, **ATTRS).shape == [1, 2, 3, 1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="a batch index in"):
        ps_roi_align(images, last + 2, **ATTRS)


@pytest.mark.parametrize(
    "shape, message",
    [
        ([1, 4, 4], "must have shape .4.|rank 4 but is rank 3"),
        ([1, -4, 4, 6], "must not be negative|Invalid value in tensor"),
        ([1, 4, 4, 12], "gradient must have shape|must be equal, but are 1 and 2"),
        ([1, 4, 4, 7], "multiple of pooled_height"),
    ],
)
def test_a_gradient_that_does_not_fit_is_refused(mode, shape, message):
    gradient = np.ones([1, 2, 3, 1], np.float32)
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=message):
        mode(ps_roi_align_grad)(gradient, BOX, shape, **ATTRS)


def test_the_second_derivative():
    features, rois = tf.constant(random_features([1, 5, 6, 6], np.float64)), BOX
    with tf.GradientTape() as outer:
        outer.watch(features)
        with tf.GradientTape() as inner:
            inner.watch(features)
            loss = tf.reduce_sum(ps_roi_align(features, rois, 2, 3) ** 3)
        first = inner.gradient(loss, features)
        total = tf.reduce_sum(first * features)
    found = outer.gradient(total, features)
    np.testing.assert_allclose(found, 3 * first, rtol=1e-12)  # by Euler, of degree 3


# Other kernels: the plain one, and those of the GPU, on the host.


def run(op, *tensors, label="", **attrs):
    """What the kernel with this label gives: "" is the one that ships, "on_host" the GPU's."""

    @tf.function(autograph=False)
    def labelled(*tensors):
        labels = dict.fromkeys(["PsRoiAlign", "PsRoiAlignGrad"], label)
        with tf.compat.v1.get_default_graph()._kernel_label_map(labels):
            return op(*tensors, **attrs)

    return labelled(*map(tf.convert_to_tensor, tensors)).numpy()


@pytest.mark.parametrize("label", ["plain", "shared"])
@pytest.mark.parametrize("ratio", [-1, 2])
@pytest.mark.parametrize("scale", [1, 1e-39])  # the latter makes subnormal numbers
def test_kernels_for_one_channel_give_the_same_bits(label, ratio, scale):
    tf.load_library(str(HERE / "libps_roi_align_plain.so"))
    features = random_features([2, 9, 12, 18]) * np.float32(scale)
    attrs = SAMPLE | dict(sampling_ratio=ratio)
    pooled = run(ps_roi_align, features, ROIS, **attrs)
    single = run(ps_roi_align, features, ROIS, label=label, **attrs)
    assert single.any() and single.tobytes() == pooled.tobytes()


@pytest.mark.xdist_group("PsRoiAlign's GPU kernels on the host")
@pytest.mark.parametrize("dtype", DTYPES)
def test_kernels_of_the_gpu_give_the_same_bits(on_host, dtype):
    features = random_features([2, 9, 12, 18], dtype.as_numpy_dtype)
    for ratio in (-1, 2):
        attrs = SAMPLE | dict(sampling_ratio=ratio)
        pooled = run(ps_roi_align, features, ROIS, **attrs)
        on_gpu = run(ps_roi_align, features, ROIS, label="on_host", **attrs)
        assert on_gpu.tobytes() == pooled.tobytes()
        inputs = pooled, ROIS, np.int32(features.shape)
        back = run(ps_roi_align_grad, *inputs, **attrs)
        on_gpu = run(ps_roi_align_grad, *inputs, label="on_host", **attrs)
        assert on_gpu.tobytes() == back.tobytes()


@pytest.mark.xdist_group("PsRoiAlign's GPU kernels on the host")
@pytest.mark.parametrize("dtype", [tf.half, tf.float32])
def test_gpu_gradient_of_more_regions_than_fit_into_a_list(on_host, dtype):
    rois = np.tile(ROIS, [2500 // len(ROIS), 1])
    rois[:, 0] = 1
    shape = [2, 9, 12, 6]
    gradient = random_features([len(rois), 2, 3, 1], dtype.as_numpy_dtype)
    inputs = gradient, rois, np.int32(shape)
    back = run(ps_roi_align_grad, *inputs, **SAMPLE)
    on_gpu = run(ps_roi_align_grad, *inputs, label="on_host", **SAMPLE)
    assert on_gpu.tobytes() == back.tobytes()


@pytest.mark.xdist_group("PsRoiAlign's GPU kernels on the host")
def test_bad_regions_are_zero_on_the_gpu(on_host):
    features = random_features([2, 9, 12, 18])
    bad = np.float32([[2, 0, 0, 5, 5], [0.5, 0, 0, 5, 5], [0, np.nan, 0, 5, 5]])
    rois = np.concatenate([bad, ROIS[:2], bad * [np.nan, 1, 1, 1, 1]]).astype("float32")
    good = [3, 4]
    pooled = run(ps_roi_align, features, rois, label="on_host", **SAMPLE)
    expected = ps_roi_align_reference(features, rois[good], **SAMPLE)
    np.testing.assert_allclose(pooled[good], expected, rtol=1e-5, atol=1e-6)
    assert not np.delete(pooled, good, 0).any()
    gradient = random_features(pooled.shape)
    shape = np.int32(features.shape)
    back = run(ps_roi_align_grad, gradient, rois, shape, label="on_host", **SAMPLE)
    expected = ps_roi_align_grad_reference(
        gradient[good], rois[good], features.shape, **SAMPLE
    )
    np.testing.assert_allclose(back, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.xdist_group("PsRoiAlign's GPU kernels on the host")
def test_launches(on_host):
    """One for the weights and one for the elements, on TensorFlow's stream; what fails is an error."""
    features = random_features([2, 9, 12, 18])
    on_host.calls()
    run(ps_roi_align, features, ROIS, label="on_host", **SAMPLE)
    slots, elements = len(ROIS) * 5, len(ROIS) * 18
    expected = [("launch", -(-n // 256), 256, 0, 4711) for n in (slots, elements)]
    assert on_host.calls() == expected
    for call in (1, 2):
        on_host.fail_at(call)
        with pytest.raises(tf.errors.InternalError, match="CUDA says: unknown error"):
            run(ps_roi_align, features, ROIS, label="on_host", **SAMPLE)


@pytest.mark.xdist_group("PsRoiAlign's GPU kernels on the host")
@pytest.mark.parametrize(
    "op, read", [("PsRoiAlign", []), ("PsRoiAlignGrad", ["feature_shape"])]
)
def test_what_the_host_reads_stays_in_its_memory(host_memory_args, op, read):
    assert host_memory_args(op) == [read] * len(DTYPES)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("ratio", [-1, 2])
def test_a_real_gpu_equals_the_cpu(gpu, mode, dtype, ratio):
    """Bit for bit: the formulas are the same, and no compiler joins two roundings."""
    features = tf.constant(random_features([2, 9, 12, 18], dtype.as_numpy_dtype))
    attrs = SAMPLE | dict(sampling_ratio=ratio)
    found = {}
    for device in ("CPU:0", "GPU:0"):
        with tf.device(device):
            pooled = mode(ps_roi_align)(features, ROIS, **attrs)
            back = mode(ps_roi_align_grad)(pooled, ROIS, features.shape, **attrs)
        assert pooled.device.endswith(device) and back.device.endswith(device)
        found[device] = [pooled.numpy().tobytes(), back.numpy().tobytes()]
    assert found["GPU:0"] == found["CPU:0"]


def test_the_gpu_has_the_kernels_of_the_cpu():
    """In the source; where there is no CUDA compiler, the library lacks them."""
    registered = {}
    for name in ("ps_roi_align.cc", "ps_roi_align_gpu.cc"):
        lines = (HERE / name).read_text()
        registered[name] = re.findall(
            r"^REGISTER_PS_ROI_ALIGN\w*\((.*)\);", lines, re.M
        )
    one, other = registered.values()
    assert one == other and len(one) == len(DTYPES)
