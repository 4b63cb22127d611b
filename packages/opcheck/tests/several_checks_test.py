"""What several checks say of one op, and what they share."""

import os
import signal

import forked
import numpy as np
import pytest
import tensorflow as tf
from python_ops import (
    adds_a_random_constant,
    adds_noise,
    counts_calls,
    dies,
    normal,
    result,
)

import opcheck
from opcheck.processes import calls
from opcheck.subject import UNREPEATED, UNWRITTEN, Description, Subject, repeated

POSITIVE = 1 + np.abs(normal(2))


@pytest.mark.parametrize("step", [1, -1, 0])
def test_a_larger_sample_of_what_is_sorted_is_sorted(step):
    x = np.array([1, 2, 2, 5])[::step] if step else np.array([2, 1, 3])
    many = repeated(x, 3, 0)
    assert many.tolist() == (sorted([*x] * 3)[::step] if step else [*x] * 3)


def test_values_that_change_from_call_to_call():
    checks = ["eager_vs_graph", "determinism"]
    report = opcheck.check(counts_calls, normal(2), checks=checks)
    assert [one.check for one in report.failures] == checks


def test_what_chance_breaks_is_put_down_to_it():
    checks = ["eager_vs_graph", "dtypes", "concurrency", "vectorize", "xla"]
    report = opcheck.check(adds_a_random_constant, normal(3), checks=checks)
    assert [one.check for one in report.failures] == checks
    assert all("or chance" in one.cause for one in report.failures)


def test_what_a_stateful_op_gives_by_chance_is_noted_once():
    checks = ["eager_vs_graph", "dtypes", "determinism", "concurrency", "vectorize"]
    report = opcheck.check(adds_noise, normal(3), checks=checks, fast=True)
    assert report.assert_ok()["determinism"].verdict == "note"
    assert "nondeterministic=True" in report["determinism"].detail


def test_an_op_that_always_dies_fails_every_check_that_calls_it():
    report = opcheck.check(dies, normal(9, 9), reference=lambda x: x)
    calling = {"reference", "empty", "determinism", "saved_model", "bad_input", "xla"}
    assert calling <= {found.check for found in report.failures}
    assert "SIGSEGV" in report["reference"].seen
    line = report["reference"].line
    assert len(line) > 1000 and line.endswith(', "float32", shape=[9, 9])))')
    # Before the first case it is the sample call.
    assert report["bad_input"].line.startswith("import tensorflow")


_CALLS = []


def breaks_memory(x, calls=12):
    """So many calls later it shows."""
    if tf.executing_eagerly():
        _CALLS.append(x)
        if len(_CALLS) == calls:
            os.write(2, b"free(): invalid pointer\n")
            os.abort()
    return tf.identity(x)


def breaks_memory_soon(x):
    return breaks_memory(x, 3)


@pytest.mark.slow
@pytest.mark.parametrize("op", [breaks_memory, breaks_memory_soon])
@pytest.mark.parametrize("check", ["reference", "bad_input"])
def test_memory_that_a_later_call_finds_broken_is_reproduced(check, op):
    found = result(check, op, normal(2), reference=np.array)
    assert "past the end of an output" in found.cause
    assert "range(100)" in found.line
    assert forked.run(found.line).returncode == -signal.SIGABRT


def test_what_a_call_depends_on_is_found_out(broken_ops):
    inputs, attrs = broken_ops.SAMPLES["bin_max"]
    subject = Subject(broken_ops.broken_bin_max_empty_bins, list(inputs), attrs)
    found = calls.again(subject, subject.flat, subject.inputs, attrs)
    assert found[0] and found[1] == UNWRITTEN


def is_odd_in_some_calls(x, odd, stateful):
    """As by chance."""

    def run(values):
        _CALLS.append(values.size)
        return values + np.float32(len(_CALLS) in odd)

    return tf.numpy_function(run, [x], x.dtype, stateful=stateful)


@pytest.mark.parametrize(("odd", "cause"), [([5], UNWRITTEN), ([5, 7], UNREPEATED)])
def test_chance_that_is_meant_may_come_late(odd, cause):
    """The first calls of a random mask may happen to agree."""
    for stateful in (True, False):
        attrs = {"odd": odd, "stateful": stateful}
        subject = Subject(is_odd_in_some_calls, [normal(2)], attrs)
        _CALLS.clear()
        told = calls.again(subject, subject.flat, subject.inputs, attrs)[1]
        assert told == ("" if stateful else cause)


def test_tensors_of_a_list_have_numbers():
    description = Description([], [["x"], ["rows"], ["rows"], []], [], {})
    assert description.labels == ["x", "rows[0]", "rows[1]", "input 3"]


@pytest.mark.parametrize(
    ("op", "said"),
    [
        (
            tf.math.log,
            {
                "gradient": "float64, with respect to x; second order too",
                "saved_model": "loaded in a fresh process: the same values",
                "vectorize": "served by a pfor rule",
                "xla": "compiled by XLA",
            },
        ),
        (
            lambda x: tf.map_fn(tf.square, x),
            {"vectorize": "served by a pfor rule"},
        ),
        (
            lambda x: tf.data.Dataset.from_tensors(x).get_single_element(),
            {"vectorize": "makes a variant, which needs a pfor rule"},
        ),
    ],
)
def test_what_a_check_says(op, said):
    report = opcheck.check(op, POSITIVE, checks=said)
    assert not report.failures, str(report)
    for check, words in said.items():
        assert words in report[check].detail


def test_what_a_check_says_of_an_op_of_ones_own(broken_ops):
    said = {
        "gradient": "float64, with respect to x; second order too",
        "saved_model": "the same values; a clean error without the library",
        "vectorize": "served by the fallback, a while loop: no pfor rule",
        "xla": "not supported, said cleanly: no XLA kernel",
    }
    report = opcheck.check(broken_ops.cube, POSITIVE, checks=said).assert_ok()
    for check, words in said.items():
        assert words in report[check].detail


def drops_some(x):
    return tf.nn.experimental.stateless_dropout(x, 0.5, seed=[1, 2])


@pytest.mark.parametrize("check", ["dtypes", "gradient"])
def test_each_dtype_has_random_numbers_of_its_own(check):
    found = result(check, drops_some, normal(9))
    assert found.verdict != "fail", found.explanation()
