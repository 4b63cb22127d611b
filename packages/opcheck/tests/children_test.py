"""What counts as a worker that hangs."""

import itertools

import pytest

from opcheck import children


class Silent:
    """A connection from which nothing comes; it says how long it was waited for."""

    def __init__(self):
        self.polled = []

    def poll(self, seconds: float) -> bool:
        self.polled.append(seconds)
        return False


@pytest.mark.parametrize(
    ("waited", "seconds"),
    [([0, 0], 0.4), ([0, 0.3, 0.3], 0.7), ([5, 99, 99], 1.6)],
    ids=["a free machine", "a busy one", "a very busy one"],
)
def test_the_time_of_other_processes_does_not_count(monkeypatch, waited, seconds):
    readings = itertools.chain(waited, itertools.repeat(waited[-1]))
    monkeypatch.setattr(children, "_waited", lambda pid: next(readings))
    child = children.Child(None, timeout=0.4)
    child._connection, child._pid = Silent(), 0
    assert not child._answers()
    assert sum(child._connection.polled) == pytest.approx(seconds, abs=0.15)


def test_time_in_which_all_processes_are_stopped_counts_for_a_second(monkeypatch):
    monkeypatch.setattr(children, "_waited", lambda pid: 0)
    child = children.Child(None, timeout=2.5)
    child._connection, child._pid = Silent(), 0
    assert not child._answers()
    assert child._connection.polled == [1, 1, 0.5]


def test_how_long_a_process_waited_is_known():
    assert children._waited(1) >= 0
    assert children._waited(-1) == 0
