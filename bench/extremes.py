"""How long Extremes and its gradient take, and TensorFlow's own ops for the same, with XLA and without.

The numbers are normally distributed, in no order.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from multi_output import extremes, extremes_grad
from stock_extremes import (
    one_hot_gradient,
    scattered_gradient,
    stock_extremes,
)
from turns import Case, compiled_by_xla, run_turns

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


def cases(threads: int) -> Iterator[Case]:
    for (task, ways), (rows, columns) in product(TASKS.items(), SHAPES):
        inputs = arguments(task, rows, columns)
        runs = {
            name: partial(tf.function(function, autograph=False), *inputs)
            for name, function in ways.items()
        }
        _, *stock = ways
        runs |= {f"{name}, XLA": by_xla(ways[name], inputs) for name in stock}
        yield Case({"task": task, "rows": rows, "columns": columns}, runs)


if __name__ == "__main__":
    notes = [
        "times of a call in a tf.function, float32, random numbers: the median of the rounds",
        "XLA: the same with jit_compile=True, the number of columns a constant",
    ]
    run_turns(cases, notes, threads=True)
