"""How long float32 takes to become bfloat16: by chance, in our op and in stock ops, and by tf.cast: `make bench`."""

from collections.abc import Callable
from functools import partial

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from measure import compiled_by_xla, run_turns, turns
from processes import by_threads
from stochastic_rounding import (
    stateless_stochastic_round,
    stochastic_round,
)
from stochastic_rounding_stock import (
    hashed_stochastic_round,
    stock_stochastic_round,
)

BASE = "StatelessStochasticRound"
SIZES = 2**14, 2**22
SEED = [5, 7]


def ways() -> dict[str, Callable]:
    """From a name to a way to round, in a `tf.function`."""
    functions = {
        BASE: stateless_stochastic_round,
        "StochasticRound": lambda x, seed: stochastic_round(x, seed=1),
        "stock ops": stock_stochastic_round,
        "tf.cast": lambda x, seed: tf.cast(x, tf.bfloat16),
    }
    found = {name: tf.function(way, autograph=False) for name, way in functions.items()}
    return found | {
        "stock ops, XLA": compiled_by_xla(
            lambda x, seed: stock_stochastic_round(x, SEED)
        ),
        "hash, XLA": compiled_by_xla(hashed_stochastic_round),
    }


def check(functions: dict[str, Callable], x: tf.Tensor, seed: tf.Tensor) -> None:
    """Whether those with the same random numbers give the same bits, and the others a neighbour."""
    expected = functions[BASE](x, seed).numpy()
    for name, function in functions.items():
        rounded = function(x, seed).numpy()
        if name.startswith("stock ops") and rounded.tobytes() != expected.tobytes():
            raise ValueError(f"{name} gives other bits")
        np.testing.assert_allclose(rounded.astype(float), x, rtol=2**-7, err_msg=name)


def measure(threads: int, rounds: int, span: float) -> list[dict]:
    """The rows of the table for a number of threads."""
    rows = []
    for size in SIZES:
        x = tf.constant(np.random.default_rng(0).standard_normal(size, np.float32))
        # An argument: of a constant seed, TensorFlow would draw the 16,384 numbers only once.
        seed = tf.constant(SEED)
        functions = ways()
        check(functions, x, seed)
        calls = {name: partial(way, x, seed) for name, way in functions.items()}
        rows += turns({"threads": threads, "size": size}, calls, rounds, span)
    return rows


def main() -> None:
    notes = [
        "milliseconds: of a call of a tf.function, the median of the rounds",
        f"ratio: to {BASE} in the same round, with median, q1 and q3",
        "size: so many normal numbers, float32, become bfloat16",
        "stock ops: random numbers added to the bits, which are then cut off; XLA: with a constant seed",
        "hash: the same with other random numbers, hashes of the places",
    ]
    run_turns(__file__, __doc__, notes, by_threads(measure), rounds=25)


if __name__ == "__main__":
    main()
