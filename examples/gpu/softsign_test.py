"""Tests of Softsign on the CPU, of its CUDA kernel on the host, and on a GPU: `pytest examples/gpu`."""

import numpy as np
import pytest
import tensorflow as tf
from gpu_reference import softsign_reference
from softsign import softsign

from opcheck.testing import op_test

SHAPES = [(), (1,), (255,), (256,), (257,), (3, 100)]


def normal(shape) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


test_softsign_keeps_its_promises = op_test(
    softsign, normal([3, 4]), reference=softsign_reference
)


@pytest.mark.parametrize("shape", [*SHAPES, (0,), (2, 0, 3)])
def test_equals_the_reference(mode, shape):
    x = normal(shape)
    found = mode(softsign)(x)
    np.testing.assert_allclose(found, softsign_reference(x), rtol=1e-6, strict=True)


def test_special_values():
    x = np.float32([0.0, -0.0, np.inf, -np.inf, np.nan, 3e38])
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(softsign(x), softsign_reference(x))


def launched(x) -> np.ndarray:
    """What the GPU's kernel gives, labelled "on_host"."""

    @tf.function(autograph=False)
    def labelled(x):
        graph = tf.compat.v1.get_default_graph()
        with graph._kernel_label_map({"OpByOp>Softsign": "on_host"}):
            return softsign(x)

    return labelled(tf.constant(x)).numpy()


@pytest.mark.xdist_group("Softsign's kernel on the host")
@pytest.mark.parametrize("shape", SHAPES)
def test_the_cuda_kernel_equals_the_reference(on_host, shape):
    """One launch, on TensorFlow's stream."""
    x = normal(shape)
    on_host.calls()
    found = launched(x)
    np.testing.assert_allclose(found, softsign_reference(x), rtol=1e-6, strict=True)
    assert on_host.calls() == [("launch", -(-x.size // 256), 256, 0, 4711)]


@pytest.mark.xdist_group("Softsign's kernel on the host")
def test_nothing_is_launched_for_nothing_and_a_refused_launch_is_an_error(on_host):
    on_host.calls()
    assert launched(np.zeros([2, 0], np.float32)).shape == (2, 0)
    assert not on_host.calls()
    on_host.fail_at(1)
    with pytest.raises(tf.errors.InternalError, match="CUDA says: unknown error"):
        launched(normal([3]))


@pytest.mark.xdist_group("Softsign's kernel on the host")
def test_an_earlier_error_is_not_this_launch(on_host):
    on_host.has_failed()
    x = normal([3])
    np.testing.assert_allclose(launched(x), softsign_reference(x), rtol=1e-6)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_real_gpu_equals_the_cpu(gpu, mode, shape):
    x = normal(shape)
    y = mode(softsign)(x)
    assert "GPU" in y.device
    np.testing.assert_allclose(y, softsign_reference(x), rtol=1e-6)
