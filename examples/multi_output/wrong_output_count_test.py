"""A kernel that forgets an output: `pytest examples/multi_output`."""

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from op_library import load_op_library

wrong = load_op_library(
    Path(__file__).with_name("libwrong_output_count.so"), "forgets_output"
)


def test_an_output_that_the_kernel_forgets():
    forgets = wrong.forgets_output
    with pytest.raises(tf.errors.InternalError, match="Missing 1-th output"):
        tf.function(forgets, autograph=False)(tf.ones(2))
    kept, forgotten = forgets(tf.ones(2))
    np.testing.assert_array_equal(kept, [1, 1])
    assert forgotten.shape == [0]
    kept = tf.function(lambda x: forgets(x).kept + 1, autograph=False)(tf.ones(2))
    np.testing.assert_array_equal(kept, [2, 2])
