"""The checks `concurrency`, `devices`, `leaks`, `vectorize` and `xla`, and what a check says that passes."""

from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf
from python_ops import (
    adds_noise,
    adds_one,
    counts_calls,
    dies_in_company,
    normal,
    result,
    shares_an_attr,
)

import opcheck
from opcheck.checks import threads, transforms
from opcheck.subject import Subject

ANONYMOUS = "cd2c89b7-88b7-44c8-ad83-06c2a9158347"
POSITIVE = 1 + np.abs(normal(2))


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
    report = opcheck.check(op, POSITIVE, checks=said).assert_ok()
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


@pytest.mark.slow
def test_a_race_that_is_found_ends_the_calls(broken_ops):
    """Else the worker would be silent for longer than the timeout."""
    report = opcheck.check(
        broken_ops.broken_row_softmax_static,
        normal(1000, 1000),
        checks=["concurrency"],
        concurrency_seconds=3600,
        timeout=100,
    )
    assert "instead of" in report["concurrency"].seen


def test_unwritten_memory_of_other_values_is_not_shared():
    """Cholesky of the sample is fine, and of its permutations, which are indefinite, it leaves a triangle unwritten."""
    for _ in range(3):  # other threads may free memory between a filling and a call
        found = result("concurrency", tf.linalg.cholesky, np.float64([[4, 1], [1, 3]]))
        assert found.verdict == "fail" and "member" not in found.cause
        if "not written" in found.cause:
            break
    assert "not written" in found.cause
    assert "fill_memory" in found.line


def test_calls_that_die_only_together_are_put_down_to_what_they_share():
    found = result("concurrency", dies_in_company, normal(3))
    assert found.detail == "8 calls at a time: eager calls"
    assert "SIGABRT" in found.seen and "which all calls share" in found.cause
    assert 'checks="concurrency"' in found.line


def test_kernels_with_other_attrs_run_at_the_same_time():
    found = result("concurrency", shares_an_attr, normal(3), factor=2.0)
    assert found.detail == "eager calls with other attrs from 8 threads"
    assert "which all calls share" in found.cause


def test_memory_that_grows_once_is_no_leak(monkeypatch):
    """On a busy machine, threads that are new to a call fill caches of free memory, which count as allocated."""
    once = iter([(0, 20_000), (0, 0), (0, 0)])
    always = iter([(0, 20_000)] * 4)
    for grown, seen in [(once, []), (always, ["400 bytes more after each call"])]:
        monkeypatch.setattr(threads, "growth", lambda *_, of=grown: next(of))
        found = opcheck.Findings("leaks", "")
        threads.leaks(Subject(adds_one, [normal(2)], {}), found)
        assert [failure.seen for failure in found.failures] == seen


def test_another_result_on_the_gpu_is_a_finding(monkeypatch):
    """A device that is not there is the CPU again, where this op gives another result at each call."""
    monkeypatch.setattr(tf.config, "get_visible_devices", lambda kind: [kind])
    ops = [(counts_calls, "fail"), (adds_noise, "fail"), (adds_one, "pass")]
    for op, verdict in ops:
        found = opcheck.Findings("devices", "")
        subject = Subject(op, [normal(2)], {}, {"op_types": ["Identity"]})
        transforms.devices(subject, found)
        assert found.result().verdict == verdict
        assert "by less than 1 %" not in found.result().cause


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int64", "uint64"])
def test_larger_numbers_fit_into_the_dtype(dtype):
    largest = np.iinfo(dtype).max
    for some in ([largest, 1], [0, 0], [largest // 100, 2]):
        x = np.array(some, dtype)
        factor = threads._most(x)
        (larger,) = threads._times([x], 0, min(factor, 8))
        assert larger.dtype == x.dtype and larger.tolist() == [
            int(n) * min(factor, 8) for n in some
        ]
    found = result("concurrency", adds_one, np.array([largest, 1], dtype))
    assert found.verdict == "pass", found.explanation()


@pytest.mark.parametrize(("size", "tried"), [(2, 1), (1 << 23, 0)])
def test_other_attrs_do_not_make_outputs_that_fill_memory(monkeypatch, size, tried):
    """As full_matrices does of tf.linalg.qr, where the sample has become long."""
    drawn = SimpleNamespace(attrs=lambda: {"size": size})
    monkeypatch.setattr(threads, "Draw", lambda _: drawn)
    subject = Subject(lambda x, size=1: tf.fill([size], x[0]), [normal(2)], {})
    assert len(threads._other_attrs(subject, subject.flat)) == tried
