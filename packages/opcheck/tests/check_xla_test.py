"""The check `xla`."""

import numpy as np
import pytest
import tensorflow as tf
from broken_twins import caught
from python_ops import result

# The broken ops that it must find, and words of the explanation.
CAUGHT = {
    "doubled_xla": "jit_compile=True",
}
test_a_broken_op_is_caught = caught("xla", CAUGHT)


def random_numbers(seed):
    return tf.random.stateless_normal([3], seed)


def random_classes(seed):
    return tf.random.stateless_categorical([[0.1, 0.2, 0.3]], 9, seed)


@pytest.mark.parametrize("op", [random_numbers, random_classes])
def test_a_device_may_choose_the_algorithm_of_random_numbers(op):
    found = result("xla", op, np.int32([1, 2]))
    assert found.verdict == "note", found.explanation()
    assert "which each device chooses" in found.detail
