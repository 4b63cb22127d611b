"""What page faults cost an op that returns 100 MB, and TensorFlow's and glibc's settings against them.

Each turn is a process of its own, since glibc and TensorFlow read their settings when they start.
"""

import resource
import time
from functools import partial

import numpy as np
import prologue  # noqa: F401  before TensorFlow
from measure import command_line, heading_of, in_turns, row, write
from processes import in_process

BFC = {"TF_CPU_ALLOCATOR_USE_BFC": "true"}
HUGE = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
WAYS = {
    "oneDNN on": {},
    "oneDNN off": {"TF_ENABLE_ONEDNN_OPTS": "0"},
    "oneDNN off, BFC allocator": {"TF_ENABLE_ONEDNN_OPTS": "0"} | BFC,
    "oneDNN off, huge pages": {"TF_ENABLE_ONEDNN_OPTS": "0"} | HUGE,
    "oneDNN off, both": {"TF_ENABLE_ONEDNN_OPTS": "0"} | BFC | HUGE,
}
FIRST = 3  # calls that are not counted: memory is new in these whatever the settings


def calls(span: float) -> tuple[float, float]:
    """The median seconds and page faults of a call, for about `span` seconds."""
    import tensorflow as tf

    x = tf.ones([25_000_000])

    def call() -> tuple[float, int]:
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        start = time.perf_counter()
        y = x + 1.0
        del y
        took = time.perf_counter() - start
        return took, resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults

    for _ in range(FIRST):
        call()
    found, start = [], time.perf_counter()
    while not found or time.perf_counter() - start < span:
        found.append(call())
    seconds, faults = np.median(found, 0)
    return float(seconds), float(faults)


def main() -> None:
    options = command_line(__file__, __doc__, rounds=9, span=0.5).parse_args()
    first_lines = heading_of(
        __file__,
        options,
        [
            "way: x + 1.0 of 25 million float32 numbers, eagerly; BFC allocator: TF_CPU_ALLOCATOR_USE_BFC=true; "
            "huge pages: GLIBC_TUNABLES=glibc.malloc.hugetlb=1",
            f"milliseconds and page faults: of a call after the first {FIRST}, the median of the rounds",
            "ratio: to oneDNN off in the same round, with median, q1 and q3",
        ],
    )
    timed = {
        way: partial(in_process, calls, options.span, settings=settings)
        for way, settings in WAYS.items()
    }
    found = in_turns(timed, options.rounds)
    base = found["oneDNN off"][:, 0]
    rows = [
        row({}, way, of[:, 0], base) | {"page faults": int(np.median(of[:, 1]))}
        for way, of in found.items()
    ]
    write(options.output, first_lines, rows)
    print(options.output.read_text(), end="")


if __name__ == "__main__":
    main()
