"""Snake with a gradient by name, as code for TensorFlow 1 has it."""

import itertools
from collections.abc import Callable, Sequence

import tensorflow as tf
from snake_reference import snake_reference

_numbers = itertools.count()


def py_func(
    function: Callable, inputs: Sequence, dtype: tf.DType, gradient: Callable
) -> tf.Tensor:
    """Calls a NumPy function from a graph.

    Args:
      function: Takes and returns arrays.
      inputs: Tensors.
      dtype: Of the array that the function returns.
      gradient: As for `@tf.RegisterGradient`.
    """
    name = f"PyFuncGradient{next(_numbers)}"
    tf.RegisterGradient(name)(gradient)
    graph = tf.compat.v1.get_default_graph()
    with graph.gradient_override_map({"PyFunc": name}):
        return tf.numpy_function(function, inputs, dtype)


def _snake_grad(op: tf.Operation, grad: tf.Tensor) -> tf.Tensor:
    return grad * (1 + tf.sin(2 * op.inputs[0]))


def snake(x: tf.Tensor) -> tf.Tensor:
    """Computes `x + sin(x)^2`; in a graph, `tf.gradients` knows the gradient."""
    y = py_func(snake_reference, [x], x.dtype, _snake_grad)
    return tf.ensure_shape(y, x.shape)
