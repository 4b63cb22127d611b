"""How long the softmax cross-entropy and its gradient take: differentiated in Python, and TensorFlow's own."""

from collections.abc import Iterator
from functools import partial

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from softmax_cross_entropy import simplified
from turns import Case, compiled_by_xla, run_turns, traced, trained

SHAPES = [(128, 10), (128, 1000), (64, 32_000)]


def cases() -> Iterator[Case]:
    for rows, classes in SHAPES:
        random = np.random.default_rng(0)
        logits = tf.constant(random.normal(size=(rows, classes)), tf.float32)
        labels = tf.one_hot(random.integers(classes, size=rows), classes)
        stock = trained(partial(tf.nn.softmax_cross_entropy_with_logits, labels))
        ways = {
            "simplified": trained(partial(simplified, labels)),
            "tf.nn": stock,
            "tf.nn, XLA": compiled_by_xla(stock),
        }
        runs = {name: traced(way, logits) for name, way in ways.items()}
        yield Case({"rows": rows, "classes": classes}, runs, rtol=1e-4, atol=1e-6)


if __name__ == "__main__":
    notes = [
        "times of losses and gradient in a tf.function, float32: the median of the rounds",
        "XLA: with jit_compile=True, loss and gradient together",
    ]
    run_turns(cases, notes)
