"""What a node costs that shares nothing, by stable_parallel.h: in one part, and in two, which starts a thread."""

from collections.abc import Callable, Iterator

import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from limits import limits
from turns import Case, run_turns, traced

NODES = 500


def chain(parts: int) -> Callable:
    """Nodes, each of which needs what the one before gives."""

    def calls(x: tf.Tensor) -> tf.Tensor:
        for _ in range(NODES):
            x = limits.limit_parallel(x=x, parts=parts)
        return x

    return calls


def cases() -> Iterator[Case]:
    runs = {f"{n} parts": traced(chain(n), tf.constant(0.0)) for n in (1, 2)}
    yield Case({}, runs, unlike=["2 parts"], nodes=NODES)


if __name__ == "__main__":
    run_turns(cases, ["milliseconds: of a node, the median of the rounds"])
