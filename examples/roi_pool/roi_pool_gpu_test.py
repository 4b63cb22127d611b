"""Tests of RoiPool's GPU kernels and host code: `pytest examples/roi_pool`.

Without a GPU, the kernels and their launchers run on the host (cuda_on_host.h), one thread after the other. That
finds mistakes in geometry, index arithmetic, alignment, the numbers of blocks and threads, memory that is read before
it is written, and the rounding of each dtype. TensorFlow's side runs there, too (gpu_ops_on_host.cc): which
kernels it registers, in which order, with what and on which stream it calls the run time, and what it does when such
a call fails. Nothing of this can see a race between threads, what nvcc makes of the code, or the run time's own
complaints. `make test-gpu` runs the tests of the kernels on a GPU as well, and those at the end, of the op.
"""

import contextlib
import ctypes
import mmap
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import cmake
import numpy as np
import pytest
import tensorflow as tf
from cuda_on_host import Cuda, find_nvcc, ops_on_host
from cuda_on_host import on_host as built_for_host
from roi_pool import roi_pool, roi_pool_grad, roi_pool_inference
from roi_pool_ctypes import DTYPES, HERE, Launchers, Sizes, ptx
from roi_pool_reference import roi_pool_grad_reference, roi_pool_reference
from roi_pool_test import ROIS
from tensorflow.python.framework import kernels as registry
from tensorflow.python.framework import op_def_registry

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
needs_gpu = pytest.mark.skipif(
    not GPU,
    reason="sees no GPU: GPUS_OF_TESTS=0 shows it one"
    if WITH_CUDA
    else "built without CUDA",
)
dtypes = pytest.mark.parametrize("dtype", DTYPES)


@pytest.fixture(scope="module")
def kernels_on_host() -> Path:
    return built_for_host(HERE / "roi_pool.cu.cc")


class OnGpu(Launchers):
    """The launchers on a GPU, for arrays of the host: what they read is copied there, what they write is copied back.

    Each array gets an allocation of its own, so that compute-sanitizer sees who leaves it. Its address has the
    alignment of the array's.
    """

    def __init__(self, library: Path) -> None:
        super().__init__(library)
        self._driver = ctypes.CDLL("libcuda.so.1")
        context = ctypes.c_void_p()
        self._call("cuInit", 0)
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self._call("cuCtxSetCurrent", context)

    def _call(self, function: str, *arguments: object) -> None:
        if code := getattr(self._driver, function)(*arguments):
            name = ctypes.c_char_p()
            self._driver.cuGetErrorName(code, ctypes.byref(name))
            if name.value == b"CUDA_ERROR_OUT_OF_MEMORY":
                pytest.skip("needs more of the GPU's memory")
            raise RuntimeError(f"{function}: {(name.value or b'unknown').decode()}")

    @contextlib.contextmanager
    def _copies(self, read: list, written: list) -> Iterator[list[int]]:
        """Addresses on the GPU for (address, bytes) on the host.

        What is read is there, what will be written is full of rubbish, and without an address nothing is copied.
        """
        with contextlib.ExitStack() as stack:
            arrays = []
            for address, size in [*read, *written]:
                shift, memory = (address or 0) % 16, ctypes.c_uint64()
                space = ctypes.c_size_t(shift + max(size, 1))
                self._call("cuMemAlloc_v2", ctypes.byref(memory), space)
                stack.callback(self._call, "cuMemFree_v2", memory)
                place = ctypes.c_uint64(memory.value + shift)
                arrays.append((place, ctypes.c_void_p(address), ctypes.c_size_t(size)))
            for place, host, size in arrays[: len(read)]:
                self._call("cuMemcpyHtoD_v2", place, host, size)
            results = [array for array in arrays[len(read) :] if array[1]]
            for place, _, size in results:
                self._call("cuMemsetD8_v2", place, 77, size)
            yield [place.value for place, _, _ in arrays]
            self._call("cuCtxSynchronize")
            for place, host, size in results:
                self._call("cuMemcpyDtoH_v2", host, place, size)

    @staticmethod
    def _bytes(sizes: Sizes, dtype: str) -> tuple[int, int, int, int]:
        """Of the map, the regions, the result and its argmax."""
        item = tf.as_dtype(dtype).size
        bins = sizes.num_rois * sizes.pooled_height * sizes.pooled_width
        pixels = sizes.batch * sizes.height * sizes.width
        return (
            *(pixels * sizes.channels * item, sizes.num_rois * 20),
            *(bins * sizes.channels * item, bins * sizes.channels * 4),
        )

    def pool(self, sizes, dtype, features, rois, pooled, argmax=None, scratch=None):
        of_map, of_rois, of_pooled, of_argmax = self._bytes(sizes, dtype)
        read = [(features, of_map), (rois, of_rois)]
        written = [(pooled, of_pooled)]
        if argmax is not None:
            written.append((argmax, of_argmax))
        if scratch is not None:
            written.append((None, self.pool_scratch_bytes(sizes, dtype)))
        with self._copies(read, written) as places:
            memory = places.pop() if scratch is not None else None
            super().pool(sizes, dtype, *places, scratch=memory)

    def gradient(self, sizes, dtype, gradient, argmax, rois, scratch, features):
        of_map, of_rois, of_pooled, of_argmax = self._bytes(sizes, dtype)
        read = [(gradient, of_pooled), (argmax, of_argmax), (rois, of_rois)]
        written = [(None, self.scratch_bytes(sizes)), (features, of_map)]
        with self._copies(read, written) as places:
            super().gradient(sizes, dtype, *places)

    def copy_to_host(self, on_device, on_host, size):
        with self._copies([(on_device, size)], []) as (place,):
            super().copy_to_host(place, on_host, size)


@pytest.fixture(
    scope="module",
    params=[
        "all blocks",
        "3 blocks",
        pytest.param("a real GPU", marks=[needs_gpu, pytest.mark.gpu]),
    ],
)
def launchers(request, kernels_on_host) -> Launchers:
    """The kernels, built for the host; with 3 blocks, each thread has much to do, and tiles and windows are large."""
    if request.param == "a real GPU":
        return OnGpu(LIBRARY)
    if request.param == "all blocks":
        return Launchers(kernels_on_host)
    names = "MOST_BLOCKS=3", "LARGE_MAP=1", "TIMES_READ=0"
    flags = [f"-DOP_BY_OP_{name}" for name in names]
    return Launchers(built_for_host(HERE / "roi_pool.cu.cc", *flags))


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
    """What the launcher gives for arrays: pooled and argmax, the same with memory for windows and without."""
    sizes = sizes_of(features.shape, rois, pooled, scale)
    shape = [len(rois), *pooled, features.shape[3]]
    copy = unwritten(features.shape, features.dtype, at)
    copy[...] = features
    name = tf.as_dtype(features.dtype).name
    memory = unwritten([launchers.pool_scratch_bytes(sizes, name)], np.int8)
    found = []
    for scratch in [memory.ctypes.data] * bool(memory.size) + [None]:
        out = unwritten(shape, features.dtype, at)
        argmax = unwritten(shape, np.int32, at)
        inference = unwritten(shape, features.dtype, at)
        for results in ((out, argmax), (inference,)):
            launchers.pool(
                *(sizes, name, copy.ctypes.data, rois.ctypes.data),
                *(result.ctypes.data for result in results),
                scratch=scratch,
            )
        assert inference.tobytes() == out.tobytes()
        found.append((out, argmax))
    for one, other in zip(found[0], found[-1]):
        assert_same_bits(one, other)
    return found[0]


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
    expected, where = roi_pool_reference(features, ROIS, 3, 4, 1.0)
    assert_same_bits(out, expected)
    assert_same_bits(argmax, where)


@on_host
@dtypes
@pytest.mark.parametrize("pooled", [(1, 1), (7, 7), (14, 2), (1, 40)])
def test_every_number_of_bins(launchers, dtype, pooled):
    features = integers([2, 9, 12, 4], dtype)
    for scale in (1.0, 1 / 3, 2.0):
        out, argmax = pool(launchers, features, ROIS, pooled, scale)
        expected, where = roi_pool_reference(features, ROIS, *pooled, scale)
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
    expected, where = roi_pool_reference(features, ROIS, 3, 4, 1.0)
    assert (expected[where[..., 0] >= 0][:, 0] == -np.inf).all()  # of NaN alone
    assert_same_bits(out, expected)
    assert_same_bits(argmax, where)


@on_host
@dtypes
@pytest.mark.parametrize("shape", [(1, 2, 2, 8), (2, 37, 41, 16), (1, 129, 130, 8)])
def test_windows_of_many_overlapping_regions(launchers, dtype, shape):
    """Of regions that are smaller than a window, of bins as large as a map, of equal values and of NaN."""
    random = np.random.default_rng(0)
    features = random.integers(-3, 4, shape).astype(numpy_dtype(dtype))
    features[random.random(shape) < 0.1] = np.nan
    features[features == 0] *= random.choice([-1, 1])
    features[:, :, shape[2] // 2 :] -= np.float16(np.inf)
    rois = random_rois(random, 40, *shape[:3], 1.0)
    rois[:10, 3:] = rois[:10, 1:3] + random.uniform(0, 3, [10, 2])
    rois[10] = [0, 0, 0, shape[2], shape[1]]
    for pooled in ((1, 1), (3, 2), (7, 7)):
        out, argmax = pool(launchers, features, rois, pooled, 1.0)
        expected, where = roi_pool_reference(features, rois, *pooled, 1.0)
        assert_same_bits(out, expected)
        assert_same_bits(argmax, where)


@on_host
def test_bad_regions_give_zero(launchers):
    features = integers([2, 9, 12, 5], "float32")
    rois = np.concatenate([ROIS[:3], BAD_ROIS, ROIS[3:]])
    out, argmax = pool(launchers, features, rois, (3, 4), 1.0)
    good = np.r_[:3, 3 + len(BAD_ROIS) : len(rois)]
    expected, where = roi_pool_reference(features, rois[good], 3, 4, 1.0)
    assert_same_bits(out[good], expected)
    assert_same_bits(argmax[good], where)
    assert not np.delete(out, good, 0).any()
    assert (np.delete(argmax, good, 0) == -1).all()

    gradient = integers(out.shape, "float32", 1)
    argmax = np.abs(argmax)  # so that the bad ones name a pixel
    actual = pool_gradient(launchers, gradient, argmax, rois, features.shape, 0)
    assert_same_bits(
        actual,
        roi_pool_grad_reference(
            gradient[good], argmax[good], rois[good], features.shape
        ),
    )


def test_the_last_image_of_a_batch_beyond_float32(launchers):
    features = np.ones([2**24 + 1, 1, 1, 1], np.float32)
    rois = np.float32([[2**24, 0, 0, 0, 0], [2**24 + 2, 0, 0, 0, 0]])
    pooled, argmax = pool(launchers, features, rois, (1, 1), 1.0)
    assert pooled.ravel().tolist() == [1, 0] and argmax.ravel().tolist() == [0, -1]


@on_host
@dtypes
@pytest.mark.parametrize("at", [1, 2])
def test_memory_that_is_not_aligned_to_vectors(launchers, dtype, at):
    features = integers([2, 9, 12, 16], dtype)
    out, argmax = pool(launchers, features, ROIS, (3, 4), 1.0, at)
    expected, where = roi_pool_reference(features, ROIS, 3, 4, 1.0)
    assert_same_bits(out, expected)
    assert_same_bits(argmax, where)


@on_host
@pytest.mark.parametrize(
    ("shape", "num_rois"),
    [
        ((2, 9, 12, 3), 0),
        ((2, 9, 12, 0), 3),
        ((0, 9, 12, 3), 0),
        ((0, 128, 129, 8), 3),  # large enough for windows, but without any
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
    expected = roi_pool_grad_reference(gradient, argmax, ROIS, shape)
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
    expected = roi_pool_grad_reference(gradient, argmax, rois, features.shape)
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


@pytest.fixture(scope="module")
def loaded(kernels_on_host) -> Cuda:
    tf.load_library(str(ops_on_host(HERE / "roi_pool_gpu.cc", kernels_on_host)))
    return Cuda(kernels_on_host)


@pytest.fixture
def cuda(loaded) -> Iterator[Cuda]:
    """The run time that TensorFlow's side calls in `on_cpu`."""
    loaded.calls()
    yield loaded
    loaded.fail_at(0)


@on_host
def test_neighbouring_threads_have_neighbouring_channels(kernels_on_host):
    cuda = Cuda(kernels_on_host)
    features = integers([2, 9, 12, 256], "float32")
    sizes = sizes_of(features.shape, ROIS, (3, 4), 1.0)
    for thread in range(32):
        pooled = np.full([len(ROIS), 3, 4, 256], np.nan, np.float32)
        with cuda.only_thread(thread):
            Launchers(kernels_on_host).pool(
                *(sizes, "float32", features.ctypes.data),
                *(ROIS.ctypes.data, pooled.ctypes.data),
            )
        (own,) = np.nonzero(~np.isnan(pooled[0, 0, 0]))
        first = 4 * thread + np.arange(4)
        np.testing.assert_array_equal(own, [*first, *first + 128])


@on_host
def test_many_bins_are_shared_out_to_the_most_blocks(kernels_on_host):
    cuda = Cuda(kernels_on_host)
    cuda.calls()
    pooled = pages(2**30, np.float16)
    rois = pages(2**10 * 5, np.float32).reshape(-1, 5)
    sizes = sizes_of((1, 1, 1, 1), rois, (2**10, 2**10), 1.0)
    one = np.float16([3])
    with cuda.first_and_last_blocks_alone():
        Launchers(kernels_on_host).pool(
            sizes, "float16", one.ctypes.data, rois.ctypes.data, pooled.ctypes.data
        )
    assert cuda.calls() == [("launch", 2**20, 256, 0, 0)]
    # Each thread of the last block has a bin in each fourth of them.
    done = pooled.reshape(4, 2**20, 256)[:, -1]
    np.testing.assert_array_equal(done, 3)


@on_host
def test_gradient_of_the_last_tile_of_the_widest_map(kernels_on_host):
    cuda = Cuda(kernels_on_host)
    cuda.calls()
    width = 2**31 - 1
    gradient, argmax = np.float16([7]), np.int32([width - 1])
    rois = np.zeros([1, 5], np.float32)
    sizes = sizes_of((1, 1, width, 1), rois, (1, 1), 0)
    launchers = Launchers(kernels_on_host)
    scratch = pages(launchers.scratch_bytes(sizes), np.int8)
    features = pages(width, np.float16)
    with cuda.first_and_last_blocks_alone():
        launchers.gradient(
            *(sizes, "float16", gradient.ctypes.data, argmax.ctypes.data),
            *(rois.ctypes.data, scratch.ctypes.data, features.ctypes.data),
        )
    assert [call[1] for call in cuda.calls()] == [2**20] * 3
    np.testing.assert_array_equal(features[-8:], [0] * 7 + [7])


OPS = ["RoiPool", "RoiPoolInference", "RoiPoolGrad"]
STREAM = 4711  # of gpu_ops_on_host.cc


def on_cpu(op, *tensors, label="", **attrs):
    """What the kernel with this label gives: "" is the CPU's own, "on_host" the GPU's."""

    @tf.function(autograph=False)
    def run(*tensors):
        labels = dict.fromkeys(OPS, label)
        with tf.compat.v1.get_default_graph()._kernel_label_map(labels):
            return op(*tensors, **attrs)

    tensors = [tf.convert_to_tensor(tensor) for tensor in tensors]
    unknown = [tf.TensorSpec(None, tensor.dtype) for tensor in tensors]
    with tf.device("CPU:0"):
        results = run.get_concrete_function(*unknown)(*tensors)
    return [result.numpy() for result in tf.nest.flatten(results)]


def assert_same_on_gpu_code(op, *tensors, **attrs):
    results = on_cpu(op, *tensors, **attrs)
    for actual, expected in zip(
        on_cpu(op, *tensors, label="on_host", **attrs), results, strict=True
    ):
        assert_same_bits(actual, expected)
    return results


def pool_attrs(pooled, scale, **more):
    height, width = pooled
    return {
        "pooled_height": height,
        "pooled_width": width,
        "spatial_scale": scale,
        **more,
    }


def assert_launches(cuda: Cuda, *launches: tuple) -> None:
    calls = cuda.calls()
    for call, expected in zip(calls, launches, strict=False):
        assert call == ("launch", *expected, STREAM)
    assert len(calls) == len(launches)


def shared_out(work: int, blocks_of: int) -> int:
    return -(-work // blocks_of)


@pytest.mark.parametrize("known_scale", [0.5, 0.0])
@pytest.mark.parametrize(
    ("dtype", "channels", "team", "threads", "of_a_block"),
    [
        # A thread works on two vectors of 16 bytes or on two elements at once, and at most 32 threads on a bin. Of the
        # gradient, a warp of 32 threads or two have one or two elements each, and the sums of a tile, four pixels, in
        # registers.
        ("float16", 512, 32, 64, 128),
        ("float16", 33, 32, 64, 64),
        ("bfloat16", 8, 1, 32, 64),
        ("float32", 24, 4, 32, 64),
        ("float32", 130, 32, 64, 128),
        ("float64", 6, 2, 32, 32),
        ("float64", 100, 32, 64, 64),
    ],
)
def test_launches(cuda, dtype, channels, team, threads, of_a_block, known_scale):
    batch, height, width, num_rois = 2, 20, 25, 300
    random = np.random.default_rng(0)
    rois = random_rois(random, num_rois, batch, height, width, 0.5)
    features = integers([batch, height, width, channels], dtype)
    attrs = pool_attrs((3, 4), 0.5)
    bins = num_rois * 3 * 4
    for op in (roi_pool_inference, roi_pool):
        pooled, *argmax = assert_same_on_gpu_code(op, features, rois, **attrs)
        assert_launches(cuda, (shared_out(bins * team, 256), 256, 0))

    gradient = random.normal(size=pooled.shape).astype(numpy_dtype(dtype))
    assert_same_on_gpu_code(
        *(roi_pool_grad, gradient, *argmax, rois, np.int32(features.shape)),
        spatial_scale=known_scale,
    )
    down, across = shared_out(height, 2), shared_out(width, 2)
    tiles = batch * down * across
    words = tiles * 2 * shared_out(num_rois, 128)
    chunks = shared_out(channels, of_a_block)
    assert_launches(
        cuda,
        (shared_out(num_rois * (down + across), 256), 256, 0),
        (shared_out(words, 256), 256, 0),
        (tiles * chunks, threads, 0),
    )


@on_host
def test_windows_are_found_for_a_large_map_with_many_regions(cuda):
    random = np.random.default_rng(0)
    rois = random_rois(random, 16, 2, 128, 129, 1.0)
    features = integers([2, 128, 129, 8], "float32")
    attrs = pool_attrs((3, 4), 1.0)
    pool_alone = shared_out(len(rois) * 12, 256), 256, 0
    strips, across, groups = 8, 126, 2
    windows = shared_out(2 * strips * across * groups, 256), 256, 0
    for op in (roi_pool, roi_pool_inference):
        assert_same_on_gpu_code(op, features, rois, **attrs)
        assert_launches(cuda, (1, 256, 0), windows, pool_alone)
        # Regions of a few pixels, too few regions, and channels that fill no vector.
        assert_same_on_gpu_code(op, features, rois[:15], **attrs)
        assert_launches(cuda, (shared_out(15 * 12, 256), 256, 0))
        assert_same_on_gpu_code(op, features[..., :6], rois, **attrs)
        assert len(cuda.calls()) == 1


@on_host
def test_regions_are_checked_on_the_host_where_asked(cuda):
    features = integers([2, 9, 12, 5], "float32")
    check = pool_attrs((3, 4), 1.0, check_rois=True)
    assert_same_on_gpu_code(roi_pool, features, ROIS, **check)
    waits = [
        ("cudaMemcpyAsync", ROIS.nbytes, STREAM),
        ("cudaStreamSynchronize", STREAM),
    ]
    *calls, (launch, *_) = cuda.calls()
    assert calls == waits and launch == "launch"
    for roi in BAD_ROIS[:, None]:
        same_error(roi_pool, features, roi, match=r"rois\[0, \d\]", **check)
        assert [call for call, *_ in cuda.calls()] == [call for call, *_ in waits]
        pooled, argmax = on_cpu(
            *(roi_pool, features, roi),
            **check | {"check_rois": False, "label": "on_host"},
        )
        assert not pooled.any() and (argmax == -1).all()
        assert len(cuda.calls()) == 1


def same_error(op, *tensors, match, **attrs):
    errors = []
    for label in ("", "on_host"):
        with pytest.raises(tf.errors.InvalidArgumentError, match=match) as error:
            on_cpu(op, *tensors, label=label, **attrs)
        errors.append(error.value.message.splitlines()[0])
    assert errors[0] == errors[1]


@on_host
@pytest.mark.parametrize(
    ("features", "rois", "match"),
    [
        ([9, 12, 5], [1, 5], "features must have shape"),
        ([2, 9, 12, 5], [5], "rois must have shape"),
        ([2, 9, 12, 5], [1, 4], "rois must have shape"),
        ([0, 2**16, 2**15, 1], [1, 5], "height \\* width must be less than"),
    ],
)
def test_errors_are_those_of_the_cpu(cuda, features, rois, match):
    tensors = np.zeros(features, np.float32), np.zeros(rois, np.float32)
    for op in (roi_pool, roi_pool_inference):
        same_error(op, *tensors, match=match, **pool_attrs((3, 4), 1.0))
    assert not cuda.calls()


@on_host
@pytest.mark.parametrize(
    ("gradient", "argmax", "rois", "feature_shape", "match"),
    [
        ([3, 4, 5], [3, 4, 5], [3, 5], [2, 9, 12, 5], "gradient must have shape"),
        ([1, 3, 4, 5], [1, 3, 5, 4], [1, 5], [2, 9, 12, 5], "argmax must have"),
        ([1, 3, 4, 5], [1, 3, 4, 5], [2, 5], [2, 9, 12, 5], "rois must have as"),
        ([1, 3, 4, 5], [1, 3, 4, 5], [1, 5], [9, 12, 5], "feature_shape must have"),
        ([1, 3, 4, 5], [1, 3, 4, 5], [1, 5], [2, -9, 12, 5], "must not be negative"),
        ([1, 3, 4, 5], [1, 3, 4, 5], [1, 5], [2, 9, 12, 6], "must have the channels"),
        ([1, 3, 4, 1], [1, 3, 4, 1], [1, 5], [0, 2**16, 2**15, 1], "be less than 2"),
    ],
)
def test_errors_of_the_gradient_are_those_of_the_cpu(
    cuda, gradient, argmax, rois, feature_shape, match
):
    tensors = (
        np.zeros(gradient, np.float32),
        np.zeros(argmax, np.int32),
        np.zeros(rois, np.float32),
        np.int32(feature_shape),
    )
    same_error(roi_pool_grad, *tensors, match=match)
    assert not cuda.calls()


@on_host
@pytest.mark.parametrize(
    ("shape", "num_rois"),
    [((2, 9, 12, 3), 0), ((2, 9, 12, 0), 3), ((0, 9, 12, 3), 0)],
)
def test_nothing_is_launched_for_nothing(cuda, shape, num_rois):
    rois = np.zeros([num_rois, 5], np.float32)
    pooled, argmax = assert_same_on_gpu_code(
        *(roi_pool, np.zeros(shape, np.float32), rois),
        **pool_attrs((3, 4), 1.0, check_rois=not num_rois),
    )
    assert not cuda.calls()
    assert_same_on_gpu_code(roi_pool_grad, pooled, argmax, rois, np.int32(shape))
    assert len(cuda.calls()) == (np.prod(shape) > 0)


@on_host
def test_each_call_that_fails_is_an_error_of_the_op(cuda):
    features = integers([2, 9, 12, 5], "float32")
    check = pool_attrs((3, 4), 1.0, check_rois=True)
    pooled, argmax = on_cpu(roi_pool, features, ROIS, **check)
    back = (roi_pool_grad, pooled, argmax, ROIS, np.int32(features.shape))
    for op, attrs in [((roi_pool, features, ROIS), check), (back, {})]:
        for call in (1, 2, 3):
            cuda.fail_at(call)
            with pytest.raises(tf.errors.InternalError, match="CUDA says: unknown"):
                on_cpu(*op, label="on_host", **attrs)
            assert len(cuda.calls()) == call
            on_cpu(*op, label="on_host", **attrs)  # which ignores the old error
            assert len(cuda.calls()) == 3


@on_host
@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("label", ["", "on_host"])
def test_gpu_kernels_are_registered_for_the_types_of_the_op(cuda, op, label):
    """Those of the library and, with the label, those that roi_pool_gpu.cc registers where there is no CUDA."""
    (attr,) = [a for a in op_def_registry.get(op).attr if a.name == "T"]
    everything = sorted(attr.allowed_values.list.type)

    def types(device, label):
        found = []
        for kernel in registry.get_registered_kernels_for_op(op).kernel:
            if (kernel.device_type, kernel.label) == (device, label):
                (only,) = kernel.constraint or [None]
                found += only.allowed_values.list.type if only else everything
                host = ["feature_shape"] if "Grad" in op and device == "GPU" else []
                assert list(kernel.host_memory_arg) == host, f"{op} for the {device}"
        return sorted(found)

    assert types("CPU", "") == everything
    assert types("GPU", label) == (everything if label or WITH_CUDA else [])


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
@pytest.mark.skipif(GPU, reason="sees a GPU")
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
    entry = re.compile(
        r"\.entry \w*PoolKernelI(\w+?)Li(\d+)ELb\dELb(\d)E.*?^}", re.M | re.S
    )
    kernels = list(entry.finditer(ptx(find_nvcc())))
    assert {kernel[2] for kernel in kernels} == {"1", "2", "4", "8"}
    single = re.compile(r"ld\.global(?:\.nc)?\.(\w+)\s")
    # Of a map of half, the floats that are read are the region's.
    (region,) = {
        single.findall(kernel[0]).count("f32")
        for kernel in kernels
        if (kernel[1], kernel[2]) == ("6__half", "1")
    }
    for kernel in kernels:
        if kernel[2] != "1":
            at_once = re.findall(r"(ld|st)\.global\S*\.v[24]\.", kernel[0])
            assert set(at_once) == {"ld", "st"}, kernel[1]
            counted = ["u64"] * (kernel[3] == "1")  # the pixels of all regions
            loads = single.findall(kernel[0])
            assert loads == counted + ["f32"] * region, kernel[1]
            assert not re.search(r"st\.global\.\w+\s", kernel[0]), kernel[1]


@pytest.mark.skipif(not find_nvcc(), reason="there is no nvcc")
def test_beside_each_division_of_64_bits_is_one_of_32():
    code = ptx(find_nvcc(), source="roi_pool_each.cu.cc")
    wide = re.findall(r"\b(?:div|rem)\.s64\b", code)
    assert len(wide) == len(re.findall(r"\bdiv\.u32\b", code)) == 3


@pytest.mark.skipif(not WITH_CUDA, reason="built without CUDA")
def test_kernels_of_every_architecture():
    library = LIBRARY.read_bytes()
    kernels = set(re.findall(rb"_Z\w*(?:Pool|Gradient|Box|Touch)Kernel\w*", library))
    assert len(kernels) >= 4 * (4 + 2) + 4 + 3 + 2


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


def test_bad_regions_on_the_gpu(gpu):
    features = tf.ones([2, 9, 12, 5])
    for roi in BAD_ROIS[:, None]:
        out, argmax = roi_pool(features, roi, 3, 4, 1.0)
        assert not out.numpy().any() and (argmax.numpy() == -1).all()
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"rois\[0, \d\]"):
            roi_pool(features, roi, 3, 4, 1.0, check_rois=True)
    out, _ = roi_pool(features, ROIS, 3, 4, 1.0, check_rois=True)
    assert "GPU" in out.device
