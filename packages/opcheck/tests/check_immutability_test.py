"""The check `immutability`."""

import os

import forked
import numpy as np
import tensorflow as tf
from broken_twins import caught, check
from python_ops import normal, result

# The broken ops that it must find, and words of the explanation.
CAUGHT = {
    "sort_each_row_in_place": "input[0, 0]",
    "add_to_variable_in_place": "input 0[0, 0]",
}
test_a_broken_op_is_caught = caught("immutability", CAUGHT)


def test_a_write_to_an_input_does_not_reach_the_sample(broken_ops):
    checks = ["eager_vs_graph", "immutability"]
    report = check(broken_ops, "sort_each_row_in_place", checks)
    detail = report["immutability"].detail
    assert detail.startswith("tensors of an eager call"), str(report)


def test_a_function_may_take_a_variable(broken_ops):
    """Where it makes one at each call, no graph can be made of it."""
    x, amount = normal(2), np.float32(1)
    op = broken_ops.adds_to_a_variable_in_place
    found = result("immutability", op, x, amount)
    assert found.detail == "tensors read from variables"
    assert "PrepareToUpdateVariable" in found.cause
    printed = forked.run(found.line).stdout.strip().splitlines()[-1]
    assert printed.startswith(f"tf.Tensor({x + 1}")
    assert "expected input 0[0]" in printed


def sorted_in_place(x):
    def run(values):
        values.sort()
        return values

    return tf.numpy_function(run, [x], x.dtype)


def test_a_function_in_numpy_is_no_kernel():
    found = result("immutability", sorted_in_place, -np.arange(64, dtype=np.float32))
    assert "a function in Python writes to its argument" in found.cause


def dies_of_nan(x):
    if tf.executing_eagerly() and np.isnan(x).any():
        os.abort()
    return tf.identity(x)


def test_what_dies_of_nan_does_not_die_of_the_sample():
    assert "with NaN" in result("immutability", dies_of_nan, normal(3)).detail
