"""Tests of Softshrink, from Python and from C++: `pytest examples/cc_tests`."""

import subprocess
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from cc_tests import softshrink
from cc_tests_reference import softshrink_reference

from opcheck.testing import op_test

DTYPES = [np.float32, np.float64]

test_softshrink = op_test(
    softshrink, np.float32([[-2, 0.25], [0.75, 3]]), reference=softshrink_reference
)


@pytest.mark.parametrize("dtype", DTYPES)
def test_equals_the_reference(mode, dtype):
    x = np.random.default_rng(0).normal(size=[4, 5]).astype(dtype)
    np.testing.assert_array_equal(
        mode(softshrink)(x, 0.75), softshrink_reference(x, 0.75)
    )


def test_the_tests_in_cpp_pass(in_cpp):
    assert "[  PASSED  ] 9 tests." in in_cpp()


def test_the_gradient_in_cpp_is_that_in_python(cpp_gradient):
    x = tf.constant([-2.0, -0.5, 0.25, 0.75, 3.0, 0.0, 0.0], tf.float64)
    dy = tf.constant([1.0, 2, 3, 4, 5, np.inf, np.nan], tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = softshrink(x)
    [computed] = cpp_gradient(softshrink, [x], [dy])
    np.testing.assert_array_equal(tape.gradient(y, x, dy), computed)
    np.testing.assert_array_equal(computed, [1, 0, 0, 4, 5, 0, 0])


def test_the_tests_in_cpp_fail_on_a_wrong_op(in_cpp):
    program = Path(__file__).with_name("wrong_cc_tests")
    run = subprocess.run([program], capture_output=True, text=True)
    assert "7 FAILED TESTS" in run.stdout, run.stdout[-3000:]


def test_a_subnormal_number_counts_as_zero_as_in_cpp(mode):
    x = np.float64([-3, 2.3e-308, 2.2e-308])
    np.testing.assert_array_equal(mode(softshrink)(x, 0.0), [-3, 2.3e-308, 0])


def test_the_node_has_a_name_without_a_namespace():
    """Else an error of the node would not name the line in Python."""
    graph = tf.function(softshrink).get_concrete_function(tf.TensorSpec([2])).graph
    assert [x.name for x in graph.get_operations() if "Soft" in x.type] == [
        "softshrink"
    ]


@pytest.mark.parametrize("bound", [-1.0, np.nan])
def test_a_bound_that_is_not_0_or_more_is_refused(bound):
    with pytest.raises(tf.errors.InvalidArgumentError, match="bound must be 0 or more"):
        softshrink([1.0], bound)
    with pytest.raises(ValueError, match="bound must be 0 or more"):
        tf.function(softshrink)([1.0], bound)


def finite(x):
    return tf.debugging.check_numerics(x, "no number", name="finite")


@pytest.mark.parametrize("function", [finite, lambda x: finite(x)])
def test_an_error_names_its_line_unless_the_function_is_a_lambda(function):
    with pytest.raises(tf.errors.InvalidArgumentError, match="no number") as error:
        tf.function(function)(tf.constant([np.nan]))
    assert "{{node finite}}" in str(error.value)
    has_lines = "Detected at node finite" in str(error.value)
    assert has_lines == (function is finite)


def test_an_error_in_a_pipeline_names_no_line():
    pipeline = tf.data.Dataset.from_tensors([np.nan]).map(finite)
    with pytest.raises(tf.errors.InvalidArgumentError, match="no number") as error:
        list(pipeline)
    assert "Detected at node" not in str(error.value)
