"""What each choice in RoiPool's kernel for the CPU gains: `make bench`.

`python bench/roi_pool_choices.py` prints the figures and writes them to roi_pool_choices.csv beside this file. Each
question is put to the kernel with the choice and without it; before that, both have to give the same bits. For each
number of threads, and for TensorFlow's memory as it is by default and with memory that is kept, there is a process of
its own. Ratios are taken within a round, in which every way takes its turn.
"""

from functools import partial
from pathlib import Path

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from measure import cores, run_turns, turns
from processes import in_process
from roi_pool_workloads import KEEP, WORKLOADS, Workload

LIBRARY = (
    Path(__file__).parents[1] / "examples" / "roi_pool" / "libroi_pool_variants.so"
)
SIDES = [32, 45, 64, 90, 128, 181, 256]  # of maps of 1 to 64 MiB
REGIONS = [10, 30, 100, 300, 1000]


def map_of(side: int) -> Workload:
    """A square map of 256 channels, and regions with sides from 4 of its pixels to half of it."""
    return Workload(1, side, side, 256, 300, 7, 1 / 4, sides=(16, 2 * side))


def regions_of(count: int) -> Workload:
    """Of workload c, so many regions."""
    c = WORKLOADS["c"]
    return Workload(1, c.height, c.width, c.channels, count, 7, c.scale, sides=c.sides)


# From a question to its cases, and the ways: kernel, its stores, and whether it asks for large pages. The first one is
# the base.
QUESTIONS = {
    "stores": (
        {name: WORKLOADS[name] for name in "ab"},
        {
            "past the caches": ("direct", "streaming", True),
            "ordinary": ("direct", "ordinary", True),
        },
    ),
    "stores of the sweep": (
        {"c": WORKLOADS["c"]},
        {
            "past the caches": ("packed", "streaming", True),
            "ordinary": ("packed", "ordinary", True),
        },
    ),
    "copy": (
        {"c": WORKLOADS["c"]},
        {
            "sweep, copied": ("packed", "best", True),
            "sweep, where it is": ("sorted", "best", True),
            "by region": ("direct", "best", True),
        },
    ),
    "size of the map": (
        {str(side): map_of(side) for side in SIDES},
        {"by region": ("direct", "best", True), "sweep": ("packed", "best", True)},
    ),
    "number of regions": (
        {str(count): regions_of(count) for count in REGIONS},
        {"by region": ("direct", "best", True), "sweep": ("packed", "best", True)},
    ),
    "pages": (
        {name: WORKLOADS[name] for name in "bc"},
        {"large": ("direct", "best", True), "small": ("direct", "best", False)},
    ),
}
# Questions about memory are asked of both kinds.
OF_MEMORY = ("stores", "stores of the sweep", "pages")


def measure(threads: int, memory: str, rounds: int, span: float) -> list[dict]:
    """The rows of the table for a number of threads and a kind of memory."""
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    variant = tf.load_op_library(str(LIBRARY)).roi_pool_variant
    table = []
    for question, (cases, ways) in QUESTIONS.items():
        if memory == "default" and question not in OF_MEMORY:
            continue
        for case, workload in cases.items():
            features, rois = (
                tf.constant(x) for x in (workload.features(), workload.rois())
            )
            sizes = workload.pooled, workload.pooled, workload.scale
            runs = {
                way: partial(
                    variant,
                    features,
                    rois,
                    *sizes,
                    kernel,
                    stores=stores,
                    large_pages=large,
                )
                for way, (kernel, stores, large) in ways.items()
            }
            first, *others = (run() for run in runs.values())
            for other in others:
                for one, same in zip(first, other, strict=True):
                    np.testing.assert_array_equal(one, same)
            pixels, bins = workload.read_bytes()[1], workload.pooled_bytes()
            for way, figures in turns(runs, rounds, span, base=next(iter(ways))):
                table.append(
                    {
                        "question": question,
                        "case": case,
                        "threads": threads,
                        "memory": memory,
                        "way": way,
                        "map": features.shape.num_elements() * 4,
                        "read": pixels,
                        "written": 2 * bins,
                    }
                    | figures
                )
    return table


def main() -> None:
    notes = [
        "times of RoiPool with argmax, float32: the median of the rounds",
        "ratio: to the time of the first way of the question in the same round, with median, q1 and q3",
        "map: bytes of the features; read: bytes of the pixels of all regions; written: bytes of both outputs",
        f"memory: by default, or kept, with {' '.join(f'{k}={v}' for k, v in KEEP.items())}",
        *(f"{name}: {WORKLOADS[name]}" for name in "abc"),
        f"size of the map: {map_of(64)}, for a side of 64; number of regions: of workload c",
    ]

    def rows(rounds: int, span: float) -> list[dict]:
        return [
            row
            for threads in sorted({1, min(2, cores())})
            for memory, settings in (("kept", KEEP), ("default", {}))
            for row in in_process(
                measure, threads, memory, rounds, span, settings=settings
            )
        ]

    run_turns(Path(__file__), __doc__.splitlines()[0], notes, rows, rounds=15)


if __name__ == "__main__":
    main()
