"""The Python side of FunctorRmsNorm, which has no gradient."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(
    Path(__file__).with_name("libfunctor_rms_norm.so"), "functor_rms_norm"
)


def functor_rms_norm(x, epsilon: float = 1e-6, name: str | None = None) -> tf.Tensor:
    """Divides each row by its root mean square, as `rms_norm` does.

    Args:
      x: A tensor, or what converts to one: `[..., columns]`, float32 or float64.
      epsilon: Added to the mean square, so that a row of zeros gives zeros: finite, 0 or more.
      name: Of the op in the graph.

    Returns:
      `x / sqrt(mean(x * x) + epsilon)`, the mean over the last axis: like `x`.

    Raises:
      tf.errors.InvalidArgumentError: `x` is a scalar, or of another dtype, or another epsilon, in eager execution.
      ValueError, TypeError: The same in a `tf.function`.
    """
    return _library.functor_rms_norm(x=x, epsilon=epsilon, name=name)
