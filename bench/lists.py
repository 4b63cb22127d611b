"""How long WeightedSum takes beside compositions of TensorFlow's ops, with XLA and without.

Each function has several nodes or compositions, one after the other, for a call in Python costs more than a small sum;
where the way says XLA, each composition is a function with `jit_compile=True`.
"""

from collections.abc import Callable, Iterator

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from lists import weighted_sum
from turns import Case, compiled_by_xla, run_turns

# From how many numbers a tensor has to how many sums a function computes.
SUMS = {2**10: 32, 2**14: 8, 2**17: 2, 2**20: 1}
# Type, number of tensors and size.
SIZES = [("float32", 64, size) for size in SUMS]
TYPES = [
    ("float32", 3, 2**17),
    *((dtype, count, 2**17) for dtype in ("bfloat16", "float16") for count in (3, 64)),
]


def add_n(inputs: list[tf.Tensor], weights: tf.Tensor) -> tf.Tensor:
    """Products, added by one node."""
    return tf.add_n([x * weight for x, weight in zip(inputs, tf.unstack(weights))])


def einsum(inputs: list[tf.Tensor], weights: tf.Tensor) -> tf.Tensor:
    """A product of a vector and a matrix, to which the tensors are copied."""
    return tf.einsum("n,ni->i", weights, tf.stack(inputs))


def ways(inputs: list[tf.Tensor], weights: tf.Tensor, sums: int) -> dict[str, Callable]:
    """From a name to a function of no arguments."""
    composed = {"add_n": add_n, "einsum": einsum}
    found = {"WeightedSum": weighted_sum, **composed}
    for name, way in composed.items():
        found[f"{name}, XLA"] = compiled_by_xla(way)

    def several(way: Callable) -> Callable:
        def graph() -> list[tf.Tensor]:
            results = []
            for _ in range(sums):
                with tf.control_dependencies(results[-1:]):
                    results.append(way(inputs, weights))
            return results

        # The tensors are captured: as arguments, Python would look at each of them.
        return tf.function(graph, autograph=False).get_concrete_function()

    return {name: several(way) for name, way in found.items()}


def cases(threads: int) -> Iterator[Case]:
    for dtype, count, size in SIZES + TYPES:
        random, sums = np.random.default_rng(0), SUMS[size]
        inputs = [
            tf.cast(random.standard_normal(size, np.float32), dtype)
            for _ in range(count)
        ]
        weights = tf.cast(random.standard_normal(count, np.float32), dtype)
        found = ways(inputs, weights, sums)
        atol = 1e-4 if dtype == "float32" else 1  # others round after each product
        columns = {"dtype": dtype, "count": count, "size": size}
        yield Case(columns, found, atol=atol, nodes=sums)


if __name__ == "__main__":
    notes = [
        "milliseconds: of one sum in a tf.function of several, one after the other, the median of the rounds",
        "count: so many tensors; size: so many normal numbers in each",
        f"sums in a function, by size: {', '.join(f'{size}: {sums}' for size, sums in SUMS.items())}",
        "add_n: products and tf.add_n; einsum: of tf.stack",
        "XLA: the composition is a function with jit_compile=True",
    ]
    run_turns(cases, notes, rounds=15, threads=True)
