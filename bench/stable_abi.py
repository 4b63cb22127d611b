"""What a node costs whose op is written in C++, by the C kernel API by hand, and by stable_op.h.

The op is ZeroOut for float32, a chain of nodes in a tf.function, each of which needs what the one before gives.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from op_library import load_op_library
from turns import Case, run_turns, traced
from zero_out import zero_out

EXAMPLES = Path(__file__).parents[1] / "examples"
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
        "C++": zero_out,
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


class Chains(Case):
    def rows(self, rounds: int, span: float) -> list[dict]:
        """Those of `Case`, with the microseconds of a node."""
        nodes = self.columns["nodes"]
        return [
            row | {"microseconds": f"{float(row['milliseconds']) * 1e3 / nodes:.3f}"}
            for row in super().rows(rounds, span)
        ]


def cases() -> Iterator[Case]:
    for size in SIZES:
        x = tf.constant(np.random.default_rng(0).normal(size=size), tf.float32)
        nodes = NODES if size <= SMALL else NODES // 10
        runs = {name: traced(chain(op, nodes), x) for name, op in ways().items()}
        yield Chains({"elements": size, "nodes": nodes}, runs)


if __name__ == "__main__":
    notes = [
        "milliseconds: of a call of the whole chain in a tf.function, the median of the rounds; "
        "microseconds: of one of its nodes",
    ]
    run_turns(cases, notes)
