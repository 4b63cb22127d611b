"""The Python side of RowMedian: load the library, wrap the op, register its gradient."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(Path(__file__).with_name("libstable_abi.so"), "row_median")


def row_median(
    x,
    upper: bool = False,
    index_type: tf.DType = tf.int64,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """The median of each row and where it is.

    A row that holds a NaN has the median NaN, where its first one is.

    Args:
      x: A tensor, or what converts to one: `[..., columns]` with at least one column; float16, bfloat16, float32,
        float64, int32 or int64.
      upper: Which of the two elements in the middle of an even number of columns.
      index_type: Of the second result: int32 or int64.
      name: Of the op in the graph.

    Returns:
      A named tuple of `median`, of the dtype of `x`, and `index`, both of the shape of `x` without its last axis. Of
      equal elements, the one that comes first counts as the smaller.

    Raises:
      tf.errors.InvalidArgumentError: A scalar, no columns, or, in eager execution, another dtype.
      ValueError: A scalar or no columns, found while a `tf.function` is traced.
      TypeError: Another dtype, in a `tf.function`.
    """
    return _library.row_median(x=x, upper=upper, index_type=index_type, name=name)


@tf.RegisterGradient("RowMedian")
def _row_median_grad(op: tf.Operation, d_median: tf.Tensor, _) -> tf.Tensor:
    """The gradient of each median goes to the element that it was."""
    columns = tf.shape(op.inputs[0])[-1]
    chosen = tf.one_hot(op.outputs[1], columns, True, False, dtype=tf.bool)
    return tf.where(chosen, tf.expand_dims(d_median, -1), tf.zeros((), d_median.dtype))
