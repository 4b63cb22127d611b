"""The Python side of version 2: callers of version 1 can go on as before."""

from collections.abc import Sequence
from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(
    Path(__file__).with_name("libbackward_compatibility_v2.so"), "amplify"
)


def amplify(signal, name: str | None = None, factor: float = 2.0) -> tf.Tensor:
    """Multiplies a float32 signal by `factor`, new in version 2 and therefore last."""
    return _library.amplify(signal, factor=factor, name=name)


def rectify(signal, name: str | None = None) -> tf.Tensor:
    """Zero where the signal is negative: float32, or since version 2 a float64 tensor.

    What is not a tensor yet becomes float32, as in version 1. Left to the op, a NumPy
    array of float64 would become float32 eagerly and float64 in a `tf.function`.
    """
    if not tf.is_tensor(signal):
        signal = tf.convert_to_tensor(signal, tf.float32)
    return _library.rectify(signal, name=name)


def snap(signal, rounding: str, name: str | None = None) -> tf.Tensor:
    """Rounds a float32 signal `down`, `up`, or since version 2 to `nearest`, ties to even."""
    return _library.snap(signal, rounding=rounding, name=name)


def power(signal, name: str | None = None, others: Sequence = ()) -> tf.Tensor:
    """Squares a float32 signal, or since version 2 its sum with `others` of its shape.

    Raises:
      tf.errors.InvalidArgumentError: The shapes differ, in eager execution.
      ValueError: The shapes differ, in a `tf.function`.
    """
    return _library.power([signal, *others], name=name)


def flip_phase(signal, name: str | None = None, others: Sequence = ()) -> tf.Tensor:
    """Negates a float32 signal, or since version 2 its sum with `others` of its shape.

    Raises:
      tf.errors.InvalidArgumentError: The shapes differ, in eager execution.
      ValueError: The shapes differ, in a `tf.function`.
    """
    return _library.flip_phase(signal, others, name=name)


def softsign(signal, name: str | None = None) -> tf.Tensor:
    """Divides each element x of a float32 signal by 1 + |x|, as in version 1."""
    return _library.op_by_op_softsign(signal, name=name)
