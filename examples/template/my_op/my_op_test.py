"""Tests of MyOp: `pytest examples/my_op`."""

import numpy as np
import pytest
import tensorflow as tf
from my_op import my_op
from my_op_reference import my_op_reference

from opcheck.testing import op_test

test_my_op_keeps_its_promises = op_test(
    my_op, np.float32([[1, -2], [3, 0.5]]), reference=my_op_reference
)


def test_another_dtype_is_refused(mode):
    with pytest.raises((tf.errors.InvalidArgumentError, TypeError), match="int32"):
        mode(my_op)(tf.constant([1, 2]))
