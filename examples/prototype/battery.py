"""The Python side of Battery: load the library, wrap the op, register its gradient."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(
    Path(__file__).with_name("libprototype.so"), "battery", "battery_grad"
)


def battery(flow, capacity) -> tf.Tensor:
    """The level of a battery after each hour, which is never below 0 nor above its capacity.

    Args:
      flow: What is charged in each hour, negative where it is drained: `[..., hours]`, float32 or float64.
      capacity: How much the battery holds, a scalar that is not negative.

    Returns:
      A tensor of the shape and dtype of `flow`.

    Raises:
      tf.errors.InvalidArgumentError: A shape does not fit; capacity is negative; another dtype, in eager execution.
      ValueError: A shape does not fit, found when a `tf.function` is traced.
      TypeError: Another dtype, in a `tf.function`.
    """
    return _library.battery(flow=flow, capacity=capacity)


@tf.RegisterGradient("Battery")
def _battery_grad(op: tf.Operation, grad: tf.Tensor) -> list[tf.Tensor]:
    """BatteryGrad has no gradient: a second derivative is an error."""
    _, capacity = op.inputs
    return _library.battery_grad(
        level_grad=grad, level=op.outputs[0], capacity=capacity
    )
