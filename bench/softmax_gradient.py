"""How long the softmax cross-entropy and its gradient take, by six ways to differentiate it, two by XLA, too."""

from functools import partial

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from measure import in_mode, run_turns, trained, turns
from softmax_cross_entropy import naive, simplified, stable


def raw_op(labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
    """The op within `tf.nn.softmax_cross_entropy_with_logits`, without the Python around it."""
    op = tf.raw_ops.SoftmaxCrossEntropyWithLogits
    return op(features=logits, labels=labels).loss


@tf.custom_gradient
def raw_op_for_logits(labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
    """The same, with no gradient for the labels."""
    op = tf.raw_ops.SoftmaxCrossEntropyWithLogits
    loss, backprop = op(features=logits, labels=labels)
    return loss, lambda grad: (None, grad[..., tf.newaxis] * backprop)


WAYS = {
    "naive": naive,
    "stable": stable,
    "simplified": simplified,
    "tf.nn": tf.nn.softmax_cross_entropy_with_logits,
    "raw op": raw_op,
    "raw op, logits": raw_op_for_logits,
}
XLA = "simplified", "tf.nn"  # in a tf.function, compiled by XLA, too
BASE = "simplified"
SHAPES = [(128, 10), (128, 1000), (64, 32_000)]


def measure(mode: str, rows: int, classes: int, rounds: int, span: float) -> list[dict]:
    """The rows of the table for one shape, after a check that all ways give the same."""
    random = np.random.default_rng(0)
    logits = tf.constant(random.normal(size=(rows, classes)), tf.float32)
    labels = tf.one_hot(random.integers(classes, size=rows), classes)
    runs = {
        name: in_mode(mode, trained(partial(loss, labels)), logits)
        for name, loss in WAYS.items()
    }
    if mode == "tf.function":
        for name in XLA:
            way = tf.function(trained(partial(WAYS[name], labels)), jit_compile=True)
            runs[f"{name}, XLA"] = in_mode(mode, way, logits)
    expected = runs["tf.nn"]()
    for run in runs.values():
        for result, value in zip(run(), expected):
            np.testing.assert_allclose(result, value, rtol=1e-4, atol=1e-6)
    case = {"mode": mode, "rows": rows, "classes": classes}
    return turns(case, runs, rounds, span, BASE)


def main() -> None:
    notes = [
        "times of losses and gradient, float32: the median of the rounds",
        "XLA: with jit_compile=True, loss and gradient together",
        f"ratio: to the time of {BASE} in the same round, with median, q1 and q3",
    ]

    def rows(rounds: int, span: float) -> list[dict]:
        return [
            row
            for mode in ("eager", "tf.function")
            for shape in SHAPES
            for row in measure(mode, *shape, rounds, span)
        ]

    run_turns(__file__, __doc__, notes, rows)


if __name__ == "__main__":
    main()
