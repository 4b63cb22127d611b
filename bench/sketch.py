"""How long merging and moving sketches takes, beside uint8 tensors that hold the same registers."""

from collections.abc import Iterator

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from sketch import count, sketch
from turns import Case, run_turns, traced

COUNTS = [100, 10_000]
PRECISION = 12


class Moved(Case):
    """Ways whose results are sketches in one and numbers in the other, which cannot be compared."""

    def check(self) -> None:
        pass


def cases() -> Iterator[Case]:
    for number in COUNTS:
        sketches = tf.stack([sketch([key], PRECISION) for key in range(number)])
        registers = tf.zeros([number, 2**PRECISION], tf.uint8)
        order = tf.constant(np.random.default_rng(0).permutation(number))
        estimate = count(tf.add_n(tf.unstack(sketches)))
        np.testing.assert_allclose(estimate, number, rtol=0.1)
        merging = {
            "variant": traced(lambda x: tf.add_n(tf.unstack(x)), sketches),
            "uint8": traced(lambda x: tf.reduce_max(x, 0), registers),
        }
        moving = {
            "variant": traced(tf.gather, sketches, order),
            "uint8": traced(tf.gather, registers, order),
        }
        yield Moved({"task": "merge", "sketches": number}, merging)
        yield Moved({"task": "gather", "sketches": number}, moving)


if __name__ == "__main__":
    notes = [
        "milliseconds: of a call in a tf.function, the median of the rounds",
        f"sketches: of {2**PRECISION} registers of a byte",
        "merge: tf.add_n of the unstacked sketches; of uint8, tf.reduce_max",
        "gather: tf.gather of all of them in another order",
    ]
    run_turns(cases, notes, rounds=15)
