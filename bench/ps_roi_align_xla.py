"""How long PsRoiAlign and its gradient take beside loops of TensorFlow's own ops that XLA compiles: `make bench`."""

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from measure import run_turns, traced, turns
from processes import by_threads
from ps_roi_align import ps_roi_align, ps_roi_align_grad
from ps_roi_align_loops import ps_roi_align_grad_loops, ps_roi_align_loops
from ps_roi_align_workloads import BINS, WORKLOADS, given_gradient

CLOSE = 2e-4  # sums in another order, and places that XLA rounds otherwise


def measure(threads: int, rounds: int, span: float) -> list[dict]:
    """The rows of the table for a number of threads, after a check that both ways give the same."""
    rows = []
    for name, workload in WORKLOADS.items():
        features = tf.constant(workload.features())
        rois = tf.constant(workload.rois())
        grad = tf.constant(given_gradient(workload))
        sides = rois[:, 3:] - rois[:, 1:3]
        longest = float(tf.reduce_max(sides)) * workload.scale
        options = workload.scale, longest
        ways = {
            "forward": {
                "PsRoiAlign": lambda x, r, s=workload.scale: ps_roi_align(
                    x, r, BINS, BINS, s
                ),
                "loops, XLA": lambda x, r, o=options: ps_roi_align_loops(
                    x, r, BINS, *o
                ),
            },
            "gradient": {
                "PsRoiAlign": lambda g, r, s=workload.scale, x=features: (
                    ps_roi_align_grad(g, r, x.shape, BINS, BINS, s)
                ),
                "loops, XLA": lambda g, r, o=options, x=features: (
                    ps_roi_align_grad_loops(g, r, tuple(x.shape), *o)
                ),
            },
        }
        for task, given in ("forward", features), ("gradient", grad):
            runs = {n: traced(way, given, rois) for n, way in ways[task].items()}
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
