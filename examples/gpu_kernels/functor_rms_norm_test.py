"""Tests of FunctorRmsNorm on the CPU: `pytest examples/gpu_kernels`."""

import re
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from functor_rms_norm import functor_rms_norm
from gpu_kernels_reference import functor_rms_norm_reference

from opcheck.testing import op_test

test_functor_rms_norm_keeps_its_promises = op_test(
    functor_rms_norm,
    np.random.default_rng(0).normal(size=[3, 4]).astype(np.float32),
    reference=functor_rms_norm_reference,
)


@pytest.mark.parametrize("dtype, rtol", [(np.float32, 1e-6), (np.float64, 1e-14)])
@pytest.mark.parametrize("shape", [(7,), (5, 300), (2, 3, 4), (0, 3), (3, 0), (2**22,)])
def test_equals_the_reference(mode, dtype, rtol, shape):
    x = np.random.default_rng(0).normal(size=shape).astype(dtype)
    expected = functor_rms_norm_reference(x, 0.5)
    found = mode(functor_rms_norm)(x, 0.5)
    np.testing.assert_allclose(found, expected, rtol=rtol, strict=True)


def test_a_scalar_is_refused(mode):
    match = "rank 1 or more|at least rank 1"
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=match):
        mode(functor_rms_norm)(1.0)


@pytest.mark.parametrize("epsilon", [-1e-6, np.inf, np.nan])
def test_another_epsilon_is_refused(mode, epsilon):
    match = "epsilon must be finite and at least 0, got"
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=match):
        mode(functor_rms_norm)(tf.ones([2, 2]), epsilon=epsilon)


ORDERS = {
    "xla/stream_executor/stream_executor.h": [
        "class StreamExecutor",
        *("AsBlas()", "AsDnn()"),
    ],
    "tensorflow/core/kernels/matmul_op_impl.h": [
        "struct LaunchBatchMatMul<GPUDevice",
        *("EnableCublasLtGemm", "AsBlas", "DoBlasGemv"),
        *("BlasGemm(", "BlasGemmStridedBatched"),
    ],
    "tensorflow/core/kernels/conv_ops_impl.h": [
        "void LaunchConvOpImpl",
        *("BlasGemm", "ComputeInNhwcEnabled", "PadInput", "NHWCToNCHW"),
        *("TransformFilter", "AutotuneUnfusedConv", "LaunchAutotunedConv"),
        "NCHWToNHWC",
    ],
}


@pytest.mark.parametrize("header", ORDERS)
def test_tensorflow_calls_its_libraries_in_the_order_that_the_page_lists(header):
    text = (Path(tf.sysconfig.get_include()) / header).read_text()
    begin, *names = ORDERS[header]
    places = [text.index(name, text.index(begin)) for name in names]
    assert places == sorted(places)


def test_an_algorithm_is_tuned_for_what_the_page_lists():
    header = Path(tf.sysconfig.get_include(), "tensorflow/core/kernels/conv_ops_impl.h")
    begin = "ConvParameters conv_parameters = {"
    key = header.read_text().partition(begin)[2].partition("}")[0]
    assert re.findall(r"(?<=// ).*|group_count", key) == [
        *("batch", "in_depths", "input spatial dims", "compute_data_format"),
        *("out_depths", "filter spatial dims", "dilations", "strides"),
        *("paddings (symmetrical)", "tensor datatype", "group_count"),
    ]
