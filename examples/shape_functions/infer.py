"""Asks an op's shape function about input shapes written as "[?,3];[3]"."""

from collections.abc import Callable

import tensorflow as tf


def parse(shape: str) -> tf.TensorShape:
    """From "[?,3]" to `tf.TensorShape([None, 3])`, from "?" to an unknown rank."""
    if shape == "?":
        return tf.TensorShape(None)
    sizes = shape.strip("[]").split(",") if shape != "[]" else []
    return tf.TensorShape([None if size == "?" else int(size) for size in sizes])


def text_of(shape: tf.TensorShape) -> str:
    """The opposite of `parse`."""
    if shape.rank is None:
        return "?"
    return f"[{','.join('?' if size is None else str(size) for size in shape)}]"


def infer(
    function: Callable[..., tf.Tensor], inputs: str, dtype: tf.DType = tf.float32
) -> str:
    """Traces a function and runs nothing.

    Args:
      function: Takes one tensor for each input shape.
      inputs: Such as "[?,3];[3]".
      dtype: Of all inputs.

    Returns:
      The shape of the result, such as "[?]".

    Raises:
      ValueError: The shape function has refused the shapes with InvalidArgument.
    """
    specs = [tf.TensorSpec(parse(shape), dtype) for shape in inputs.split(";")]
    traced = tf.function(function, autograph=False).get_concrete_function(*specs)
    return text_of(traced.output_shapes)
