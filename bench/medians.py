"""How long median pooling takes as one op, and composed of TensorFlow's functions: `python bench/medians.py`.

TensorFlow is as it comes, with oneDNN on.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from median_pool import median_pool, network_median_pool, stock_median_pool
from turns import Case, compiled_by_xla, run_turns, traced

IMAGES = (4, 224, 224, 16)


def cases(threads: int) -> Iterator[Case]:
    images = tf.constant(np.random.default_rng(0).normal(size=IMAGES), tf.float32)
    for ksize in (2, 3, 5):
        stock = partial(stock_median_pool, ksize=ksize)
        network = partial(network_median_pool, ksize=ksize)
        ways = {
            "MedianPool": partial(median_pool, ksize=ksize),
            "stock": stock,
            "stock, XLA": compiled_by_xla(stock),
            "network": network,
            "network, XLA": compiled_by_xla(network),
        }
        runs = {name: traced(way, images) for name, way in ways.items()}
        yield Case({"ksize": ksize}, runs)


if __name__ == "__main__":
    notes = [
        f"images: {list(IMAGES)}, random float32 numbers; windows side by side",
        "stock: extract_patches, transpose, top_k; network: minima and maxima of shifted images, a sorting network",
        "XLA: the same with jit_compile=True",
        "times of a call in a tf.function, oneDNN on, default memory: the median of the rounds",
    ]
    run_turns(cases, notes, rounds=7, threads=True)
