"""The check `empty`."""

import os
from types import SimpleNamespace

import tensorflow as tf
from broken_twins import caught
from python_ops import dies_of_scalars, normal, result, strings

import opcheck
from opcheck.inputs.wrong import empty_cases
from opcheck.subject import Description

# The broken ops that it must find, and words of the explanation.
CAUGHT = {
    "reverse_last_scalar": "scalar",
    "floor_mean_no_columns": "SIGFPE",
}
test_a_broken_op_is_caught = caught("empty", CAUGHT)


def test_a_crash_is_a_finding_and_the_check_goes_on():
    report = opcheck.check(dies_of_scalars, normal(2, 3), checks=["empty", "schema"])
    assert report["schema"].verdict == "pass"
    found = report["empty"]
    assert found.verdict == "fail"
    assert "SIGABRT" in found.seen
    assert "x is a scalar" in found.detail
    assert "dies_of_scalars(tf.constant(" in found.line
    deaths = {one.checks: one.death for one in report.workers}
    assert "SIGABRT" in deaths["empty",] and not deaths["schema",]


def dies_of_scalars_in_graphs(x):
    if x.shape.rank == 0 and not tf.executing_eagerly():
        os.abort()
    return tf.identity(x)


def test_a_crash_in_a_graph_is_reproduced_in_a_graph():
    found = result("empty", dies_of_scalars_in_graphs, normal(2))
    call = "tf.function(dies_of_scalars_in_graphs, autograph=False)("
    assert f"print({call}" in found.line


def dies_without_tensors(x, others):
    if not others:
        os.abort()
    return tf.add_n([x, *others])


def test_a_list_without_tensors_is_tried():
    some = [normal(3), normal(3)]
    found = result("empty", dies_without_tensors, normal(3), some)
    assert found.detail == "others is a list without tensors, eager"
    assert "SIGABRT" in found.seen
    assert found.line.endswith("[]))")


def test_a_str_in_an_array_is_bytes_as_in_a_tensor():
    found = result("empty", dies_of_scalars, strings("é", "b"))
    assert "SIGABRT" in found.seen
    assert 'tf.constant(b"\\xc3\\xa9", "string")' in found.line


def test_empty_tries_each_dimension_and_scalars():
    sample = SimpleNamespace(attrs={}, inputs=[normal(2, 3), normal(4)])
    sample.flat, sample.pack = sample.inputs, list
    names = Description([], [["x"], ["y"]], [], {})
    shapes = {
        case.label: [list(x.shape) for x in case.inputs]
        for case in empty_cases(sample, names)
    }
    assert shapes["dimension 0 of x is 0"] == [[0, 3], [4]]
    assert shapes["dimension 1 of x is 0"] == [[2, 0], [4]]
    assert shapes["dimension 0 of y is 0"] == [[2, 3], [0]]
    assert shapes["dimension 0 of all inputs is 0"] == [[0, 3], [0]]
    assert shapes["x is a scalar"] == [[], [4]]
    assert shapes["all inputs are scalars"] == [[], []]
