"""Snake before there is any C++: TensorFlow calls NumPy."""

import tensorflow as tf
from snake_reference import snake_reference


@tf.custom_gradient
def snake(x) -> tf.Tensor:
    """Computes `x + sin(x)^2`, element by element: https://arxiv.org/abs/2006.08195.

    Args:
      x: A tensor, or what converts to one: any shape; float32 or float64.

    Returns:
      A tensor of the same shape and dtype.

    Raises:
      TypeError: Another dtype.
    """
    x = tf.convert_to_tensor(x)
    if x.dtype not in (tf.float32, tf.float64):
        raise TypeError(f"x must be float32 or float64, got {x.dtype.name}")
    y = tf.numpy_function(snake_reference, [x], x.dtype)

    def gradient(grad: tf.Tensor) -> tf.Tensor:
        return grad * (1 + tf.sin(2 * x))

    return tf.ensure_shape(y, x.shape), gradient
