"""How long PsRoiAlign and its gradient take beside loops of TensorFlow's own ops that XLA compiles: `make bench`."""

from collections.abc import Callable

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from measure import run_turns, traced, turns
from processes import by_threads
from ps_roi_align import ps_roi_align, ps_roi_align_grad
from ps_roi_align_loops import ps_roi_align_grad_loops, ps_roi_align_loops
from ps_roi_align_workloads import BINS, WORKLOADS, given_gradient
from roi_pool_workloads import Workload

CLOSE = 2e-4  # sums in another order, and places that XLA rounds otherwise


def tasks(workload: Workload) -> dict[str, dict[str, Callable]]:
    """From a task to ways, functions of no arguments; our op is the first."""
    features, rois = tf.constant(workload.features()), tf.constant(workload.rois())
    grad = tf.constant(given_gradient(workload))
    shape, scale = tuple(features.shape), workload.scale
    longest = float(tf.reduce_max(rois[:, 3:] - rois[:, 1:3])) * scale
    ways = {
        "forward": {
            "PsRoiAlign": lambda x, r: ps_roi_align(x, r, BINS, BINS, scale),
            "loops, XLA": lambda x, r: ps_roi_align_loops(x, r, BINS, scale, longest),
        },
        "gradient": {
            "PsRoiAlign": lambda g, r: ps_roi_align_grad(
                g, r, shape, BINS, BINS, scale
            ),
            "loops, XLA": lambda g, r: ps_roi_align_grad_loops(
                g, r, shape, scale, longest
            ),
        },
    }
    given = {"forward": features, "gradient": grad}
    return {
        task: {name: traced(way, given[task], rois) for name, way in some.items()}
        for task, some in ways.items()
    }


def measure(threads: int, rounds: int, span: float) -> list[dict]:
    """The rows of the table for a number of threads, after a check that both ways give the same."""
    rows = []
    for name, workload in WORKLOADS.items():
        for task, runs in tasks(workload).items():
            (ours,), (theirs,) = (run() for run in runs.values())
            np.testing.assert_allclose(theirs, ours, rtol=CLOSE, atol=CLOSE)
            case = {"workload": name, "threads": threads, "task": task}
            rows += turns(case, runs, rounds, span)
    return rows


def main() -> None:
    notes = [
        "milliseconds: of a call in a tf.function, the median of the rounds",
        "ratio: to PsRoiAlign in the same round, with median, q1 and q3",
        "loops, XLA: examples/ps_roi_align/ps_roi_align_loops.py",
        *(f"{name}: {workload}" for name, workload in WORKLOADS.items()),
    ]
    run_turns(__file__, __doc__, notes, by_threads(measure), rounds=11, threads=True)


if __name__ == "__main__":
    main()
