"""The Python side of RmsNorm: load the library, wrap the op, register its gradient."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(
    Path(__file__).with_name("librms_norm.so"), "rms_norm", "rms_norm_grad"
)


def rms_norm(x, epsilon: float = 1e-6, name: str | None = None) -> tf.Tensor:
    """Divides each row by its root mean square (Zhang and Sennrich, 2019), without a learned gain.

    Args:
      x: A tensor, or what converts to one: `[..., columns]`, float32.
      epsilon: Added to the mean square, so that a row of zeros gives zeros: finite, 0 or more.
      name: Of the op in the graph.

    Returns:
      `x / sqrt(mean(x * x) + epsilon)`, the mean over the last axis: like `x`.

    Raises:
      tf.errors.InvalidArgumentError: `x` is a scalar, or of another dtype, or another epsilon, in eager execution.
      ValueError, TypeError: The same in a `tf.function`.
    """
    return _library.rms_norm(x=x, epsilon=epsilon, name=name)


def rms_norm_grad(x, grad, epsilon: float = 1e-6, name: str | None = None) -> tf.Tensor:
    """The gradient of `rms_norm`.

    Args:
      x: What `rms_norm` got: `[..., columns]`, float32.
      grad: Of what it returned: like `x`.
      epsilon: As in `rms_norm`.
      name: Of the op in the graph.

    Returns:
      The gradient of `x`: like `x`.

    Raises:
      tf.errors.InvalidArgumentError: The shapes differ, `x` is a scalar, or a dtype or epsilon is another, eagerly.
      ValueError, TypeError: The same in a `tf.function`.
    """
    return _library.rms_norm_grad(x=x, grad=grad, epsilon=epsilon, name=name)


@tf.RegisterGradient("RmsNorm")
def _rms_norm_grad(op: tf.Operation, grad: tf.Tensor) -> tf.Tensor:
    return rms_norm_grad(op.inputs[0], grad, op.get_attr("epsilon"))
