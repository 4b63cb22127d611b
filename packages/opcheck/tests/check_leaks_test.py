"""The check `leaks`."""

import collections

import pytest
import tensorflow as tf
from broken_twins import caught
from python_ops import adds_one, normal, result

import opcheck
from opcheck.checks import threads
from opcheck.subject import Subject

# The broken ops that it must find, and words of the explanation.
CAUGHT = {
    "next_sum_open_file": "1 more after each call",
    "next_sum_leak": "bytes more after each call",
    "next_sum_leak_of_large": "bytes more after each call",
}
test_a_broken_op_is_caught = caught("leaks", CAUGHT)


def test_memory_that_grows_once_is_no_leak(monkeypatch):
    """On a busy machine, threads that are new to a call fill caches of free memory, which count as allocated."""
    once = iter([(0, 20_000), (0, 0), (0, 0)])
    always = iter([(0, 20_000)] * 4)
    for grown, seen in [(once, []), (always, ["400 bytes more after each call"])]:
        monkeypatch.setattr(threads, "growth", lambda *_, of=grown: next(of))
        found = opcheck.Findings("leaks", "")
        threads.leaks(Subject(adds_one, [normal(2)], {}), found)
        assert [failure.seen for failure in found.failures] == seen


@pytest.mark.parametrize(("limit", "verdict"), [(1000, "pass"), (None, "fail")])
def test_a_table_with_a_limit_is_no_leak(limit, verdict):
    noted = collections.deque(maxlen=limit)

    def note(x):
        noted.append(bytes(1000))
        return x

    def noting(x):
        return tf.numpy_function(note, [x], x.dtype)

    found = result("leaks", noting, normal(2), isolate=False)
    assert found.verdict == verdict
