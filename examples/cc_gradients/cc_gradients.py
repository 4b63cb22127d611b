"""The Python side: load the library, wrap the ops, use their C++ gradients."""

from collections.abc import Callable, Sequence
from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(
    Path(__file__).with_name("libcc_gradients.so"),
    *("squared_relu", "cyclic_encoding", "round_to_step"),
)


def squared_relu(x, name: str | None = None) -> tf.Tensor:
    """Computes the square of max(x, 0) for each element.

    Args:
      x: A tensor of any shape; float32 or float64.
      name: Of the op in the graph.

    Returns:
      A tensor of the same shape and dtype.
    """
    return _library.squared_relu(x=x, name=name)


def cyclic_encoding(
    x, period: float, name: str | None = None
) -> tuple[tf.Tensor, tf.Tensor]:
    """Computes sin(2πx / period) and cos(2πx / period), for each element.

    Args:
      x: A tensor of any shape; float32 or float64.
      period: A finite number above 0, kept as float32.
      name: Of the op in the graph.

    Returns:
      A named tuple (sine, cosine) of tensors of the shape and dtype of x.

    Raises:
      tf.errors.InvalidArgumentError: Another period, in eager execution.
      ValueError: The same in a `tf.function`.
    """
    return _library.cyclic_encoding(x=x, period=period, name=name)


def round_to_step(x, step: float = 1.0, name: str | None = None) -> tf.Tensor:
    """Rounds to the nearest multiple of step, halfway cases to the even multiple.

    Args:
      x: A tensor of any shape; float32 or float64.
      step: A finite number above 0, kept as float32.
      name: Of the op in the graph.

    Returns:
      A tensor of the same shape and dtype.

    Raises:
      tf.errors.InvalidArgumentError: Another step, in eager execution.
      ValueError: The same in a `tf.function`.
    """
    return _library.round_to_step(x=x, step=step, name=name)


def cpp_gradient(
    f: Callable, inputs: Sequence[tf.Tensor], dys: Sequence[tf.Tensor]
) -> list[tf.Tensor]:
    """Differentiates a function by the gradients that its ops have in C++.

    It traces anew at each call; inside a `tf.function`, once for each trace.

    Args:
      f: From the inputs to one or more tensors, by ops with a C++ gradient.
      inputs: Where to differentiate.
      dys: For each result of f the incoming gradient, of its shape and dtype.

    Returns:
      For each input the gradient, of its shape and dtype.

    Raises:
      tf.errors.NotFoundError: An op has no gradient in C++, or it cannot be made.
      ValueError: f uses tensors or variables that are not among its inputs.
    """
    inputs, dys = [[tf.convert_to_tensor(x) for x in xs] for xs in (inputs, dys)]
    specs = [tf.TensorSpec(x.shape, x.dtype) for x in inputs + dys]
    forward = tf.function(f, autograph=False).get_concrete_function(
        *specs[: len(inputs)]
    )
    if forward.captured_inputs:
        raise ValueError(
            "f must compute with its inputs and constants, but also uses "
            f"{len(forward.captured_inputs)} tensors or variables from outside: pass them as inputs"
        )

    @tf.function(autograph=False)
    def gradient(*arguments):
        forward.add_to_graph(tf.compat.v1.get_default_graph())
        return tf.raw_ops.SymbolicGradient(
            input=arguments, Tout=[x.dtype for x in inputs], f=forward
        )

    return gradient.get_concrete_function(*specs)(*inputs, *dys)


def register_cpp_gradient(op_name: str, function: Callable, *attrs: str) -> None:
    """Makes `tf.GradientTape` and `tf.gradients` use the C++ gradient of an op.

    Args:
      op_name: The name that C++ registered.
      function: The generated function of the op. Its inputs are no lists.
      *attrs: The names of its attrs, but for those that TensorFlow infers.
    """

    @tf.function(autograph=False)
    def differentiate(inputs, dys, values):
        return cpp_gradient(lambda *inputs: function(*inputs, **values), inputs, dys)

    @tf.RegisterGradient(op_name)
    def gradient(op: tf.Operation, *dys: tf.Tensor) -> list[tf.Tensor]:
        values = {attr: op.get_attr(attr) for attr in attrs}
        return differentiate(list(op.inputs), list(dys), values)


register_cpp_gradient("SquaredRelu", _library.squared_relu)
register_cpp_gradient("CyclicEncoding", _library.cyclic_encoding, "period")
register_cpp_gradient("RoundToStep", _library.round_to_step, "step")
