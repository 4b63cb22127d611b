"""The check `concurrency`."""

import ctypes
import os
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf
from broken_twins import caught
from python_ops import adds_one, normal, result, strings

import opcheck
from opcheck.checks import threads
from opcheck.findings.report import SHARED, Findings
from opcheck.subject import Subject

# The broken ops that it must find, and words of the explanation.
CAUGHT = {
    "row_softmax_static": "static",
    "row_softmax_member": "member",
    "delayed_not_cancelled": "RegisterCallback",
    "prime_count_no_lock": "a global variable",
}
test_a_broken_op_is_caught = caught("concurrency", CAUGHT)


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


_CALLS = []


def dies_in_company(x):
    """Of two calls at once."""
    if tf.executing_eagerly():
        _CALLS.append(x)
        if len(_CALLS) > 1:
            os.abort()
        time.sleep(0.01)
        _CALLS.pop()
    return tf.identity(x)


def test_calls_that_die_only_together_are_put_down_to_what_they_share():
    found = result("concurrency", dies_in_company, normal(3))
    assert found.detail == "8 calls at a time: eager calls"
    assert "SIGABRT" in found.seen and "which all calls share" in found.cause
    assert 'checks="concurrency"' in found.line


def test_a_read_past_an_input_is_not_put_down_to_what_calls_share(monkeypatch):
    """As one of other tensors' memory, which is the same where calls are made one at a time."""

    def next_float(x):
        behind = np.frombuffer(x, np.float32).ctypes.data + 4 * len(x)
        return tf.constant(ctypes.c_float.from_address(behind).value)

    monkeypatch.setattr(Subject, "repeats", lambda *_: True)
    subject, found = Subject(next_float, [normal(3)], {}), Findings("concurrency", "")
    threads._report(subject, found, "calls", [("1 instead of 2", (subject.flat, None))])
    assert "past the end of an input" in found.failures[0].cause


@pytest.mark.parametrize("of_its_own", [True, False])
def test_a_call_with_threads_of_its_own_may_race_alone(of_its_own):
    def sums(x):
        def compute():
            np.sort(np.tile([3.0, 1.0, 2.0], 1 << 18))

        if of_its_own:
            thread = threading.Thread(target=compute)
            thread.start()
            thread.join()
        else:
            compute()
        return tf.reduce_sum(x)

    subject, found = Subject(sums, [normal(3)], {}), Findings("concurrency", "")
    threads._report(subject, found, "calls", [("1 instead of 2", (subject.flat, None))])
    cause = found.failures[0].cause
    assert cause.startswith(SHARED) and ("of one call" in cause) == of_its_own


_SHARED = {}


def shares_an_attr(x, factor=2.0):
    """Keeps an attr where all kernels find it."""

    def run(values):
        _SHARED["factor"] = factor
        time.sleep(0.001)
        return values * values.dtype.type(_SHARED["factor"])

    return tf.ensure_shape(tf.numpy_function(run, [x], x.dtype), x.shape)


def test_kernels_with_other_attrs_run_at_the_same_time():
    found = result("concurrency", shares_an_attr, normal(3), factor=2.0)
    assert found.detail == "eager calls with other attrs from 8 threads"
    assert "which all calls share" in found.cause


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


@pytest.mark.slow
def test_a_wait_of_a_moment_is_made_longer_and_cancelled(broken_ops):
    for name, verdict in (
        ("broken_delayed_not_cancelled", "fail"),
        ("delayed", "pass"),
    ):
        op = getattr(broken_ops, name)
        options = {"checks": "concurrency", "milliseconds": 20}
        found = opcheck.check(op, np.float32([1]), **options)["concurrency"]
        assert found.verdict == verdict, found.explanation()
        assert verdict == "pass" or "with milliseconds = " in found.detail


class Ids:
    """A table of texts, and what each call does with those that it does not find."""

    def __init__(self, looks_again: bool = True, numbers_again: bool = True):
        self.looks_again, self.numbers_again = looks_again, numbers_again
        self.ids, self.lock = {}, threading.Lock()

    def __call__(self, texts):
        missing = [text for text in texts if text not in self.ids]
        number = len(self.ids)
        time.sleep(0.02)
        with self.lock:
            if self.numbers_again:
                number = len(self.ids)
            for text in missing:
                if not self.looks_again or text not in self.ids:
                    self.ids[text] = number
                    number += 1
        return np.int64([self.ids[text] for text in texts])


@pytest.mark.parametrize(
    ("ids", "cause"),
    [
        (Ids(), ""),
        (Ids(looks_again=False), "look again under the lock"),
        (Ids(numbers_again=False), "the next number of a table is read before"),
    ],
)
def test_new_elements_get_one_entry_each(monkeypatch, ids, cause):
    monkeypatch.setattr(threads, "_ELEMENTS", 1000)  # each is some work for Python

    def op(texts):
        return tf.numpy_function(ids, [texts], tf.int64)

    options = {"isolate": False, "concurrency_seconds": 0.1}
    found = result("concurrency", op, strings(b"a", b"b", b"a"), **options)
    assert found.verdict == ("fail" if cause else "pass"), found.explanation()
    assert cause in found.cause


def test_equal_hashes_of_new_elements_are_no_race():
    def op(texts):
        return tf.strings.to_hash_bucket_fast(texts, 1 << 20)

    options = {"isolate": False, "concurrency_seconds": 0.1}
    found = result("concurrency", op, strings(b"a", b"b", b"a"), **options)
    assert found.verdict == "pass", found.explanation()
