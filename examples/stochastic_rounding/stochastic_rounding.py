"""The Python side: load the library, wrap the ops, register their gradients."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(
    Path(__file__).with_name("libstochastic_rounding.so"),
    *("stochastic_round", "stateless_stochastic_round"),
)


def stochastic_round(
    x, dtype=tf.bfloat16, *, seed: int | None = None, name: str | None = None
) -> tf.Tensor:
    """Rounds each number to one of its two neighbours, so that the mean of many roundings is the number.

    The neighbour farther from zero is taken with the probability of the remainder, cut off after 32 bits. A number that
    the dtype holds stays what it is, -0, infinities and NaN too. What is beyond the largest number has infinity for its
    neighbour.

    Args:
      x: A tensor of any shape; float32 or float64.
      dtype: Of the result; bfloat16 or half.
      seed: Of the random numbers, together with that of `tf.random.set_seed`. Each call goes on where the one before
        has stopped. None, and no other seed: they begin anywhere.
      name: Of the op in the graph.

    Returns:
      A tensor of the shape of `x` and of `dtype`. Its gradient is that of `tf.cast`.

    Raises:
      tf.errors.InvalidArgumentError: Another dtype, in eager execution.
      TypeError: Another dtype, in a `tf.function`.
    """
    seed, seed2 = tf.compat.v1.random.get_seed(seed)
    return _library.stochastic_round(
        x=x, dtype=dtype, seed=seed, seed2=seed2, name=name
    )


def stateless_stochastic_round(
    x, seed, dtype=tf.bfloat16, name: str | None = None
) -> tf.Tensor:
    """Rounds as `stochastic_round` does, with random numbers that follow from a seed.

    Element i is rounded with element i of what `tf.random.stateless_uniform` gives for this seed, as uint32 and with
    alg="philox".

    Args:
      x: A tensor of any shape; float32 or float64.
      seed: `[2]`, int32 or int64.
      dtype: Of the result; bfloat16 or half.
      name: Of the op in the graph.

    Returns:
      A tensor of the shape of `x` and of `dtype`. Its gradient is that of `tf.cast`.

    Raises:
      tf.errors.InvalidArgumentError: Another shape of the seed, or, in eager execution, another dtype.
      ValueError: Another shape of the seed, found while a `tf.function` is traced.
      TypeError: Another dtype, in a `tf.function`.
    """
    return _library.stateless_stochastic_round(x=x, seed=seed, dtype=dtype, name=name)


@tf.RegisterGradient("StochasticRound")
def _stochastic_round_gradient(op: tf.Operation, dy: tf.Tensor) -> tf.Tensor:
    """On the average the op returns x."""
    return tf.cast(dy, op.inputs[0].dtype)


@tf.RegisterGradient("StatelessStochasticRound")
def _stateless_stochastic_round_gradient(
    op: tf.Operation, dy: tf.Tensor
) -> tuple[tf.Tensor, None]:
    return tf.cast(dy, op.inputs[0].dtype), None
