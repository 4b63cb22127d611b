"""How long calls may go on."""

from types import SimpleNamespace

import pytest

from opcheck.processes import budget
from opcheck.processes.budget import Budget
from opcheck.subject import Subject


@pytest.fixture
def times(monkeypatch):
    """What the clock and the processor's say."""
    said = {"monotonic": 100.0, "process_time": 10.0}
    for name in said:
        monkeypatch.setattr(budget.time, name, lambda name=name: said[name])
    return said


@pytest.mark.parametrize(
    ("took", "computed", "spent"),
    [
        (1.9, 1.9, False),
        (2.1, 2.1, True),
        (1.1, 2.2, False),  # two threads
        (4, 0.5, False),  # others compute
        (4, 2.1, True),
        (6.1, 0.5, True),
    ],
)
def test_a_busy_machine_gets_as_much_computed(times, took, computed, spent):
    of_two_seconds = Budget(2)
    times["monotonic"] += took
    times["process_time"] += computed
    assert of_two_seconds.is_spent() == spent


@pytest.mark.parametrize("fast", [True, False])
def test_a_first_look_ends_sooner(times, fast):
    of_two_seconds = Subject.budget(SimpleNamespace(options={"fast": fast}), 2)
    times["monotonic"] += 1
    times["process_time"] += 1
    assert of_two_seconds.is_spent() == fast
