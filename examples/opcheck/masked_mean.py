"""The Python side of MaskedMean: load the library, wrap the op, register its gradient."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(Path(__file__).with_name("libmasked_mean.so"), "masked_mean")


def masked_mean(values, mask, name: str | None = None) -> tf.Tensor:
    """The mean of each row, over the elements that a mask keeps.

    Args:
      values: A tensor, or what converts to one: [rows, columns]; float32 or float64.
      mask: Of the same shape: bool.
      name: Of the op in the graph.

    Returns:
      The means, [rows], of the dtype of `values`; 0 for a row that is masked out altogether.

    Raises:
      tf.errors.InvalidArgumentError: Other shapes, in eager execution.
      ValueError: Other shapes, in a `tf.function`.
    """
    return _library.masked_mean(values=values, mask=mask, name=name)


@tf.RegisterGradient("MaskedMean")
def _masked_mean_grad(op: tf.Operation, grad: tf.Tensor):
    """Each element that counts has an equal part in the mean; `mask` has no gradient."""
    kept = op.inputs[1]
    count = tf.reduce_sum(tf.cast(kept, grad.dtype), axis=1, keepdims=True)
    part = tf.math.divide_no_nan(tf.expand_dims(grad, 1), count)
    return tf.where(kept, part, 0), None
