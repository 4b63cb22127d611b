"""How long the softmax cross-entropy and its gradient take, by four ways to differentiate it.

`python bench/softmax_gradient.py` prints the figures and writes them to softmax_gradient.csv beside this file.
In each round every way runs once for a while, in turn, so that what else the machine does meets all of them; a
ratio is taken within its round, and the median of the rounds is given, with their quartiles.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import numpy as np
import tensorflow as tf
from measure import heading, quartiles, write

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "examples" / "multi_output"))

from softmax_cross_entropy import naive, simplified, stable  # noqa: E402

WAYS = {
    "naive": naive,
    "stable": stable,
    "simplified": simplified,
    "tf.nn": tf.nn.softmax_cross_entropy_with_logits,
}
BASE = "simplified"
SHAPES = [(128, 10), (128, 1000), (64, 32_000)]
FIELDS = ["mode", "rows", "classes", "way", "milliseconds", "ratio", "q1", "q3"]


def with_gradient(loss: Callable, labels: tf.Tensor) -> Callable:
    """A function of the logits that computes the losses and their gradient."""

    def run(logits: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        with tf.GradientTape() as tape:
            tape.watch(logits)
            losses = loss(labels, logits)
        return losses, tape.gradient(losses, logits)

    return run


def seconds(run: Callable, logits: tf.Tensor, calls: int) -> float:
    """The mean time of a call."""
    start = time.perf_counter()
    for _ in range(calls):
        _, gradient = run(logits)
    gradient.numpy()
    return (time.perf_counter() - start) / calls


def measure(mode: str, rows: int, classes: int, rounds: int, span: float) -> list[dict]:
    """The rows of the table for one shape, after a check that all ways give the same."""
    random = np.random.default_rng(0)
    logits = tf.constant(random.normal(size=(rows, classes)), tf.float32)
    labels = tf.one_hot(random.integers(classes, size=rows), classes)
    runs = {name: with_gradient(loss, labels) for name, loss in WAYS.items()}
    if mode == "tf.function":
        runs = {
            name: tf.function(run, autograph=False).get_concrete_function(logits)
            for name, run in runs.items()
        }
    expected = runs["tf.nn"](logits)
    for run in runs.values():
        for result, value in zip(run(logits), expected):
            np.testing.assert_allclose(result, value, rtol=1e-4, atol=1e-6)
    calls = {
        name: max(1, round(span / seconds(run, logits, 3)))
        for name, run in runs.items()
    }
    names = list(runs)
    times = np.empty((rounds, len(names)))
    for i in range(rounds):
        for way in np.roll(np.arange(len(names)), i):
            name = names[way]
            times[i, way] = seconds(runs[name], logits, calls[name])
    ratios = times / times[:, [names.index(BASE)]]
    table = []
    for way, name in enumerate(names):
        milliseconds = f"{np.median(times[:, way]) * 1e3:.4f}"
        spread = [f"{value:.3f}" for value in quartiles(ratios[:, way])]
        row = [mode, rows, classes, name, milliseconds, *spread]
        table.append(dict(zip(FIELDS, row)))
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=41)
    parser.add_argument("--span", type=float, default=0.05, help="seconds of each run")
    options = parser.parse_args()
    first_lines = heading(
        f"python bench/softmax_gradient.py --rounds {options.rounds} --span {options.span}",
        ["tensorflow-cpu", "tensorflow", "numpy"],
        [
            "times of losses and gradient, float32: the median of the rounds",
            f"ratio: to the time of {BASE} in the same round, with median, q1 and q3",
        ],
    )
    rows = [
        row
        for mode in ("eager", "tf.function")
        for shape in SHAPES
        for row in measure(mode, *shape, options.rounds, options.span)
    ]
    result = Path(__file__).with_suffix(".csv")
    write(result, first_lines, rows)
    print(result.read_text(), end="")


if __name__ == "__main__":
    main()
