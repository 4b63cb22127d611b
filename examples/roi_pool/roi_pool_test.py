"""Tests of RoiPool: `pytest examples/roi_pool`."""

import ctypes
import functools
import hashlib
import mmap
import platform
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import stock_ops
import stock_xla
import tensorflow as tf
from op_library import load_op_library
from roi_pool import roi_pool, roi_pool_grad, roi_pool_inference
from roi_pool_assembly import assembly, compiled, largest
from roi_pool_fuzz import roi_bin_sizes, roi_pool_plain
from roi_pool_reference import (
    roi_pool_grad_reference,
    roi_pool_inference_reference,
    roi_pool_reference,
)

from opcheck.testing import op_test

VARIANTS = Path(__file__).with_name("libroi_pool_variants.so")
roi_pool_variant = load_op_library(VARIANTS, "roi_pool_variant").roi_pool_variant

DTYPES = [tf.half, tf.bfloat16, tf.float32, tf.float64]
ROIS = np.float32(
    [
        [0, 0, 0, 11, 8],
        [1, 2, 1, 7, 6],
        [1, 9, 7, 3, 2],  # reversed
        [0, 2.5, 0.5, 3.5, 1.5],  # half-integer
        [0, -2.5, -0.5, 6.5, 0.49999997],
        [0, 4, 4, 4, 4],  # a point
        [1, -9, -9, 30, 30],  # over the edge
        [0, 40, 3, 50, 5],  # outside
        [1, -3e9, -3e38, 3e38, 3e9],
    ]
)


FEATURES = np.random.default_rng(0).permutation(2 * 9 * 12 * 3).reshape(2, 9, 12, 3)
SAMPLE = dict(pooled_height=2, pooled_width=3, spatial_scale=0.5)
test_roi_pool_keeps_its_promises = op_test(
    roi_pool, np.float32(FEATURES), ROIS[:5], reference=roi_pool_reference, **SAMPLE
)
test_roi_pool_plain_keeps_its_promises = pytest.mark.slow(
    op_test(
        roi_pool_plain,
        np.float32(FEATURES),
        ROIS[:5],
        reference=roi_pool_reference,
        **SAMPLE,
    )
)
test_roi_pool_inference_keeps_its_promises = op_test(
    roi_pool_inference,
    np.float32(FEATURES),
    ROIS[:5],
    reference=roi_pool_inference_reference,
    **SAMPLE,
)
test_roi_pool_grad_keeps_its_promises = op_test(
    roi_pool_grad,
    np.float32(FEATURES[0, :2, :6].reshape(2, 2, 3, 3)),
    np.arange(-1, 35, dtype=np.int32).reshape(2, 2, 3, 3),
    ROIS[:2],
    np.int32([2, 9, 12, 3]),
    reference=roi_pool_grad_reference,
)


def make_features(shape, dtype):
    """Few different values, so that there are ties, and all that is special."""
    random = np.random.default_rng(0)
    dtype = tf.as_dtype(dtype)
    features = random.integers(-20, -9, shape).astype(dtype.as_numpy_dtype)
    tiny = np.array(1, f"u{dtype.size}").view(dtype.as_numpy_dtype)
    some = random.random(shape) < 0.2
    special = [np.nan, np.inf, -np.inf, 0.0, -0.0, tiny, -tiny, -1, -0.25]
    features[some] = random.choice(
        np.array(special, features.dtype), np.count_nonzero(some)
    )
    features[0, :4, :4] = np.nan
    return features


def assert_bits_equal(actual, expected):
    np.testing.assert_array_equal(actual, expected, strict=True)
    assert np.asarray(actual).tobytes() == expected.tobytes()  # of zeros, too


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("channels", [1, 3, 7, 17, 33, 65, 512])
def test_equals_the_reference(mode, dtype, channels):
    features = make_features([2, 9, 12, channels], dtype)
    for bins, scale in [((3, 4), 1.0), ((7, 1), 0.75), ((14, 14), 0.5)]:
        expected, where = roi_pool_reference(features, ROIS, *bins, scale)
        pooled, argmax = mode(roi_pool)(features, ROIS, *bins, scale)
        assert_bits_equal(pooled, expected)
        assert_bits_equal(argmax, where)
        inferred = mode(roi_pool_inference)(features, ROIS, *bins, scale)
        assert_bits_equal(inferred, expected)


@pytest.mark.parametrize("pool", [roi_pool, roi_pool_plain])
def test_subnormal_numbers_are_not_zero(mode, pool):
    features = np.float32([1e-42, 5e-42, 3e-42, 2e-42]).reshape(1, 2, 2, 1)
    bins = dict(pooled_height=1, pooled_width=1, spatial_scale=1.0)
    pooled, argmax = mode(pool)(features, np.float32([[0, 0, 0, 1, 1]]), **bins)
    assert_bits_equal(pooled, features[:, :1, 1:])
    assert argmax == 1


PATHS = ["baseline", "avx2", "avx512"]


def test_a_path_has_no_code_that_another_file_could_share(tmp_path):
    """Not even where nothing is inlined: the linker would keep one copy, of any path, for all of them."""
    source, compiled = VARIANTS.with_name("roi_pool_simd.cc"), tmp_path / "simd.o"
    options = ["-std=c++17", "-O0", "-Wno-psabi", "-DOP_BY_OP_PATH=baseline"]
    subprocess.run(["c++", *options, "-c", source, "-o", compiled], check=True)
    symbols = subprocess.run(
        ["nm", "-C", compiled], capture_output=True, text=True, check=True
    )
    weak = [line for line in symbols.stdout.splitlines() if re.search(" [VWu] ", line)]
    assert weak and all("op_by_op::baseline::" in symbol for symbol in weak), weak


def test_the_solution_of_the_exercise_on_vectors():
    numbers = np.random.default_rng(0).normal(size=(50, 37)).astype(np.float32)
    several = r"\bmaxps\b|\.4s\b"
    assert not re.search(several, assembly("exercise_largest"))
    assert re.search(several, assembly("solution_largest"))
    for name in "exercise_largest", "solution_largest":
        np.testing.assert_array_equal(largest(name, numbers), numbers.max(axis=0))


VARIANTS_AND_PATHS = pytest.mark.parametrize(
    "kernel, path, dtype",
    [(k, "best", d) for k in ["plain", "channels"] for d in DTYPES[2:]]
    + [
        (k, p, d)
        for k in ["best", "direct", "sorted", "packed"]
        for p in PATHS
        for d in DTYPES
    ],
)


@VARIANTS_AND_PATHS
def test_no_path_reads_beyond_the_map(kernel, path, dtype, before_a_guard_page):
    rois = np.float32([[0, 0, 0, 15, 8], [0, 14, 7, 15, 8]])
    for channels in 1, 3, 21, 39:
        features = before_a_guard_page(make_features((1, 8, 16, channels), dtype))
        expected, _ = roi_pool_reference(features.numpy(), rois, 2, 3, 1.0)
        try:
            pooled, _ = roi_pool_variant(features, rois, 2, 3, 1.0, kernel, path, True)
        except tf.errors.UnimplementedError as error:
            pytest.skip(error.message)
        assert_bits_equal(pooled, expected)


@pytest.mark.parametrize("with_argmax", [True, False])
@VARIANTS_AND_PATHS
def test_every_variant_and_path_equals_the_reference(kernel, path, dtype, with_argmax):
    for shape in [(2, 9, 12, 1), (2, 9, 12, 21), (2, 9, 12, 200), (2, 16, 20, 1024)]:
        features = make_features(shape, dtype)
        expected, where = roi_pool_reference(features, ROIS, 9, 7, 1.0)
        try:
            pooled, argmax = roi_pool_variant(
                features, ROIS, 9, 7, 1.0, kernel, path, with_argmax
            )
        except tf.errors.UnimplementedError as error:
            pytest.skip(error.message)
        assert_bits_equal(pooled, expected)
        if with_argmax:
            assert_bits_equal(argmax, where)


@pytest.mark.parametrize("stores", ["ordinary", "best"])
@pytest.mark.parametrize("kernel", ["direct", "sorted", "packed"])
def test_a_large_output_is_the_same_by_all_stores(kernel, stores):
    features = make_features((2, 16, 20, 1024), tf.float32)
    expected, where = roi_pool_reference(features, ROIS, 9, 7, 1.0)
    assert expected.nbytes + where.nbytes > 2**22
    pooled, argmax = roi_pool_variant(features, ROIS, 9, 7, 1.0, kernel, stores=stores)
    assert_bits_equal(pooled, expected)
    assert_bits_equal(argmax, where)


@pytest.mark.parametrize("bins", [1, 2, 3, 6, 7, 14])
def test_bin_edges_are_those_of_float32(bins):
    features = np.random.default_rng(0).random([1, 1, 300, 1], np.float32)
    rois = np.zeros([290, 5], np.float32)
    rois[:, 3] = np.arange(290)
    expected, where = roi_pool_reference(features, rois, 1, bins, 1.0)
    pooled, argmax = roi_pool(features, rois, 1, bins, 1.0)
    assert_bits_equal(pooled, expected)
    assert_bits_equal(argmax, where)


EDGES = """
#include "roi_pool_geometry.h"
extern "C" int64_t Edges(int32_t size) {
  int64_t sum = 0;
  for (int32_t p = 0; p < 7; ++p) {
    sum += op_by_op::BinSpan(p, 7, 0, size, size + 1).end;
  }
  return sum;
}
"""


@pytest.mark.parametrize("flag", ["-ffp-contract=fast", "-ffast-math"])
def test_fast_math_moves_edges_and_contraction_does_not(tmp_path, flag):
    def edges(*flags):
        here, library = Path(__file__).parent, tmp_path / f"{len(flags)}.so"
        # With start files, fast math would flush this process's subnormal numbers.
        shared = ["-shared", "-fPIC", "-nostartfiles"]
        compiled(EDGES, library, *shared, f"-I{here}", *flags)
        function = ctypes.CDLL(str(library)).Edges
        function.restype = ctypes.c_int64
        return [function(size) for size in range(1, 300)]

    # With -march=native, a * b + c could be one instruction.
    native = ["-march=native"] if platform.machine() == "x86_64" else []
    assert (edges(flag, *native) == edges()) == (flag == "-ffp-contract=fast")


@pytest.mark.parametrize("folding", [True, False])
def test_constant_folding_moves_edges_of_bins_in_a_composition(folding):
    features = np.random.default_rng(5).standard_normal((1, 38, 50, 4), np.float32)
    corners = np.random.default_rng(5).uniform(0, [16 * 50, 16 * 38], (2, 300, 2))
    corners = np.sort(corners, axis=0)
    rois = np.float32(np.concatenate([np.zeros((300, 1)), *corners], axis=1))
    call = tf.constant(features), tf.constant(rois), 7, 7, 1 / 16
    expected = roi_pool_inference(*call).numpy()
    assert_bits_equal(stock_ops.roi_pool(*call), expected)
    tf.config.optimizer.set_experimental_options({"constant_folding": folding})
    found = tf.function(stock_ops.roi_pool, autograph=False)(*call)
    tf.config.optimizer.set_experimental_options({"constant_folding": True})
    wrong = np.mean(found != expected)
    assert wrong > 0.01 if folding else wrong == 0


def test_xla_computes_the_same_with_edges_from_a_table():
    random = np.random.default_rng(5)
    features = np.float32(random.integers(-3, 4, (2, 20, 30, 3)))  # with equal ones
    corners = np.sort(random.uniform(0, [16 * 30, 16 * 20], (2, 60, 2)), axis=0)
    corners[:, 0] = np.nextafter(np.float32(8), 0)  # scaled, the number before 0.5
    image = np.arange(60)[:, np.newaxis] // 30
    rois = np.float32(np.concatenate([image, *corners], axis=1))
    call = tf.constant(features), tf.constant(rois), 7, 5, 1 / 16
    pooled, argmax = roi_pool(*call)
    compiled = tf.function(stock_xla.roi_pool, autograph=False, jit_compile=True)
    of_keys = tf.function(stock_xla.of_keys, jit_compile=True)
    np.testing.assert_array_equal(compiled(*call), pooled)
    found = of_keys(compiled(*call, with_argmax=True))
    np.testing.assert_array_equal(found[0], pooled)
    np.testing.assert_array_equal(found[1], argmax)


def test_the_solution_of_the_exercise(mode):
    library = VARIANTS.with_name("libsolution_roi_bin_sizes.so")
    sizes_of = load_op_library(library, "roi_bin_sizes").roi_bin_sizes
    features = make_features((2, 9, 12, 3), tf.float32)
    sizes = mode(sizes_of)(features, ROIS, 9, 7, 1.0).numpy()
    _, argmax = roi_pool_reference(features, ROIS, 9, 7, 1.0)
    np.testing.assert_array_equal(sizes == 0, argmax[..., 0] == -1)
    assert sizes[3, 0, 0] == 1  # 2 by 2 pixels in 9 by 7 bins


@pytest.mark.parametrize("shape", [(0, 9, 12, 3), (2, 9, 12, 0), (2, 0, 12, 3)])
@pytest.mark.parametrize("rois", [ROIS[:0], ROIS])
def test_what_is_empty_stays_empty(mode, shape, rois):
    rois = rois if shape[0] else ROIS[:0]
    features = np.zeros(shape, np.float32)
    expected, where = roi_pool_reference(features, rois, 2, 3, 1.0)
    with tf.GradientTape() as tape:
        x = tf.constant(features)
        tape.watch(x)
        pooled, argmax = mode(roi_pool)(x, rois, 2, 3, 1.0)
    assert_bits_equal(pooled, expected)
    assert_bits_equal(argmax, where)
    assert_bits_equal(tape.gradient(pooled, x), features)
    pooled, argmax = mode(roi_pool_plain)(
        features, rois, pooled_height=2, pooled_width=3, spatial_scale=1.0
    )
    assert_bits_equal(pooled, expected)
    assert_bits_equal(argmax, where)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("pool", [roi_pool, roi_pool_plain])
def test_without_channels_no_bin_is_visited(pool):
    bins = dict(pooled_height=2**24, pooled_width=2**24, spatial_scale=1.0)
    pooled, _ = pool(tf.zeros([1, 2, 2, 0]), ROIS[:1], **bins)
    assert pooled.shape == [1, 2**24, 2**24, 0]


def mapped(shape, dtype):
    """An array that has addresses, but no memory until it is written to."""
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    no_reserve = 0x4000  # mmap.MAP_NORESERVE from Python 3.13 on
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | no_reserve
    return np.frombuffer(mmap.mmap(-1, size, flags), dtype).reshape(shape)


@pytest.mark.skipif(sys.platform != "linux", reason="needs MAP_NORESERVE")
def test_features_beyond_2_31_elements():
    features = mapped([3, 27_000, 27_000, 1], np.float16)
    features[2, -1, -1], features[2, -2, -3] = 2, 3
    corner = np.float32([[2, 26_990, 26_990, 26_999, 26_999]])
    pooled, argmax = roi_pool(
        tf.experimental.dlpack.from_dlpack(features.__dlpack__()), corner, 1, 2, 1.0
    )
    np.testing.assert_array_equal(pooled.numpy().ravel(), [0, 3])
    last = 27_000 * 27_000 - 27_000 - 3
    assert argmax.numpy().ravel()[1] == last > 2**29


@pytest.mark.skipif(sys.platform != "linux", reason="needs MAP_NORESERVE")
def test_the_widest_map_ends_where_coordinates_do():
    features = mapped([1, 1, 2**29, 1], np.float16)
    features[0, 0, -1] = 3
    rois = np.float32([[0, 2**29 - 32, 0, 6e8, 0], [0, 6e8, 0, 6e8, 0]])
    pooled, argmax = roi_pool(
        tf.experimental.dlpack.from_dlpack(features.__dlpack__()), rois, 1, 1, 1.0
    )
    assert pooled.numpy().ravel().tolist() == [3, 0]
    assert argmax.numpy().ravel().tolist() == [2**29 - 1, -1]


class Sizes(ctypes.Structure):
    _fields_ = [
        *[(name, ctypes.c_int64) for name in "bhwcnpq"],
        ("spatial_scale", ctypes.c_float),
    ]


@pytest.mark.skipif(sys.platform != "linux", reason="needs MAP_NORESERVE")
@pytest.mark.parametrize("packed", [False, True])
def test_outputs_beyond_2_31_elements(packed):
    count, channels = 2**31 // 1000 // 4 + 1, 1000
    features = np.random.default_rng(0).random([1, 2, 2, channels], np.float32)
    rois = np.zeros([count, 5], np.float32)
    pooled = mapped([count, 2, 2, channels], np.float32)
    argmax = mapped([count, 2, 2, channels], np.int32)
    pool = ctypes.CDLL(VARIANTS).PoolLastRow
    sizes = Sizes(1, 2, 2, channels, count, 2, 2, 1.0)
    arrays = [
        a.ctypes.data_as(ctypes.c_void_p) for a in (features, rois, pooled, argmax)
    ]
    rois[-1] = [0, 0, 0, 1, 1]
    pool(ctypes.byref(sizes), *arrays, packed)
    np.testing.assert_array_equal(pooled[-1, 1], features[0, 1])
    np.testing.assert_array_equal(argmax[-1, 1], [[2] * channels, [3] * channels])


def test_the_plain_gradient_equals_the_op():
    features = make_features([2, 9, 12, 7], tf.float32)
    argmax = roi_pool(features, ROIS, 3, 4, 1.0).argmax.numpy()
    assert (argmax == -1).any()
    gradient = np.random.default_rng(0).normal(size=argmax.shape).astype(np.float32)
    expected = roi_pool_grad(gradient, argmax, ROIS, features.shape)
    sizes = Sizes(*features.shape, len(ROIS), 3, 4, 1.0)
    add = ctypes.CDLL(VARIANTS).AddPlain
    add.restype = ctypes.c_bool
    sums = np.zeros_like(features)
    arrays = [a.ctypes.data_as(ctypes.c_void_p) for a in (gradient, argmax, ROIS, sums)]
    assert add(ctypes.byref(sizes), *arrays)
    assert_bits_equal(sums, expected.numpy())
    for beyond in -2, 9 * 12:
        argmax[-1, -1, -1, -1] = beyond
        assert not add(ctypes.byref(sizes), *arrays)


NAN, INF = np.float32(np.nan), np.float32(np.inf)
POOL_ERRORS = {
    "features must have shape|must be rank 4": dict(features=np.zeros([4, 4, 3])),
    "rois must have shape|must be rank 2": dict(rois=np.zeros([5])),
    r"rois must have shape|must be 5": dict(rois=np.zeros([2, 4])),
    r"rois\[1, 0\], a batch index, must be a whole number in \[0, 2\), got 2": dict(
        rois=[[0] * 5, [2, 0, 0, 0, 0]]
    ),
    r"rois\[0, 0\], .* got -1": dict(rois=[[-1, 0, 0, 0, 0]]),
    r"rois\[0, 0\], .* got 0.5": dict(rois=[[0.5, 0, 0, 0, 0]]),
    r"rois\[0, 0\], .* got nan": dict(rois=[[NAN, 0, 0, 0, 0]]),
    r"rois\[0, 2\] must be finite, got nan": dict(rois=[[0, 0, NAN, 0, 0]]),
    r"rois\[0, 4\] must be finite, got -inf": dict(rois=[[0, 0, 0, 0, -INF]]),
    "spatial_scale must be a positive normal number, got 0": dict(spatial_scale=0.0),
    "spatial_scale must be a positive normal number, got -1": dict(spatial_scale=-1.0),
    "spatial_scale must be a positive normal number, got inf": dict(spatial_scale=INF),
    "spatial_scale must be a positive normal number, got nan": dict(spatial_scale=NAN),
    "spatial_scale must be a positive normal number, got 1e-38": dict(
        spatial_scale=1e-38
    ),
    "pooled_height.* minimum 1": dict(pooled_height=0),
    "pooled_width.* minimum 1": dict(pooled_width=-1),
    "pooled_height and pooled_width must be at most 16777216": dict(
        pooled_width=2**24 + 1
    ),
    r"height \* width must be less than 2\^31": dict(
        features=np.zeros([1, 2**16, 2**16, 0])
    ),
    "height and width must be at most 536870912": dict(
        features=np.zeros([1, 1, 2**29 + 1, 0])
    ),
}


@pytest.mark.parametrize("pool", [roi_pool, roi_pool_inference])
@pytest.mark.parametrize("message", POOL_ERRORS)
def test_pooling_refuses(mode, pool, message):
    inputs = dict(features=np.zeros([2, 4, 4, 3]), rois=np.zeros([2, 5]))
    attrs = dict(pooled_height=2, pooled_width=2, spatial_scale=1.0)
    inputs |= {k: v for k, v in POOL_ERRORS[message].items() if k in inputs}
    attrs |= {k: v for k, v in POOL_ERRORS[message].items() if k in attrs}
    inputs = {k: np.float32(v) for k, v in inputs.items()}
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=message):
        mode(lambda: pool(**inputs, **attrs))()


@pytest.mark.parametrize(
    "pool", [roi_pool, roi_pool_inference, roi_pool_plain, roi_bin_sizes]
)
def test_the_shape_function_refuses_what_no_rois_make_right(pool):
    attrs = dict(pooled_height=2, pooled_width=2, spatial_scale=-1.0)
    traced = tf.function(functools.partial(pool, **attrs))
    specs = tf.TensorSpec([2, 4, 4, 3]), tf.TensorSpec([None, 5])
    with pytest.raises(
        ValueError, match="spatial_scale must be a positive normal number"
    ):
        traced.get_concrete_function(*specs)


@pytest.mark.parametrize("pool", [roi_pool, roi_pool_inference, roi_pool_plain])
def test_the_shape_function_refuses_maps_that_no_argmax_reaches(pool):
    attrs = dict(pooled_height=2, pooled_width=2, spatial_scale=1.0)
    traced = tf.function(lambda x: pool(x, ROIS, **attrs), autograph=False)
    with pytest.raises(ValueError, match=r"height \* width must be less than 2\^31"):
        traced.get_concrete_function(tf.TensorSpec([2, 2**16, 2**16, 1]))


@pytest.mark.parametrize("pool", [roi_pool, roi_pool_plain])
def test_the_last_image_of_a_batch_beyond_float32(pool):
    """2**24 + 1 is no float32. Without rows, so many images need no memory."""
    images = tf.zeros([2**24 + 1, 0, 1, 1])
    attrs = dict(pooled_height=1, pooled_width=1, spatial_scale=1.0)
    assert pool(images, [[2.0**24, 0, 0, 0, 0]], **attrs).argmax.numpy() == -1
    with pytest.raises(tf.errors.InvalidArgumentError, match="got 16777218"):
        pool(images, [[2.0**24 + 2, 0, 0, 0, 0]], **attrs)


GRAD_ERRORS = {
    "gradient must have shape|must be rank 4": dict(gradient=np.zeros([2, 2, 3])),
    "argmax must have the shape of gradient|must be equal": dict(
        argmax=np.zeros([2, 2, 2, 4])
    ),
    "rois must have shape|must be rank 2": dict(rois=np.zeros([5])),
    "rois must have as many rows as gradient|must be equal": dict(
        rois=np.zeros([3, 5])
    ),
    r"rois\[1, 0\], a batch index": dict(rois=[[0] * 5, [3, 0, 0, 0, 0]]),
    r"feature_shape must have shape \[4\]|must be rank 4": dict(
        feature_shape=[1, 4, 4]
    ),
    "feature_shape must not be negative, got feature_shape.1. = -4": dict(
        feature_shape=[1, -4, 4, 3]
    ),
    "feature_shape must have the channels of gradient, 3|must be equal": dict(
        feature_shape=[1, 4, 4, 2]
    ),
    r"argmax must be in \[-1, 16\), .* got 16 at element 5": dict(argmax=16),
    r"argmax must be in \[-1, 16\), .* got -2 at element 5": dict(argmax=-2),
    r"argmax must be in \[-1, 0\), .* got 0 at element 0": dict(
        feature_shape=[1, 0, 4, 3]
    ),
    r"height \* width must be less than 2\^31": dict(
        feature_shape=[1, 2**16, 2**16, 3]
    ),
    "height and width must be at most 536870912": dict(
        feature_shape=[1, 2**29 + 1, 1, 3]
    ),
}


@pytest.mark.parametrize("message", GRAD_ERRORS)
def test_the_gradient_refuses(mode, message):
    inputs = dict(
        gradient=np.zeros([2, 2, 2, 3]),
        argmax=np.zeros([2, 2, 2, 3], np.int32),
        rois=np.zeros([2, 5]),
        feature_shape=[1, 4, 4, 3],
    )
    for key, value in GRAD_ERRORS[message].items():
        if np.ndim(value):
            inputs[key] = value
        else:
            inputs[key].flat[5] = value
    dtypes = [np.float32, np.int32, np.float32, np.int32]
    tensors = [np.array(v, dtype) for v, dtype in zip(inputs.values(), dtypes)]
    if "negative" in message:  # a traced shape takes -1 alone for unknown
        traced = tf.TensorSpec([4], tf.int32)
        mode = lambda f: tf.function(f, input_signature=[traced])  # noqa: E731
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=message):
        mode(lambda shape: roi_pool_grad(*tensors[:3], shape))(tensors[3])


@pytest.mark.parametrize(
    "features, rois, pooled",
    [
        (None, None, [None, 2, 3, None]),
        ([None] * 4, [None, None], [None, 2, 3, None]),
        ([2, None, 9, 7], None, [None, 2, 3, 7]),
        (None, [4, 5], [4, 2, 3, None]),
        ([2, 9, 9, 7], [0, 5], [0, 2, 3, 7]),
    ],
)
def test_static_shapes(features, rois, pooled):
    traced = tf.function(
        lambda x, r: (*roi_pool(x, r, 2, 3, 1.0), roi_pool_inference(x, r, 2, 3, 1.0))
    ).get_concrete_function(
        tf.TensorSpec(features, tf.half), tf.TensorSpec(rois, tf.float32)
    )
    assert [s.as_list() for s in traced.output_shapes] == [pooled] * 3


def test_static_shape_of_the_gradient():
    def shape(grad, argmax, feature_shape):
        specs = [tf.TensorSpec(grad), tf.TensorSpec(argmax, tf.int32)]
        known = feature_shape is not None
        specs += [] if known else [tf.TensorSpec([4], tf.int32)]

        def call(grad, argmax, shape=feature_shape):
            return roi_pool_grad(grad, argmax, tf.zeros([2, 5]), shape)

        return tf.function(call).get_concrete_function(*specs).output_shapes.as_list()

    assert shape(None, None, [1, 4, 5, 3]) == [1, 4, 5, 3]
    assert shape(None, [2, 2, 2, 3], None) == [None, None, None, 3]
    assert shape(None, None, None) == [None] * 4


def test_other_dtypes_are_refused(mode):
    with pytest.raises(
        (tf.errors.InvalidArgumentError, TypeError), match="allowed values"
    ):
        mode(roi_pool)(tf.zeros([1, 2, 2, 1], tf.int32), ROIS[:1], 1, 1, 1.0)


class RoiPoolGradientTest(tf.test.TestCase):
    def test_first_order(self):
        features = np.random.default_rng(0).permutation(2 * 9 * 12 * 3) / 10
        features = features.reshape(2, 9, 12, 3)
        for bins in [(3, 4), (14, 1)]:
            [analytical], [numerical] = tf.test.compute_gradient(
                lambda x, bins=bins: roi_pool(x, ROIS, *bins, 1.0)[0], [features]
            )
            np.testing.assert_allclose(analytical, numerical, atol=1e-9)

    def test_second_order(self):
        features = tf.constant(np.random.default_rng(0).normal(size=[2, 9, 12, 3]))
        gradient = np.random.default_rng(1).normal(size=[len(ROIS), 3, 4, 3])
        _, argmax = roi_pool(features, ROIS, 3, 4, 1.0)
        [analytical], [numerical] = tf.test.compute_gradient(
            lambda g: roi_pool_grad(g, argmax, ROIS, features.shape), [gradient]
        )
        np.testing.assert_allclose(analytical, numerical, atol=1e-9)
        with tf.GradientTape() as outer:
            outer.watch(features)
            with tf.GradientTape() as inner:
                inner.watch(features)
                cube = roi_pool(features, ROIS, 3, 4, 1.0).pooled ** 3
            first = inner.gradient(cube, features)
        expected = np.zeros(features.shape)
        n, i, j, c = np.nonzero(argmax.numpy() >= 0)
        where = argmax.numpy()[n, i, j, c]
        to = (ROIS[n, 0].astype(int), where // 12, where % 12, c)
        np.add.at(expected, to, 6 * features.numpy()[to])
        found = outer.gradient(first, features)
        np.testing.assert_allclose(found, expected, 1e-12)

    def test_second_order_of_a_map_without_pixels(self):
        features = tf.zeros([1, 0, 5, 3])
        with tf.GradientTape() as outer:
            outer.watch(features)
            with tf.GradientTape() as inner:
                inner.watch(features)
                squares = roi_pool(features, ROIS[:1], 2, 2, 1.0).pooled ** 2
            first = inner.gradient(squares, features)
        assert outer.gradient(first, features).shape == features.shape


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("channels", [1, 67, 130])
def test_gradient_adds_in_the_order_of_the_regions(mode, dtype, channels):
    """As NumPy adds one after the other; the half types in float, rounded once."""
    random = np.random.default_rng(0)
    shape = [2, 9, 12, channels]
    _, argmax = roi_pool(
        random.random(shape).astype(dtype.as_numpy_dtype), ROIS, 14, 9, 1.0
    )
    gradient = random.normal(size=argmax.shape) * 10.0 ** random.integers(
        -9, 5, argmax.shape
    )
    gradient = gradient.astype(dtype.as_numpy_dtype)
    actual = mode(roi_pool_grad)(gradient, argmax, ROIS, tf.constant(shape))
    with np.errstate(over="ignore"):  # to infinity
        expected = roi_pool_grad_reference(gradient, argmax.numpy(), ROIS, shape)
    assert_bits_equal(actual, expected)


def test_regions_have_no_gradient(mode):
    rois, features = tf.constant(ROIS), tf.ones([2, 9, 12, 3])

    def gradients(features, rois):
        with tf.GradientTape() as tape:
            tape.watch([features, rois])
            pooled = roi_pool(features, rois, 2, 2, 1.0).pooled
        return tape.gradient(pooled, [features, rois])

    of_features, of_rois = mode(gradients)(features, rois)
    assert of_features.shape == features.shape and of_rois is None


def test_inference_has_no_gradient():
    features = tf.ones([2, 9, 12, 3])
    with tf.GradientTape() as tape:
        tape.watch(features)
        pooled = roi_pool_inference(features, ROIS, 2, 2, 1.0)
    with pytest.raises(LookupError, match="RoiPoolInference"):
        tape.gradient(pooled, features)


def digest():
    """Of all results, which `with_threads` asks for."""
    random, results = np.random.default_rng(0), hashlib.sha256()
    corners = random.uniform(-20, 400, [64, 4])
    rois = np.float32(np.c_[random.integers(0, 2, 64), corners])
    for dtype in DTYPES:
        for shape in [(2, 30, 40, 300), (2, 9, 12, 65)]:
            features = tf.cast(random.normal(size=shape), dtype)
            pooled, argmax = roi_pool(features, rois, 7, 7, 0.1)
            inferred = roi_pool_inference(features, rois, 7, 7, 0.1)
            gradient = roi_pool_grad(pooled, argmax, rois, shape)
            for result in (pooled, argmax, inferred, gradient):
                results.update(result.numpy().tobytes())
    return results.hexdigest()


def test_results_do_not_depend_on_the_threads(with_threads):
    first, second = (with_threads(threads, digest) for threads in (1, 7))
    assert first == second and len(first) == 64


TOO_LITTLE = """
import resource
import numpy as np
import tensorflow as tf
from roi_pool import roi_pool_grad, roi_pool_inference

features = tf.zeros([1, 2048, 1100, 1])
rois = np.float32([[0, 0, 0, 1100, 2048]] * 40)
roi_pool_inference(features, rois, 7, 7, 1.0)
nothing = tf.zeros([0, 1, 1, 1], tf.half), tf.zeros([0, 1, 1, 1], tf.int32), rois[:0]
roi_pool_grad(*nothing, [1, 9, 9, 1])
lines = open("/proc/self/status").read().splitlines()
(used,) = (int(line.split()[1]) for line in lines if line.startswith("VmSize"))
resource.setrlimit(resource.RLIMIT_AS, [used * 1024 + 2**30] * 2)
for call in [
    lambda: roi_pool_inference(features, rois, 2**20, 1, 1.0),
    lambda: roi_pool_grad(*nothing, [1, 2**14, 2**14, 1]),
]:
    try:
        call()
    except tf.errors.ResourceExhaustedError as error:
        print(error.message)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and limits of memory")
def test_too_little_scratch_memory_is_an_error(in_process):
    """A gigabyte is left. Both outputs fit, 160 and 512 MiB.

    The list of the rows of bins does not, nor do the gradient's sums in float32, which each thread has of its own.
    """
    one_arena = {"MALLOC_ARENA_MAX": "1"}  # else each thread takes 64 MiB of addresses
    rows, sums = in_process(TOO_LITTLE, **one_arena).splitlines()
    assert "OOM when allocating tensor with shape[1342" in rows
    assert f"OOM when allocating tensor with shape[{4 * 2**28}]" in sums
