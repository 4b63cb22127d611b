"""How long moving medians take as one op, and composed of TensorFlow's functions: `python bench/medians.py`.

TensorFlow is as it comes, with oneDNN on.
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from moving_median import moving_median, network_moving_median, stock_moving_median
from turns import Case, compiled_by_xla, run_turns, traced

LENGTH = 100_000
NETWORKS_TO = 51  # beyond, XLA compiles for minutes


def cases(threads: int) -> Iterator[Case]:
    signal = tf.constant(np.random.default_rng(0).normal(size=LENGTH), tf.float32)
    for window in (3, 5, 21, 51, 101):
        stock = partial(stock_moving_median, window=window)
        network = partial(network_moving_median, window=window)
        ways = {
            "MovingMedian": partial(moving_median, window=window),
            "stock": stock,
            "stock, XLA": compiled_by_xla(stock),
        }
        if window <= NETWORKS_TO:
            ways |= {"network": network, "network, XLA": compiled_by_xla(network)}
        runs = {name: traced(way, signal) for name, way in ways.items()}
        if window <= NETWORKS_TO:
            runs["network, XLA, first call"] = partial(compiled_anew, network, signal)
        yield Case({"window": window}, runs)


def compiled_anew(way: Callable, signal: tf.Tensor) -> tf.Tensor:
    """A call that has to trace and to compile."""
    return compiled_by_xla(way)(signal)


if __name__ == "__main__":
    notes = [
        f"signal: {LENGTH} random float32 numbers; windows overlap, a median for each number",
        "stock: tf.gather of all windows, tf.sort; network: minima and maxima of shifted signals, a sorting network",
        "XLA: the same with jit_compile=True; first call: traced and compiled anew",
        "times of a call in a tf.function, oneDNN on, default memory: the median of the rounds",
    ]
    run_turns(cases, notes, rounds=9, threads=True)
