"""How long Extremes and its gradient take, and TensorFlow's own ops for the same, with XLA and without.

The numbers are normally distributed, in no order.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from measure import compiled_by_xla, run_turns, turns
from multi_output import extremes, extremes_grad
from processes import by_threads
from stock_extremes import (
    one_hot_gradient,
    scattered_gradient,
    stock_extremes,
)

# From a task to what does it, ours first.
TASKS = {
    "forward": {"Extremes": extremes, "four stock ops": stock_extremes},
    "gradient": {
        "ExtremesGrad": extremes_grad,
        "one-hot": one_hot_gradient,
        "scatter_nd": scattered_gradient,
    },
}
SHAPES = [(100_000, 10), (1000, 1000), (64, 32_000)]


def arguments(task: str, rows: int, columns: int) -> list[tf.Tensor]:
    """What the functions of a task are called with."""
    random = np.random.default_rng(0)
    values = tf.constant(random.normal(size=(rows, columns)), tf.float32)
    if task == "forward":
        return [values]
    _, _, argmin, argmax = extremes(values)
    grads = [tf.constant(random.normal(size=rows), tf.float32) for _ in range(2)]
    return [*grads, argmin, argmax, tf.constant(columns, tf.int64)]


def by_xla(function: Callable, inputs: list[tf.Tensor]) -> Callable:
    """The same with jit_compile=True. The number of columns is a constant, as XLA needs it."""
    tensors = [one for one in inputs if one.shape.rank]
    constants = [int(one) for one in inputs if not one.shape.rank]

    def compiled(*tensors: tf.Tensor) -> tf.Tensor | tuple[tf.Tensor, ...]:
        return function(*tensors, *(tf.constant(one, tf.int64) for one in constants))

    return partial(compiled_by_xla(compiled), *tensors)


def measure(threads: int, rounds: int, span: float) -> list[dict]:
    """The rows of the table for a number of threads, after a check that all ways give the same."""
    table = []
    for task, ways in TASKS.items():
        for rows, columns in SHAPES:
            inputs = arguments(task, rows, columns)
            runs = {
                name: partial(tf.function(function, autograph=False), *inputs)
                for name, function in ways.items()
            }
            ours, *stock = ways
            runs |= {f"{name}, XLA": by_xla(ways[name], inputs) for name in stock}
            ours, *others = (tf.nest.flatten(run()) for run in runs.values())
            for other_way in others:
                for one, other in zip(ours, other_way, strict=True):
                    np.testing.assert_array_equal(one, other)
            case = {"task": task, "rows": rows, "columns": columns}
            table += turns(case | {"threads": threads}, runs, rounds, span)
    return table


def main() -> None:
    notes = [
        "times of a call in a tf.function, float32, random numbers: the median of the rounds",
        "XLA: the same with jit_compile=True, the number of columns a constant",
        "ratio: to the time of our op in the same round, with median, q1 and q3",
    ]

    run_turns(__file__, __doc__, notes, by_threads(measure))


if __name__ == "__main__":
    main()
