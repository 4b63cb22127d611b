"""The check `leaks`."""

from broken_twins import caught
from python_ops import adds_one, normal

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
