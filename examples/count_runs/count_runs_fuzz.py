"""Generated calls: `python -m opcheck fuzz examples/count_runs/count_runs_fuzz.py`."""

from count_runs import count_runs, count_runs_stateful

from opcheck.strategies import calls, tensors


def returned(x):
    return x.copy()


FUZZ = {
    "CountRuns": (count_runs, calls(tensors()), returned),
    "CountRunsStateful": (count_runs_stateful, calls(tensors()), returned),
    "RacyZeroOut": "a race on purpose",
}
