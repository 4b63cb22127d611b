"""The check `vectorize`."""

import numpy as np
import pytest
import tensorflow as tf
from broken_twins import caught
from python_ops import normal, result, strings

# The broken ops that it must find, and words of the explanation.
CAUGHT = {
    "unit_sum_vectorized": "pfor rule",
}
test_a_broken_op_is_caught = caught("vectorize", CAUGHT)
POSITIVE = 1 + np.abs(normal(2))
ANONYMOUS = "cd2c89b7-88b7-44c8-ad83-06c2a9158347"


@pytest.mark.parametrize(
    ("shared", "why"),
    [
        (False, "makes a handle, which no batch can hold"),
        (True, "AssignVariableOp changes a variable, of which a batch has one"),
    ],
)
def test_a_variable_beside_the_op_is_no_finding(broken_ops, shared, why):
    variable = tf.Variable(POSITIVE)

    def cube_of_a_variable(x):
        handle = variable.handle
        if not shared:
            handle = tf.raw_ops.VarHandleOp(
                dtype=x.dtype, shape=x.shape, shared_name=ANONYMOUS
            )
        tf.raw_ops.AssignVariableOp(resource=handle, value=x)
        return broken_ops.cube(
            tf.raw_ops.ReadVariableOp(resource=handle, dtype=x.dtype)
        )

    found = result("vectorize", cube_of_a_variable, POSITIVE)
    assert (found.verdict, found.detail) == ("skip", why)


def words_of_lines(x):
    return tf.strings.split(x).to_tensor("")


def test_what_pfor_does_not_take_of_tensorflow_is_noted():
    found = result("vectorize", words_of_lines, strings(b"a b", b"c"))
    assert found.verdict == "note"
    assert "pfor takes not all of its ops: ValueError: Received a shape" in found.detail
