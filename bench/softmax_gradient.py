"""How long the softmax cross-entropy and its gradient take, by four ways to differentiate it.

`python bench/softmax_gradient.py` prints the figures and writes them to softmax_gradient.csv beside this file.
In each round every way runs once for a while, in turn, so that what else the machine does meets all of them; a
ratio is taken within its round, and the median of the rounds is given, with their quartiles.
"""

import argparse
import csv
import datetime
import os
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import numpy as np
import tensorflow as tf

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
        spread = [f"{np.quantile(ratios[:, way], q):.3f}" for q in (0.5, 0.25, 0.75)]
        row = [mode, rows, classes, name, milliseconds, *spread]
        table.append(dict(zip(FIELDS, row)))
    return table


def machine() -> str:
    """The name of the CPU and the number of cores that this process may use."""
    info = Path("/proc/cpuinfo")
    names = [
        line.partition(":")[2].strip()
        for line in (info.read_text().splitlines() if info.exists() else [])
        if line.startswith("model name")
    ]
    cores = len(os.sched_getaffinity(0)) if info.exists() else os.cpu_count()
    return f"{names[0] if names else platform.processor()}, {cores} cores"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=41)
    parser.add_argument("--span", type=float, default=0.05, help="seconds of each run")
    options = parser.parse_args()
    header = [
        f"# command: python bench/softmax_gradient.py --rounds {options.rounds} --span {options.span}",
        f"# machine: {machine()}, no GPU used",
        f"# load at the start: {os.getloadavg()[0]:.1f} processes ready to run, others' included",
        f"# versions: TensorFlow {tf.__version__}, NumPy {np.__version__}, Python {platform.python_version()}",
        f"# date: {datetime.date.today()}",
        "# times of losses and gradient, float32: the median of the rounds",
        f"# ratio: to the time of {BASE} in the same round, with median, q1 and q3",
    ]
    with Path(__file__).with_suffix(".csv").open("w", newline="") as file:
        print(*header, sep="\n", file=file)
        table = csv.DictWriter(file, FIELDS, lineterminator="\n")
        table.writeheader()
        for mode in ("eager", "tf.function"):
            for rows, classes in SHAPES:
                result = measure(mode, rows, classes, options.rounds, options.span)
                table.writerows(result)
                file.flush()
    print(Path(__file__).with_suffix(".csv").read_text(), end="")


if __name__ == "__main__":
    main()
