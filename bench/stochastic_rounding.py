"""How long float32 takes to become bfloat16 or half: by chance, in our op and in stock ops, and by tf.cast."""

import itertools
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from stochastic_rounding import (
    stateless_stochastic_round,
    stochastic_round,
)
from stochastic_rounding_stock import (
    hashed_stochastic_round,
    stock_stochastic_round,
    stock_stochastic_round_to_half,
)
from turns import Case, compiled_by_xla, run_turns

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


def ways_to_half() -> dict[str, Callable]:
    """The same, to half."""
    functions = {
        BASE: partial(stateless_stochastic_round, dtype=tf.half),
        "stock ops": stock_stochastic_round_to_half,
        "tf.cast": lambda x, seed: tf.cast(x, tf.half),
    }
    found = {name: tf.function(way, autograph=False) for name, way in functions.items()}
    return found | {
        "stock ops, XLA": compiled_by_xla(
            lambda x, seed: stock_stochastic_round_to_half(x, SEED)
        )
    }


def cases(threads: int) -> Iterator[Case]:
    for dtype, size in itertools.product(("bfloat16", "half"), SIZES):
        x = np.random.default_rng(0).standard_normal(size, np.float32)
        # Of smaller numbers the composition makes other subnormal ones.
        x = tf.constant(x if dtype == "bfloat16" else np.where(abs(x) < 2**-14, 1, x))
        # An argument: of a constant seed, TensorFlow would draw the 16,384 numbers only once.
        seed = tf.constant(SEED)
        found = ways() if dtype == "bfloat16" else ways_to_half()
        calls = {name: partial(way, x, seed) for name, way in found.items()}
        for name in (
            "stock ops",
            "stock ops, XLA",
        ):  # they have the same random numbers
            np.testing.assert_array_equal(calls[name](), calls[BASE](), err_msg=name)
        # The others give a neighbour, as tf.cast does.
        yield Case({"dtype": dtype, "size": size}, calls, rtol=2**-7)


if __name__ == "__main__":
    notes = [
        "milliseconds: of a call of a tf.function, the median of the rounds",
        "size: so many normal numbers, float32, become numbers of the dtype",
        "stock ops: random numbers added to the bits, which are then cut off; XLA: with a constant seed",
        "hash: the same to bfloat16 with other random numbers, hashes of the places",
    ]
    run_turns(cases, notes, rounds=25, threads=True)
