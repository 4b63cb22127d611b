"""How long `opcheck.check` takes for the op of its chapter: the draft, and the op when it is right."""

import time

import numpy as np
import prologue  # noqa: F401  before TensorFlow
from masked_mean import masked_mean
from masked_mean_reference import masked_mean_reference
from measure import command_line, heading_of, in_turns, write
from wrong_masked_mean import masked_mean_draft

import opcheck

VALUES = np.float32([[5, 4, 3, 8], [2, 1, 6, 7], [9, 12, 11, 10]])
MASK = np.arange(4) < [[3], [2], [1]]
CHECKED = {
    "the draft": (masked_mean_draft, False),
    "the op": (masked_mean, False),
    "the op, fast=True": (masked_mean, True),
}


def seconds(op: object, right: bool, fast: bool) -> float:
    """Of a call; its verdict has to be what it is in the chapter."""
    start = time.perf_counter()
    report = opcheck.check(op, VALUES, MASK, reference=masked_mean_reference, fast=fast)
    took = time.perf_counter() - start
    if report.ok != right:
        raise AssertionError(str(report))
    return took


def main() -> None:
    options = command_line(__file__, __doc__, rounds=3, span=0).parse_args()
    notes = ["seconds: of a call with all checks, the median of the rounds"]
    first_lines = heading_of(__file__, options, notes)
    timed = {
        name: lambda op=op, fast=fast: seconds(op, op is masked_mean, fast)
        for name, (op, fast) in CHECKED.items()
    }
    rows = [
        {"way": way, "seconds": f"{np.median(took):.1f}"}
        for way, took in in_turns(timed, options.rounds).items()
    ]
    write(options.output, first_lines, rows)
    print(options.output.read_text(), end="")


if __name__ == "__main__":
    main()
