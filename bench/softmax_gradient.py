"""How long the softmax cross-entropy and its gradient take: differentiated in Python, and TensorFlow's own."""

from functools import partial

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from measure import run_turns, traced, trained, turns
from softmax_cross_entropy import simplified

BASE, STOCK = "simplified", "tf.nn"
SHAPES = [(128, 10), (128, 1000), (64, 32_000)]


def measure(rows: int, classes: int, rounds: int, span: float) -> list[dict]:
    """The rows of the table for one shape, after a check that all ways give the same."""
    random = np.random.default_rng(0)
    logits = tf.constant(random.normal(size=(rows, classes)), tf.float32)
    labels = tf.one_hot(random.integers(classes, size=rows), classes)
    stock = trained(partial(tf.nn.softmax_cross_entropy_with_logits, labels))
    ways = {
        BASE: trained(partial(simplified, labels)),
        STOCK: stock,
        f"{STOCK}, XLA": tf.function(stock, jit_compile=True),
    }
    runs = {name: traced(way, logits) for name, way in ways.items()}
    expected = runs[STOCK]()
    for run in runs.values():
        for result, value in zip(run(), expected):
            np.testing.assert_allclose(result, value, rtol=1e-4, atol=1e-6)
    return turns({"rows": rows, "classes": classes}, runs, rounds, span)


def main() -> None:
    notes = [
        "times of losses and gradient in a tf.function, float32: the median of the rounds",
        "XLA: with jit_compile=True, loss and gradient together",
        f"ratio: to the time of {BASE} in the same round, with median, q1 and q3",
    ]
    run_turns(__file__, __doc__, notes, measure, cases=SHAPES)


if __name__ == "__main__":
    main()
