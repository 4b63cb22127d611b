"""How fast each step on the way to RoiPool's kernel is: `make bench`.

All steps are kernels of one library, and give the same bits.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from roi_pool_workloads import WORKLOADS
from turns import Case, run_turns

EXAMPLE = Path(__file__).parents[1] / "examples" / "roi_pool"
# From a step to the attrs of RoiPoolVariant.
STEPS = {
    "one channel at a time": dict(kernel="plain"),
    "all channels of a pixel": dict(kernel="channels"),
    "in registers": dict(kernel="direct", path="baseline", stores="ordinary"),
    "wider registers": dict(kernel="direct", stores="ordinary"),
    "sweep": dict(kernel="packed", stores="ordinary"),
    "RoiPool": dict(kernel="best"),
}


def cases(threads: int) -> Iterator[Case]:
    op = tf.load_op_library(str(EXAMPLE / "libroi_pool_variants.so")).roi_pool_variant
    for name in "abc":
        w = WORKLOADS[name]
        features, rois = tf.constant(w.features()), tf.constant(w.rois())
        ways = {
            step: partial(op, features, rois, w.pooled, w.pooled, w.scale, **attrs)
            for step, attrs in STEPS.items()
        }
        yield Case({"workload": name}, ways)


if __name__ == "__main__":
    notes = [
        "milliseconds: of an eager call with argmax, the median of the rounds",
        "in registers: those of any x86-64 or Arm processor; wider registers: the best of this one",
        "sweep: over a copy of the map; RoiPool: with a sweep where that pays, and stores past the caches",
        *(f"{name}: {WORKLOADS[name]}" for name in "abc"),
    ]
    run_turns(cases, notes, rounds=11, span=0.15, threads=True)
