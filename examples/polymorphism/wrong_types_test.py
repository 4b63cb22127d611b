"""Kernels that are registered for the wrong types: `pytest examples/polymorphism`."""

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from op_library import load_op_library
from polymorphism import cumulative_max
from polymorphism_test import some

HERE = Path(__file__).parent


def test_the_wrong_registrations_fail_when_called(mode):
    wrong = load_op_library(HERE / "libwrong_types.so")
    values = some((2, 3), tf.float32)
    largest = mode(wrong.float_cumulative_max)(values)
    np.testing.assert_array_equal(largest, cumulative_max(values), strict=True)
    with pytest.raises(
        (tf.errors.NotFoundError, tf.errors.InvalidArgumentError),
        match="Could not find device for node|No OpKernel was registered",
    ):
        mode(wrong.float_cumulative_max)(some((2, 3), tf.float16))
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
