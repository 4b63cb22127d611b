"""Tests of RoiPool's GPU kernels: `pytest examples/roi_pool`.

Without a GPU, the kernels and their launchers run on the host (cuda_on_host.h), one thread after the other. That
finds mistakes in geometry, index arithmetic, alignment, the numbers of blocks and threads, memory that is read before
it is written, and the rounding of each dtype. It cannot see a race between threads, what nvcc makes of the code, or
the run time's own complaints; for those there are the tests at the end, which need a GPU.
"""

import mmap
import re
import subprocess
from pathlib import Path

import cmake
import numpy as np
import pytest
import tensorflow as tf
from roi_pool import roi_pool, roi_pool_grad, roi_pool_inference
from roi_pool_ctypes import (
    DTYPES,
    HERE,
    Launchers,
    Sizes,
    build_for_host,
    find_nvcc,
    ptx,
)
from roi_pool_test import ROIS, reference

LIBRARY = HERE / "libroi_pool.so"
WITH_CUDA = b"__cudaRegisterFatBinary" in LIBRARY.read_bytes()
GPU = WITH_CUDA and bool(tf.config.list_physical_devices("GPU"))
BAD_ROIS = np.float32(
    [
        [-1, 0, 0, 5, 5],
        [2, 0, 0, 5, 5],
        [0.5, 0, 0, 5, 5],
        [np.nan, 0, 0, 5, 5],
        [np.inf, 0, 0, 5, 5],
        [0, np.nan, 0, 5, 5],
        [0, 0, np.inf, 5, 5],
        [1, 0, 0, -np.inf, 5],
        [1, 0, 0, 5, np.nan],
    ]
)
on_host = pytest.mark.xdist_group("RoiPool's GPU kernels on the host")
dtypes = pytest.mark.parametrize("dtype", DTYPES)


@pytest.fixture(scope="module", params=["all blocks", "3 blocks"])
def launchers(request, tmp_path_factory) -> Launchers:
    """The kernels, built for the host; with 3 blocks, each thread has much to do."""
    library = tmp_path_factory.mktemp("host") / "libroi_pool_host.so"
    few = request.param == "3 blocks"
    build_for_host(library, *["-DOP_BY_OP_MOST_BLOCKS=3"] * few)
    return Launchers(library)


def unwritten(shape, dtype, at: int = 0) -> np.ndarray:
    """An array of rubbish, `at` elements beyond an aligned address."""
    count = int(np.prod(shape))
    rubbish = np.full(count + 16, 77, dtype)
    start = (-rubbish.ctypes.data // rubbish.itemsize) % 16 if count else 0
    return rubbish[start + at :][:count].reshape(shape)


def numpy_dtype(dtype: str) -> type:
    return tf.as_dtype(dtype).as_numpy_dtype


def sizes_of(features_shape, rois, pooled, scale) -> Sizes:
    return Sizes(*features_shape, len(rois), *pooled, scale)


def pool(launchers, features, rois, pooled, scale, at=0):
    """What the launcher gives for arrays: pooled and argmax."""
    sizes = sizes_of(features.shape, rois, pooled, scale)
    shape = [len(rois), *pooled, features.shape[3]]
    copy = unwritten(features.shape, features.dtype, at)
    copy[...] = features
    name = tf.as_dtype(features.dtype).name
    out, argmax = unwritten(shape, features.dtype, at), unwritten(shape, np.int32, at)
    launchers.pool(
        *(sizes, name, copy.ctypes.data, rois.ctypes.data),
        *(out.ctypes.data, argmax.ctypes.data),
    )
    inference = unwritten(shape, features.dtype, at)
    launchers.pool(
        sizes, name, copy.ctypes.data, rois.ctypes.data, inference.ctypes.data
    )
    assert inference.tobytes() == out.tobytes()
    return out, argmax


def pool_gradient(launchers, gradient, argmax, rois, shape, scale):
    sizes = sizes_of(shape, rois, gradient.shape[1:3], scale)
    scratch = unwritten([launchers.scratch_bytes(sizes)], np.int8)
    features = unwritten(shape, gradient.dtype)
    launchers.gradient(
        *(sizes, tf.as_dtype(gradient.dtype).name),
        *(gradient.ctypes.data, argmax.ctypes.data, rois.ctypes.data),
        *(scratch.ctypes.data, features.ctypes.data),
    )
    return features


def reference_gradient(gradient, argmax, rois, shape):
    """Adds in the order of the regions and bins, half and bfloat16 in float32."""
    wide = np.float64 if gradient.dtype == np.float64 else np.float32
    batch, height, width, channels = shape
    sums = np.zeros([batch, height * width, channels], wide)
    for r, i, j, c in np.argwhere(argmax >= 0):
        sums[int(rois[r, 0]), argmax[r, i, j, c], c] += wide(gradient[r, i, j, c])
    return sums.astype(gradient.dtype).reshape(shape)


def assert_same_bits(actual, expected):
    np.testing.assert_array_equal(actual, expected, strict=True)
    assert actual.tobytes() == expected.tobytes()


def integers(shape, dtype, seed=0):
    """Few different values: many ties."""
    random = np.random.default_rng(seed)
    return random.integers(-20, 20, shape).astype(numpy_dtype(dtype))


@on_host
@dtypes
@pytest.mark.parametrize("channels", [1, 3, 4, 6, 8, 33, 130, 512])
def test_kernel_equals_the_reference(launchers, dtype, channels):
    features = integers([2, 9, 12, channels], dtype)
    out, argmax = pool(launchers, features, ROIS, (3, 4), 1.0)
    expected, where = reference(features, ROIS, (3, 4), 1.0)
    assert_same_bits(out, expected)
    assert_same_bits(argmax, where)


@on_host
@dtypes
@pytest.mark.parametrize("pooled", [(1, 1), (7, 7), (14, 2), (1, 40)])
def test_every_number_of_bins(launchers, dtype, pooled):
    features = integers([2, 9, 12, 4], dtype)
    for scale in (1.0, 1 / 3, 2.0):
        out, argmax = pool(launchers, features, ROIS, pooled, scale)
        expected, where = reference(features, ROIS, pooled, scale)
        assert_same_bits(out, expected)
        assert_same_bits(argmax, where)


@on_host
@dtypes
def test_kernel_with_special_values(launchers, dtype):
    random = np.random.default_rng(0)
    special = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, -1.0, 6e-8])
    features = random.choice(special, [2, 9, 12, 8]).astype(numpy_dtype(dtype))
    features[..., 0] = np.nan
    features[..., 1] = -np.inf
    out, argmax = pool(launchers, features, ROIS, (3, 4), 1.0)
    expected, where = reference(features, ROIS, (3, 4), 1.0)
    assert (expected[where[..., 0] >= 0][:, 0] == -np.inf).all()  # of NaN alone
    assert_same_bits(out, expected)
    assert_same_bits(argmax, where)


@on_host
def test_bad_regions_give_zero(launchers):
    features = integers([2, 9, 12, 5], "float32")
    rois = np.concatenate([ROIS[:3], BAD_ROIS, ROIS[3:]])
    out, argmax = pool(launchers, features, rois, (3, 4), 1.0)
    good = np.r_[:3, 3 + len(BAD_ROIS) : len(rois)]
    expected, where = reference(features, rois[good], (3, 4), 1.0)
    assert_same_bits(out[good], expected)
    assert_same_bits(argmax[good], where)
    assert not np.delete(out, good, 0).any()
    assert (np.delete(argmax, good, 0) == -1).all()

    gradient = integers(out.shape, "float32", 1)
    argmax = np.abs(argmax)  # so that the bad ones name a pixel
    actual = pool_gradient(launchers, gradient, argmax, rois, features.shape, 0)
    assert_same_bits(
        actual,
        reference_gradient(gradient[good], argmax[good], rois[good], features.shape),
    )


@on_host
@dtypes
@pytest.mark.parametrize("at", [1, 2])
def test_memory_that_is_not_aligned_to_vectors(launchers, dtype, at):
    features = integers([2, 9, 12, 16], dtype)
    out, argmax = pool(launchers, features, ROIS, (3, 4), 1.0, at)
    expected, where = reference(features, ROIS, (3, 4), 1.0)
    assert_same_bits(out, expected)
    assert_same_bits(argmax, where)


@on_host
@pytest.mark.parametrize(
    ("shape", "num_rois"),
    [
        ((2, 9, 12, 3), 0),
        ((2, 9, 12, 0), 3),
        ((0, 9, 12, 3), 0),
        ((1, 0, 12, 3), 3),
        ((1, 9, 0, 3), 3),
    ],
)
def test_nothing(launchers, shape, num_rois):
    rois = np.zeros([num_rois, 5], np.float32)
    out, argmax = pool(launchers, np.zeros(shape, np.float32), rois, (3, 4), 1.0)
    assert not out.any()
    assert (argmax == -1).all()
    actual = pool_gradient(launchers, out, argmax, rois, shape, 1.0)
    assert_same_bits(actual, np.zeros(shape, np.float32))


@on_host
@dtypes
@pytest.mark.parametrize("channels", [1, 6, 33, 512])
@pytest.mark.parametrize("scale", [1.0, 0.25])
def test_gradient_equals_the_reference(launchers, dtype, channels, scale):
    shape = (2, 9, 12, channels)
    features = integers(shape, dtype)
    out, argmax = pool(launchers, features, ROIS, (3, 4), scale)
    random = np.random.default_rng(1)
    gradient = random.normal(size=out.shape).astype(numpy_dtype(dtype))
    expected = reference_gradient(gradient, argmax, ROIS, shape)
    for known in (scale, 0):
        actual = pool_gradient(launchers, gradient, argmax, ROIS, shape, known)
        assert_same_bits(actual, expected)


def random_rois(random, count, batch, height, width, scale):
    corners = (
        random.uniform(-0.2, 1.2, [count, 4]) * [width, height, width, height] / scale
    )
    image = random.integers(batch, size=[count, 1])
    return np.concatenate([image, corners], 1).astype(np.float32)


@on_host
@pytest.mark.parametrize("seed", range(30))
def test_no_bin_of_a_tile_is_missed(launchers, seed):
    """Random geometries: which bins the gradient skips, against all of them."""
    random = np.random.default_rng(seed)
    height, width, pooled_height, pooled_width = random.integers(1, [60, 60, 16, 16])
    scale = random.choice([1 / 16, 0.3, 1.0, 3.7])
    rois = random_rois(random, 70, 2, height, width, scale)
    features = random.normal(size=(2, height, width, 2)).astype(np.float32)
    out, argmax = pool(launchers, features, rois, (pooled_height, pooled_width), scale)
    gradient = random.normal(size=out.shape).astype(np.float32)
    expected = reference_gradient(gradient, argmax, rois, features.shape)
    for known in (scale, 0):
        actual = pool_gradient(launchers, gradient, argmax, rois, features.shape, known)
        assert_same_bits(actual, expected)


def pages(elements: int, dtype) -> np.ndarray:
    """Zeros that take no memory until they are written."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
    return np.frombuffer(
        mmap.mmap(-1, elements * np.dtype(dtype).itemsize, flags), dtype
    )


@on_host
def test_more_than_2_to_the_31_elements(launchers):
    shape = (3, 30_000, 60_000, 2)
    features = pages(int(np.prod(shape)), np.float16).reshape(shape)
    features[2, -3:, -3:] = integers([3, 3, 2], "float16")
    x1, y1, x2, y2 = 59_996, 29_997, 59_999, 29_999
    rois = np.float32([[2, x1, y1, x2, y2]])
    sizes = sizes_of(shape, rois, (1, 1), 1.0)
    out, argmax = unwritten([1, 1, 1, 2], np.float16), unwritten([1, 1, 1, 2], np.int32)
    launchers.pool(
        *(sizes, "float16", features.ctypes.data, rois.ctypes.data),
        *(out.ctypes.data, argmax.ctypes.data),
    )
    corner = features[2, y1 : y2 + 1, x1 : x2 + 1].reshape(-1, 2)
    first = corner.argmax(0)
    assert_same_bits(out.ravel(), corner[first, range(2)])
    position = (y1 + first // 4) * 60_000 + x1 + first % 4
    np.testing.assert_array_equal(argmax.ravel(), position)


@on_host
def test_gradient_of_more_than_2_to_the_31_elements(launchers):
    shape, num_rois = (1, 8, 8, 512), 1100
    rois = np.full([num_rois, 5], -1, np.float32)
    rois[-1] = [0, 0, 0, 7, 7]
    pooled = (num_rois, 64, 64, 512)
    argmax = pages(int(np.prod(pooled)), np.int32).reshape(pooled)
    gradient = pages(int(np.prod(pooled)), np.float16).reshape(pooled)
    assert gradient[-1, 0].ctypes.data - gradient.ctypes.data > 2**32
    gradient[-1, 0, 0] = np.arange(512)
    features = pool_gradient(launchers, gradient, argmax, rois, shape, 1.0)
    expected = np.zeros(shape, np.float16)
    expected[0, 0, 0] = np.arange(512)
    assert_same_bits(features, expected)


@on_host
def test_argmax_that_is_no_pixel_is_left_out(launchers):
    shape = (1, 9, 9, 2)
    gradient = np.ones([1, 1, 2, 2], np.float32)
    argmax = np.int32(
        [
            81,
            90,
            -1,
            -2,
        ]
    ).reshape(1, 1, 2, 2)
    rois = np.float32([[0, 0, 0, 8, 8]])
    for scale in (1.0, 0):
        features = pool_gradient(launchers, gradient, argmax, rois, shape, scale)
        assert not features.any()


@on_host
def test_copy_to_host(launchers):
    copied = np.zeros_like(ROIS)
    launchers.copy_to_host(ROIS.ctypes.data, copied.ctypes.data, ROIS.nbytes)
    assert_same_bits(copied, ROIS)


def check_cuda_runtime(library: Path) -> subprocess.CompletedProcess:
    return subprocess.run(
        [
            *(Path(cmake.CMAKE_BIN_DIR) / "cmake", "-D", "NM=nm"),
            *("-D", f"LIBRARY={library}", "-P"),
            HERE.parents[1] / "cmake" / "CheckCudaRuntime.cmake",
        ],
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("missing", ["cudaMalloc", "__cudaPushCallConfiguration"])
def test_the_build_fails_where_the_cuda_runtime_is_missing(tmp_path, missing):
    library = tmp_path / "libwrong.so"
    code = f'extern "C" int {missing}(); int f() {{ return {missing}(); }}'
    subprocess.run(
        ["c++", "-shared", "-fPIC", "-x", "c++", "-", "-o", library],
        input=code,
        text=True,
        check=True,
    )
    run = check_cuda_runtime(library)
    assert run.returncode
    message = " ".join(run.stderr.split())
    assert f"libwrong.so lacks 1 CUDA functions, {missing} for one: " in message
    assert "link the CUDA runtime before TensorFlow" in message
    assert not library.exists()


def test_the_library_has_the_cuda_runtime():
    assert check_cuda_runtime(LIBRARY).returncode == 0


@pytest.mark.skipif(not WITH_CUDA, reason="built without CUDA")
@pytest.mark.skipif(GPU, reason="there is a GPU")
def test_without_a_driver_the_launcher_says_so():
    """The runtime that answers is the library's own: TensorFlow's stubs would have no such text."""
    no_gpu = re.compile("driver|device", re.I)
    launchers = Launchers(LIBRARY)
    with pytest.raises(RuntimeError, match=no_gpu):
        launchers.copy_to_host(0, 0, 4)
    sizes = Sizes(1, 1, 1, 1, 1, 1, 1, 1.0)
    with pytest.raises(RuntimeError, match=no_gpu):
        launchers.pool(sizes, "float32", 0, 0, 0)
    with pytest.raises(RuntimeError, match=no_gpu):
        launchers.gradient(sizes, "float32", 0, 0, 0, 0, 0)


@pytest.mark.skipif(not WITH_CUDA, reason="built without CUDA")
def test_vectors_are_read_and_written_at_once():
    """Not only in the source: nvcc would split what `Store` writes."""
    entry = re.compile(r"\.entry \w*PoolKernelI(\w+?)Li(\d+)ELb.*?^}", re.M | re.S)
    kernels = list(entry.finditer(ptx(find_nvcc())))
    assert {kernel[2] for kernel in kernels} == {"1", "2", "4", "8"}
    for kernel in kernels:
        if kernel[2] != "1":
            at_once = re.findall(r"(ld|st)\.global\S*\.v[24]\.", kernel[0])
            assert set(at_once) == {"ld", "st"}, kernel[1]
            assert not re.search(r"st\.global\.\w+\s", kernel[0]), kernel[1]


@pytest.mark.skipif(not WITH_CUDA, reason="built without CUDA")
def test_kernels_of_every_architecture():
    library = LIBRARY.read_bytes()
    kernels = set(re.findall(rb"_Z\w*(?:Pool|Gradient|Box|Touch)Kernel\w*", library))
    assert len(kernels) >= 4 * 4 + 4 + 3 + 2


def test_devices_of_the_kernels():
    from tensorflow.python.framework import kernels

    for op in ("RoiPool", "RoiPoolInference", "RoiPoolGrad"):
        registered = kernels.get_registered_kernels_for_op(op).kernel
        gpu = [kernel for kernel in registered if kernel.device_type == "GPU"]
        assert len(gpu) == WITH_CUDA
        for kernel in gpu:
            expected = ["feature_shape"] if op == "RoiPoolGrad" else []
            assert list(kernel.host_memory_arg) == expected


needs_gpu = pytest.mark.skipif(
    not GPU, reason="no GPU" if WITH_CUDA else "built without CUDA"
)


@pytest.fixture
def gpu():
    """A scope whose ops run on the GPU or fail: soft placement would move them to the CPU."""
    soft = tf.config.get_soft_device_placement()
    tf.config.set_soft_device_placement(False)
    with tf.device("GPU:0"):
        yield
    tf.config.set_soft_device_placement(soft)


@needs_gpu
@dtypes
@pytest.mark.parametrize("channels", [1, 3, 8, 33, 512])
def test_gpu_equals_the_cpu(gpu, mode, dtype, channels):
    features = tf.constant(integers([2, 9, 12, channels], dtype))
    out, argmax = mode(roi_pool)(features, ROIS, 3, 4, 1.0)
    assert "GPU" in out.device and "GPU" in argmax.device
    inference = mode(roi_pool_inference)(features, ROIS, 3, 4, 1.0)
    gradient = tf.cast(tf.random.stateless_normal(out.shape, [0, 0]), dtype)
    back = mode(roi_pool_grad)(
        gradient, argmax, ROIS, features.shape, spatial_scale=1.0
    )
    assert "GPU" in back.device
    with tf.device("CPU:0"):
        expected, where = roi_pool(features, ROIS, 3, 4, 1.0)
        expected_back = roi_pool_grad(gradient, where, ROIS, features.shape)
    assert_same_bits(out.numpy(), expected.numpy())
    assert_same_bits(inference.numpy(), expected.numpy())
    assert_same_bits(argmax.numpy(), where.numpy())
    assert_same_bits(back.numpy(), expected_back.numpy())


@needs_gpu
def test_gpu_gradient_is_the_same_each_time(gpu):
    random = np.random.default_rng(0)
    rois = random_rois(random, 500, 2, 38, 50, 1.0)
    features = tf.constant(random.normal(size=(2, 38, 50, 256)).astype(np.float32))
    out, argmax = roi_pool(features, rois, 7, 7, 1.0)
    gradient = tf.random.stateless_normal(out.shape, [0, 0])
    first, *others = (
        roi_pool_grad(gradient, argmax, rois, features.shape, spatial_scale=1.0)
        for _ in range(5)
    )
    for other in others:
        assert_same_bits(other.numpy(), first.numpy())


@needs_gpu
def test_bad_regions_on_the_gpu(gpu):
    features = tf.ones([2, 9, 12, 5])
    for roi in BAD_ROIS[:, None]:
        out, argmax = roi_pool(features, roi, 3, 4, 1.0)
        assert not out.numpy().any() and (argmax.numpy() == -1).all()
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"rois\[0, \d\]"):
            roi_pool(features, roi, 3, 4, 1.0, check_rois=True)
    out, _ = roi_pool(features, ROIS, 3, 4, 1.0, check_rois=True)
    assert "GPU" in out.device
