"""How often kernels run, and a race between two runs: `pytest examples/count_runs`."""

import numpy as np
import pytest
import tensorflow as tf
from count_runs import (
    constant_input,
    count_runs,
    count_runs_stateful,
    plain,
    result_unused,
    runs,
    used_twice,
)
from wrong_racy_zero_out import racy_zero_out, wrong_results


def test_a_member_written_in_compute_is_a_race():
    np.testing.assert_array_equal(racy_zero_out([5.0, 4.0, 3.0]), [5.0, 0.0, 0.0])
    assert any(any(wrong_results(racy_zero_out)) for _ in range(100))


@pytest.mark.parametrize(
    "use, eager, graph, stateful",
    [
        (plain, 10, 10, 10),
        (constant_input, 10, 1, 10),
        (result_unused, 10, 0, 10),
        (used_twice, 20, 10, 20),
    ],
)
def test_a_graph_runs_a_kernel_as_often_as_it_must(use, eager, graph, stateful):
    assert runs(use, count_runs) == runs(use, count_runs_stateful) == eager
    assert runs(tf.function(use), count_runs) == graph
    assert runs(tf.function(use), count_runs_stateful) == stateful


def test_a_stateful_node_waits_for_those_before_it_but_for_no_resource():
    variable = tf.Variable(1.0)

    def printing(op, x):
        op(x)
        tf.print("in between")
        variable.assign_add(tf.random.uniform([]))
        return op(x)

    traced = tf.function(printing).get_concrete_function(
        count_runs_stateful, tf.constant(1.0)
    )
    nodes = [node for node in traced.graph.get_operations() if node.op_def.is_stateful]
    first, printed, *resource, last = nodes
    assert first in printed.control_inputs and last.control_inputs == [printed]
    types = {node.type for node in resource}
    assert {"RandomUniform", "AssignAddVariableOp"} <= types


def test_a_stateful_node_waits_for_the_one_before_it():
    def nodes(op):
        traced = tf.function(used_twice).get_concrete_function(op, tf.constant(1.0))
        return [node for node in traced.graph.get_operations() if "Runs" in node.type]

    assert [node.control_inputs for node in nodes(count_runs)] == [[], []]
    first, second = nodes(count_runs_stateful)
    assert (first.control_inputs, second.control_inputs) == ([], [first])


@pytest.mark.parametrize("value", [1.5, 2, "three", True, 4j])
def test_a_kernel_without_a_constraint_takes_every_type(mode, value):
    tensor = tf.constant([value])
    result = mode(count_runs)(tensor)
    assert result.dtype == tensor.dtype and result.numpy() == tensor.numpy()


def test_a_declared_dtype_without_a_kernel_fails_when_called():
    with pytest.raises(
        tf.errors.NotFoundError,
        match=r"Could not find device for node: .*RacyZeroOut\[T=DT_INT32\]",
    ):
        racy_zero_out(tf.constant([1]))
