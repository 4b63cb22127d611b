"""Kernels that are registered for the wrong types: `pytest examples/types`."""

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from op_library import load_op_library
from running_sum import running_sum
from types_test import some

HERE = Path(__file__).parent


def test_the_wrong_registrations_fail_when_called(mode):
    wrong = load_op_library(HERE / "libwrong_types.so")
    values = some((2, 3), tf.float32)
    sums = mode(wrong.float_running_sum)(values)
    np.testing.assert_array_equal(sums, running_sum(values), strict=True)
    with pytest.raises(
        (tf.errors.NotFoundError, tf.errors.InvalidArgumentError),
        match="Could not find device for node|No OpKernel was registered",
    ):
        mode(wrong.float_running_sum)(some((2, 3), tf.float16))
    assert mode(wrong.types_overlap)(tf.constant([7], tf.int8)) == 7
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="Multiple OpKernel registrations match"
    ):
        mode(wrong.types_overlap)([7])
    with pytest.raises(
        tf.errors.InvalidArgumentError,
        match="constraint on attr 'dtype' not in NodeDef",
    ):
        mode(wrong.types_misnamed)([7.0])
