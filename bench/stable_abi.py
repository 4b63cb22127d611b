"""What a node costs whose op is written in C++, by the C kernel API by hand, and by stable_op.h.

The op is ZeroOut for float32, a chain of nodes in a tf.function, each of which needs what the one before gives.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from measure import run_turns, traced, turns
from op_library import load_op_library
from zero_out import zero_out

EXAMPLES = Path(__file__).parents[1] / "examples"
BASE = "C++"
SIZES = [1, 1000, 100_000, 1_000_000]
NODES = 500
SMALL = 10_000  # elements; of more, a chain has fewer nodes


def ways() -> dict[str, Callable]:
    """From a name to the op."""
    by_hand, by_layer = (
        load_op_library(EXAMPLES / "stable_abi" / f"libby_{name}.so")
        for name in ("hand", "layer")
    )
    return {
        BASE: zero_out,
        "C API by hand": lambda x: by_hand.zero_out_by_hand(to_zero=x),
        "stable_op.h": lambda x: by_layer.zero_out_by_layer(to_zero=x),
    }


def chain(op: Callable, nodes: int) -> Callable:
    """The op after itself."""

    def calls(x: tf.Tensor) -> tf.Tensor:
        for _ in range(nodes):
            x = op(x)
        return x

    return calls


def measure(rounds: int, span: float) -> list[dict]:
    """The rows of the table, after a check that all ways give the same."""
    rows, ops = [], ways()
    for size in SIZES:
        x = tf.constant(np.random.default_rng(0).normal(size=size), tf.float32)
        nodes = NODES if size <= SMALL else NODES // 10
        runs = {}
        for name, op in ops.items():
            np.testing.assert_array_equal(op(x), ops[BASE](x), err_msg=name)
            runs[name] = traced(chain(op, nodes), x)
        for row in turns({"elements": size, "nodes": nodes}, runs, rounds, span):
            of_a_node = float(row["milliseconds"]) * 1e3 / nodes
            rows.append(row | {"microseconds": f"{of_a_node:.3f}"})
    return rows


def main() -> None:
    notes = [
        "milliseconds: of a call of the whole chain in a tf.function, the median of the rounds; "
        "microseconds: of one of its nodes",
        f"ratio: to the time of {BASE} in the same round, with median, q1 and q3",
    ]
    run_turns(__file__, __doc__, notes, measure)


if __name__ == "__main__":
    main()
