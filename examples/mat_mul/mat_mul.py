"""The Python side: load the library, wrap the ops, register the gradient."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(
    Path(__file__).with_name("libmat_mul.so"), "op_by_op_mat_mul", "loop_mat_mul"
)


def mat_mul(
    a,
    b,
    transpose_a: bool = False,
    transpose_b: bool = False,
    name: str | None = None,
) -> tf.Tensor:
    """Computes the product of two matrices, by Eigen's contraction.

    Args:
      a: [rows, inner], or [inner, rows] if transposed; float16, bfloat16, float32 or float64.
      b: [inner, columns], or [columns, inner] if transposed; the dtype of a.
      transpose_a: Whether to read a as its transpose.
      transpose_b: Likewise for b.
      name: Of the op in the graph.

    Returns:
      [rows, columns], of the dtype of a. Numbers of 16 bits are summed up as float32 and rounded at the end.

    Raises:
      tf.errors.InvalidArgumentError: They are not matrices, or do not fit, in eager execution.
      ValueError: The same in a `tf.function`.
    """
    return _library.op_by_op_mat_mul(
        a=a, b=b, transpose_a=transpose_a, transpose_b=transpose_b, name=name
    )


def loop_mat_mul(a, b, order: str = "elements", name: str | None = None) -> tf.Tensor:
    """Computes the product of two matrices by three plain loops, on one thread.

    Args:
      a: [rows, inner], float32.
      b: [inner, columns], float32.
      order: "elements" computes each element of the product to its end, "rows" adds rows of b to rows of the product,
        "tiles" keeps four by eight elements of the product in registers.
      name: Of the op in the graph.

    Returns:
      [rows, columns], float32.

    Raises:
      tf.errors.InvalidArgumentError: They are not matrices, or do not fit, in eager execution.
      ValueError: The same in a `tf.function`; or another order.
    """
    return _library.loop_mat_mul(a=a, b=b, order=order, name=name)


@tf.RegisterGradient("OpByOp>MatMul")
def _mat_mul_gradient(op: tf.Operation, dc: tf.Tensor) -> list[tf.Tensor]:
    a, b = op.inputs
    a_t, b_t = op.get_attr("transpose_a"), op.get_attr("transpose_b")
    return [
        mat_mul(b, dc, b_t, True) if a_t else mat_mul(dc, b, False, not b_t),
        mat_mul(dc, a, True, a_t) if b_t else mat_mul(a, dc, not a_t, False),
    ]
