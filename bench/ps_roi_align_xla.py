"""How long PsRoiAlign and its gradient take beside loops of TensorFlow's own ops that XLA compiles: `make bench`."""

from collections.abc import Callable, Iterator

import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from ps_roi_align import ps_roi_align, ps_roi_align_grad
from ps_roi_align_loops import ps_roi_align_grad_loops, ps_roi_align_loops
from ps_roi_align_workloads import BINS, WORKLOADS, given_gradient
from roi_pool_workloads import Workload
from turns import Case, run_turns, traced

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


def cases(threads: int) -> Iterator[Case]:
    for name, workload in WORKLOADS.items():
        for task, runs in tasks(workload).items():
            columns = {"workload": name, "task": task}
            yield Case(columns, runs, rtol=CLOSE, atol=CLOSE)


if __name__ == "__main__":
    notes = [
        "milliseconds: of a call in a tf.function, the median of the rounds",
        "loops, XLA: examples/ps_roi_align/ps_roi_align_loops.py",
        *(f"{name}: {workload}" for name, workload in WORKLOADS.items()),
    ]
    run_turns(cases, notes, rounds=11, threads=True)
