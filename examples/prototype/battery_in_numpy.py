"""Battery before there is any C++: TensorFlow calls NumPy."""

import tensorflow as tf
from battery_reference import battery_grad_reference, battery_reference


@tf.custom_gradient
def battery(flow, capacity) -> tf.Tensor:
    """The level of a battery after each hour, which is never below 0 nor above its capacity.

    Args:
      flow: What is charged in each hour, negative where it is drained: `[..., hours]`, float32 or float64.
        Nothing checks the dtype here; the op in C++ refuses others.
      capacity: How much the battery holds, a scalar.

    Returns:
      A tensor of the shape and dtype of `flow`.
    """
    flow = tf.convert_to_tensor(flow)
    capacity = tf.convert_to_tensor(capacity, flow.dtype)
    level = tf.numpy_function(
        battery_reference, [flow, capacity], flow.dtype, stateful=False
    )
    level = tf.ensure_shape(level, flow.shape)

    def gradient(grad: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        flow_grad, capacity_grad = tf.numpy_function(
            battery_grad_reference,
            [tf.convert_to_tensor(grad), level, capacity],  # may be IndexedSlices
            [flow.dtype, flow.dtype],
            stateful=False,
        )
        return (
            tf.ensure_shape(flow_grad, flow.shape),
            tf.ensure_shape(capacity_grad, []),
        )

    return level, gradient
