"""How long a random sample of 1,000 takes to see a value, late in a long stream."""

from collections.abc import Iterator

import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from state_sample import Sample
from turns import Case, run_turns

CAPACITY, VALUES = 1000, 1_000_000


def cases() -> Iterator[Case]:
    sample, values = Sample(CAPACITY), tf.range(float(VALUES))
    for _ in range(3):
        sample.add(values)
    yield Case({"values": VALUES}, {"Sample": lambda: sample.add(values)})


if __name__ == "__main__":
    notes = [
        "milliseconds: of a call of Sample.add, the median of the rounds",
        f"Sample: keeps {CAPACITY} values and has seen at least {3 * VALUES}",
    ]
    run_turns(cases, notes, rounds=15)
