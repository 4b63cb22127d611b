"""Tests of SlidingMax's kernels for the GPU: on the host, and on a GPU where there is one.

The host has the project's own sources, with the words of CUDA from cuda_on_host.h, and grids of at most three blocks.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import cuda_on_host
import numpy as np
import pytest
import tensorflow as tf
from sliding_max import sliding_max, sliding_max_grad

PROJECT = Path(__file__).with_name("sliding_max")
SHAPES = [(1, 1), (3, 5), (2, 255), (2, 256), (1, 257), (4, 700), (2, 3, 50), (0, 3)]
on_the_host = pytest.mark.xdist_group("SlidingMax's kernels on the host")
CASES = [(shape, n) for shape in SHAPES for n in (1, 3, 40) if n <= shape[-1]]
shapes_and_windows = pytest.mark.parametrize("shape, window", CASES)


@pytest.fixture(scope="module")
def on_host(tmp_path_factory) -> cuda_on_host.Cuda:
    """The kernels of the GPU have the label on_host; the ops and the CPU's kernels stay those of the library."""
    folder = tmp_path_factory.mktemp("host")
    # Precompiled headers have classes with the other visibility, of which g++ warns.
    visible = "-fvisibility=default", "-Wno-attributes"
    flags = ("-I", PROJECT, *visible, "-DWITH_CUDA", '-DBUILT_FOR=""')

    source = folder / "sliding_max.cu.cc"
    code = (PROJECT / source.name).read_text()
    assert "kMostBlocks = 65536" in code
    code = code.replace("kMostBlocks = 65536", "kMostBlocks = 3")
    words = '#include "cuda_on_host.h"\nusing namespace op_by_op;\n'
    source.write_text(words + code)
    kernels = folder / "libkernels.so"
    cuda_on_host.build_for_host(source, kernels, *flags)

    source = folder / "sliding_max.cc"
    code = (PROJECT / source.name).read_text()
    code, ops = re.subn(r"^REGISTER_OP.*?^    }\);$", "", code, flags=re.S | re.M)
    code, cpu = re.subn(r"^TF_CALL_\w+_TYPES\(.*\)$", "", code, flags=re.M)
    assert (ops, cpu) == (2, 2)
    source.write_text(code)
    cuda_on_host.build_ops_for_host(source, folder / "libops.so", kernels, *flags)
    tf.load_library(str(folder / "libops.so"))
    return cuda_on_host.Cuda(kernels)


@pytest.fixture
def gpu() -> Iterator[None]:
    """A scope whose ops run on the GPU or fail."""
    if not tf.config.list_physical_devices("GPU"):
        pytest.skip("sees no GPU: `make test-gpu` runs it")
    library = (PROJECT / "libsliding_max.so").read_bytes()
    if b"__cudaRegisterFatBinary" not in library:
        pytest.skip("built without CUDA")
    soft = tf.config.get_soft_device_placement()
    tf.config.set_soft_device_placement(False)
    with tf.device("GPU:0"):
        yield
    tf.config.set_soft_device_placement(soft)


def example(shape: tuple, dtype=np.float32) -> np.ndarray:
    """Few different numbers, so that many are equal, and some that are not numbers."""
    random = np.random.default_rng(0)
    x = random.integers(0, 9, shape).astype(dtype)
    x[random.random(shape) < 0.02] = np.nan
    return x


def forward_and_gradient(x: np.ndarray, window: int, label: str | None = None) -> list:
    """Of the kernels with this label, or of those that are found without one."""

    @tf.function(autograph=False)
    def run(x):
        labels = {} if label is None else {"SlidingMax": label, "SlidingMaxGrad": label}
        with tf.compat.v1.get_default_graph()._kernel_label_map(labels):
            y, position = sliding_max(x, window)
            size = tf.size(y, tf.int64)
            grad = tf.cast(tf.reshape(tf.range(size) % 7, tf.shape(y)), x.dtype) / 3
            return y, position, sliding_max_grad(grad, position, window)

    return run(tf.constant(x))


def are_equal(found: list, expected: list) -> None:
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs, strict=True)


@on_the_host
@shapes_and_windows
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_kernels_equal_those_of_the_cpu(on_host, shape, window, dtype):
    """To the last bit: each thread adds in the CPU's order."""
    x = example(shape, dtype)
    expected = forward_and_gradient(x, window)
    are_equal(forward_and_gradient(x, window, "on_host"), expected)
    with on_host.backwards():
        are_equal(forward_and_gradient(x, window, "on_host"), expected)


@on_the_host
def test_one_launch_on_tensorflows_stream_and_none_for_nothing(on_host):
    on_host.calls()
    forward_and_gradient(example((2, 256)), 3, "on_host")
    assert on_host.calls() == [("launch", blocks, 256, 0, 4711) for blocks in (2, 2)]
    forward_and_gradient(example((0, 3)), 3, "on_host")
    assert not on_host.calls()


@on_the_host
@pytest.mark.parametrize("call", [1, 2])
def test_a_launch_that_fails_is_an_error(on_host, call):
    on_host.fail_at(call)
    with pytest.raises(tf.errors.InternalError, match="CUDA says: unknown error"):
        forward_and_gradient(example((2, 256)), 3, "on_host")


@on_the_host
@pytest.mark.parametrize("label", ["SlidingMax", "SlidingMaxGrad"])
def test_an_error_of_an_earlier_call_is_not_ours(on_host, label):
    @tf.function(autograph=False)
    def gradient(x):
        with tf.compat.v1.get_default_graph()._kernel_label_map({label: "on_host"}):
            y, position = sliding_max(x, 2)
            return sliding_max_grad(y, position, 2)

    on_host.has_failed()
    np.testing.assert_array_equal(gradient(tf.constant([1.0, 3, 2])), [0, 6, 0])


@on_the_host
def test_positions_outside_of_their_window_count_for_nothing(on_host):
    @tf.function(autograph=False)
    def gradient(label):
        with tf.compat.v1.get_default_graph()._kernel_label_map(label):
            return sliding_max_grad([1.0, 10, 100], tf.constant([-1, 3, 2**40]), 2)

    are_equal(gradient({"SlidingMaxGrad": "on_host"}), np.zeros(4, np.float32))
    are_equal(gradient({}), np.zeros(4, np.float32))


@shapes_and_windows
def test_a_real_gpu_equals_the_cpu(gpu, shape, window):
    x = example(shape)
    with tf.device("CPU:0"):
        expected = forward_and_gradient(x, window)
    found = forward_and_gradient(x, window)
    assert all("GPU" in each.device for each in found)
    are_equal(found, expected)


def test_a_real_gpu_has_the_gradient_too(gpu):
    x = tf.constant(example((4, 1000)))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y, position = sliding_max(x, 25)
    grad = tape.gradient(y, x)
    assert all("GPU" in each.device for each in (y, position, grad))
    with tf.device("CPU:0"):
        expected = sliding_max_grad(tf.ones_like(y), position, 25)
    are_equal(grad[tf.newaxis], expected[tf.newaxis])
