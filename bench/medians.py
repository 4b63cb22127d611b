"""How long median pooling takes as one op, and composed of TensorFlow's functions: `python bench/medians.py`.

TensorFlow is as it comes, with oneDNN on.
"""

from functools import partial

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from measure import compiled_by_xla, run_turns, traced, turns
from median_pool import median_pool, network_median_pool, stock_median_pool
from processes import by_threads

OURS = "MedianPool"
IMAGES = (4, 224, 224, 16)


def measure(threads: int, rounds: int, span: float) -> list[dict]:
    """The rows of the table for a number of threads, after a check that all ways give the same."""
    table = []
    images = tf.constant(np.random.default_rng(0).normal(size=IMAGES), tf.float32)
    for ksize in (2, 3, 5):
        stock = partial(stock_median_pool, ksize=ksize)
        network = partial(network_median_pool, ksize=ksize)
        ways = {
            OURS: partial(median_pool, ksize=ksize),
            "stock": stock,
            "stock, XLA": compiled_by_xla(stock),
            "network": network,
            "network, XLA": compiled_by_xla(network),
        }
        runs = {name: traced(way, images) for name, way in ways.items()}
        first, *others = (run() for run in runs.values())
        for other in others:
            for one, another in zip(first, other, strict=True):
                np.testing.assert_array_equal(one, another)
        table += turns({"ksize": ksize, "threads": threads}, runs, rounds, span)
    return table


def main() -> None:
    notes = [
        f"images: {list(IMAGES)}, random float32 numbers; windows side by side",
        "stock: extract_patches, transpose, top_k; network: minima and maxima of shifted images, a sorting network",
        "XLA: the same with jit_compile=True",
        "times of a call in a tf.function, oneDNN on, default memory: the median of the rounds",
        f"ratio: to the time of {OURS} in the same round, with median, q1 and q3",
    ]
    run_turns(__file__, __doc__, notes, by_threads(measure), rounds=7)


if __name__ == "__main__":
    main()
