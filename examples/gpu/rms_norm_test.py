"""Tests of RmsNorm on the CPU, of its CUDA kernels on the host, and on a GPU: `pytest examples/gpu`."""

import ctypes
import re

import cuda_on_host
import numpy as np
import pytest
import tensorflow as tf
from gpu_reference import rms_norm_grad_reference, rms_norm_reference
from rms_norm import rms_norm, rms_norm_grad
from rms_norm_on_host import HERE, OnHost, is_norm

from opcheck.testing import op_test

SHAPES = [(1, 1), (3, 5), (2, 255), (2, 256), (2, 257), (5, 1000)]
LONG = (1, 2**22)  # too long for one sum of float32
on_the_host = pytest.mark.xdist_group("RmsNorm's kernels on the host")


def normal(shape, seed=0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def composed(x, epsilon=1e-6):
    return x * tf.math.rsqrt(tf.reduce_mean(x * x, -1, keepdims=True) + epsilon)


test_rms_norm_keeps_its_promises = op_test(
    rms_norm, normal([3, 4]), reference=rms_norm_reference
)
test_the_gradient_keeps_its_promises = op_test(
    rms_norm_grad, normal([3, 4]), normal([3, 4], 1), reference=rms_norm_grad_reference
)


def test_a_changed_source_is_compiled_again(tmp_path):
    """In the process that has used it before, as the exercise's reader does."""
    (tmp_path / "common").symlink_to(HERE.parent / "common")
    (tmp_path / "gpu").mkdir()
    source = tmp_path / "gpu" / "softsign.cu.cc"
    source.write_text((HERE / "softsign.cu.cc").read_text())
    before = cuda_on_host.on_host(source)
    assert cuda_on_host.on_host(source) == before
    source.write_text(source.read_text().replace("1 + std", "2 + std"))
    assert cuda_on_host.on_host(source) != before


@pytest.mark.parametrize("shape", [*SHAPES, (7,), (2, 3, 4), (0, 3), (3, 0), (0,)])
def test_equals_the_reference(mode, shape):
    x, grad = normal(shape), normal(shape, 1)
    y, result = mode(rms_norm)(x, 0.5), mode(rms_norm_grad)(x, grad, 0.5)
    expected = rms_norm_reference(x, 0.5), rms_norm_grad_reference(x, grad, 0.5)
    np.testing.assert_allclose(y, expected[0], rtol=1e-6, strict=True)
    np.testing.assert_allclose(result, expected[1], rtol=2e-6, atol=5e-7, strict=True)


@pytest.mark.parametrize("epsilon", [0.0, 1e-6, 0.5])
def test_the_gradient_is_that_of_a_composition(mode, epsilon):
    x, grad = tf.constant(normal([4, 6])), tf.constant(normal([4, 6], 1))
    found = []
    for function in (rms_norm, composed):

        @mode
        def back(x, function=function):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = function(x, epsilon)
            return tape.gradient(y, x, grad)

        found.append(back(x))
    np.testing.assert_allclose(*found, atol=2e-6)


def test_a_row_of_zeros():
    zeros = np.zeros([2, 3], np.float32)
    assert not rms_norm(zeros).numpy().any()
    assert np.isnan(rms_norm(zeros, 0.0).numpy()).all()


@pytest.mark.parametrize(
    "op, inputs, match",
    [
        (rms_norm, [1.0], "rank 1 or more|at least rank 1"),
        (rms_norm_grad, [1.0, 1.0], "rank 1 or more|at least rank 1"),
        (rms_norm_grad, [[1.0], [1.0, 2.0]], "the shape of x, .1., not .2.|must be eq"),
        (rms_norm_grad, [[1.0], [[1.0]]], "the shape of x, .1., not|equal rank|rank 1"),
    ],
)
def test_wrong_shapes_are_refused(mode, op, inputs, match):
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=match):
        mode(op)(*map(tf.constant, inputs))


@pytest.mark.parametrize("epsilon", [-1e-6, np.inf, np.nan])
@pytest.mark.parametrize("op, count", [(rms_norm, 1), (rms_norm_grad, 2)])
def test_another_epsilon_is_refused(mode, op, count, epsilon):
    match = "epsilon must be finite and at least 0, got"
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=match):
        mode(op)(*[tf.ones([2, 2])] * count, epsilon=epsilon)


def run(op, *tensors, label=""):
    """What the kernel with this label gives: "" is the CPU's own, "on_host" the GPU's."""

    @tf.function(autograph=False)
    def labelled(*tensors):
        labels = dict.fromkeys(["RmsNorm", "RmsNormGrad"], label)
        with tf.compat.v1.get_default_graph()._kernel_label_map(labels):
            return op(*tensors)

    return labelled(*map(tf.convert_to_tensor, tensors)).numpy()


@on_the_host
def test_tensorflows_side(on_host):
    """One launch for each call, on TensorFlow's stream, and none for nothing; what fails is an error."""
    x, grad = normal([5, 300]), normal([5, 300], 1)
    on_host.calls()
    for op, tensors in ((rms_norm, [x]), (rms_norm_grad, [x, grad])):
        found = run(op, *tensors, label="on_host")
        np.testing.assert_allclose(found, run(op, *tensors), rtol=1e-5, atol=1e-6)
        assert on_host.calls() == [("launch", 5, 256, 0, 4711)]
        on_host.fail_at(1)
        with pytest.raises(tf.errors.InternalError, match="CUDA says: unknown error"):
            run(op, *tensors, label="on_host")
        on_host.calls()
        for shape in ((0, 3), (3, 0), (2**31, 0)):
            nothing = [np.zeros(shape, np.float32)] * len(tensors)
            assert run(op, *nothing, label="on_host").shape == shape
        assert not on_host.calls()


@on_the_host
@pytest.mark.parametrize("rows", [0, 5])
@pytest.mark.parametrize("label", ["", "on_host"])
def test_a_scale_gets_its_gradient_from_tensorflow(on_host, label, rows):
    """A sum over the rows, or zeros."""
    x, grad, scale = normal([rows, 300]), normal([rows, 300], 1), normal([300], 2)

    def scale_gradient(x, scale):
        with tf.GradientTape() as tape:
            tape.watch(scale)
            y = rms_norm(x) * scale
        return tape.gradient(y, scale, grad)

    expected = np.sum(grad * rms_norm_reference(x), 0)
    found = run(scale_gradient, x, scale, label=label)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_a_long_row():
    x = normal(LONG)
    grad = x + normal(LONG, 1)  # so that the sum of products is large, too
    assert is_right([run(rms_norm, x), run(rms_norm_grad, x, grad)], x, grad)


def both_orders(kernels: OnHost, x: np.ndarray, grad: np.ndarray) -> list:
    """Forward and gradient, with the threads of a block in either order."""
    found = [kernels.rms_norm(x), kernels.rms_norm_grad(x, grad)]
    with kernels.cuda.backwards():
        return [*found, kernels.rms_norm(x), kernels.rms_norm_grad(x, grad)]


def is_right(found: list, x: np.ndarray, grad: np.ndarray) -> bool:
    expected = [rms_norm_reference(x), rms_norm_grad_reference(x, grad)] * 2
    return all(map(lambda a, b: np.allclose(a, b, 1e-5, 1e-5), found, expected))


@on_the_host
@pytest.mark.parametrize("source", ["rms_norm", "rms_norm_each"])
@pytest.mark.parametrize("shape", [*SHAPES, (600, 3), LONG])
def test_cuda_kernels_equal_the_reference(source, shape):
    x = normal(shape)
    grad = x + normal(shape, 1)
    assert is_right(both_orders(OnHost(source), x, grad), x, grad)


@pytest.mark.slow
@on_the_host
def test_every_wait_is_needed(tmp_path):
    """Without any one of its __syncthreads(), a kernel is wrong in one of the orders."""
    x, grad = normal([3, 700]), normal([3, 700], 1)
    (tmp_path / "common").mkdir()
    (tmp_path / "gpu").mkdir()
    text = (HERE / "rms_norm.cu.cc").read_text()
    waits = [*re.finditer(r"__syncthreads\(\);", text)]
    assert len(waits) == 4
    for i, wait in enumerate(waits):
        source = tmp_path / "gpu" / f"without_{i}.cu.cc"
        source.write_text(text[: wait.start()] + text[wait.end() :])
        library = tmp_path / f"libwithout_{i}.so"
        cuda_on_host.build_for_host(source, library, "-I", HERE)
        assert not is_right(both_orders(OnHost(library), x, grad), x, grad), i


@on_the_host
def test_more_rows_than_blocks():
    """The launcher refuses them before it looks at the memory."""
    library = cuda_on_host.on_host(HERE / "rms_norm.cu.cc")
    launch = ctypes.CDLL(str(library)).RmsNormLaunch
    launch.restype = ctypes.c_char_p
    sizes = ctypes.c_int64(2**31), ctypes.c_int64(1), ctypes.c_float(0)
    assert launch(None, None, *sizes, None) == b"invalid configuration argument"


@on_the_host
def test_more_rows_than_blocks_are_refused(on_host):
    """With 8 GiB of memory that nobody touches."""
    x = tf.raw_ops.Empty(shape=[2**30, 2, 1], dtype=tf.float32)
    on_host.calls()
    for op, tensors in ((rms_norm, [x]), (rms_norm_grad, [x, x])):
        match = "x must have at most 2147483647 rows on a GPU, got 2147483648"
        with pytest.raises(tf.errors.InvalidArgumentError, match=match):
            run(op, *tensors, label="on_host")
    assert not on_host.calls()


@on_the_host
def test_few_blocks():
    x = normal([200, 300])
    assert not is_norm(OnHost("exercise_few_blocks"), x)
    assert is_norm(OnHost("solution_few_blocks"), x)


@on_the_host
def test_a_block_waits_before_its_next_row(tmp_path):
    (tmp_path / "common").mkdir()
    (tmp_path / "gpu").mkdir()
    text = (HERE / "solution_few_blocks.cu.cc").read_text()
    source = tmp_path / "gpu" / "hasty.cu.cc"
    source.write_text("".join(text.rpartition("__syncthreads();")[::2]))
    cuda_on_host.build_for_host(source, tmp_path / "libhasty.so", "-I", HERE)
    assert not is_norm(OnHost(tmp_path / "libhasty.so"), normal([200, 300]))


@pytest.mark.parametrize("shape", SHAPES)
def test_a_real_gpu_equals_the_cpu(gpu, mode, shape):
    x, grad = normal(shape), normal(shape, 1)
    y, result = mode(rms_norm)(x), mode(rms_norm_grad)(x, grad)
    assert "GPU" in y.device and "GPU" in result.device
    assert is_right([y.numpy(), result.numpy()] * 2, x, grad)


def test_compositions_run_on_a_gpu(gpu, mode):
    """Also with a gradient of their own, without any kernel of ours."""

    @tf.custom_gradient
    def halved(x):
        return composed(x), lambda grad: grad / 2

    x = tf.constant(normal([3, 4]))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = mode(halved)(x)
    gradient = tape.gradient(y, x)
    assert "GPU" in y.device and "GPU" in gradient.device
    np.testing.assert_allclose(y, rms_norm_reference(x.numpy()), rtol=1e-5)
    np.testing.assert_array_equal(gradient, np.full([3, 4], 0.5, np.float32))
