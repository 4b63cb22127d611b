"""How long calls may go on."""

import pytest

from opcheck.processes import budget
from opcheck.processes.budget import Budget


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
def test_a_busy_machine_gets_as_much_computed(monkeypatch, took, computed, spent):
    times = {"monotonic": 100.0, "process_time": 10.0}
    for name in times:
        monkeypatch.setattr(budget.time, name, lambda name=name: times[name])
    of_two_seconds = Budget(2)
    times["monotonic"] += took
    times["process_time"] += computed
    assert of_two_seconds.is_spent() == spent
