"""CumMax, an op for TensorFlow: load the library, wrap the op, register its gradient."""

import re
from pathlib import Path

import tensorflow as tf

_path = Path(__file__).with_name("libcum_max.so")
if not _path.exists():
    raise ImportError(f"{_path} is not built: pip install --no-build-isolation -e .")
_minor = re.search(rb"built for TensorFlow (2\.\d+)", _path.read_bytes())[1].decode()
if not tf.__version__.startswith(f"{_minor}."):
    _fits = ".".join(tf.__version__.split(".")[:2])
    raise ImportError(
        f"this cum-max was built for TensorFlow {_minor}, and TensorFlow is {tf.__version__}: "
        f"pip install 'tensorflow=={_minor}.*' or, if one exists, pip install 'cum-max=={_fits}.*'"
    )
_library = tf.load_op_library(str(_path))
if not hasattr(_library, "cum_max"):
    raise ImportError("another library has registered an op CumMax: load only one")


def cum_max(x, name: str | None = None) -> tf.Tensor:
    """The greatest element so far, along the last axis; NaN from the first NaN on.

    Args:
      x: A tensor, or what converts to one: [..., n]; float32, float64, int32 or int64.
      name: Of the op in the graph.

    Returns:
      A tensor of the same shape and dtype.

    Raises:
      tf.errors.InvalidArgumentError: A scalar or another dtype, in eager execution.
      TypeError, ValueError: The same in a `tf.function`.
    """
    return _library.cum_max(x=x, name=name)


@tf.RegisterGradient("CumMax")
def _cum_max_grad(op: tf.Operation, grad: tf.Tensor) -> tf.Tensor:
    """Each maximum is a copy of one element of x, which gets the gradient."""
    y = op.outputs[0]
    is_first = tf.ones_like(y[..., :1], tf.bool)
    before = y[..., :-1]
    # NaN differs from itself: the first one is new, the later ones are its copies.
    is_new = tf.concat(
        [is_first, (y[..., 1:] != before) & tf.equal(before, before)], -1
    )
    place = tf.reshape(tf.range(tf.size(y, tf.int64)), tf.shape(y))
    copied_from = cum_max(tf.where(is_new, place, 0))
    summed = tf.math.unsorted_segment_sum(
        tf.reshape(grad, [-1]), tf.reshape(copied_from, [-1]), tf.size(y, tf.int64)
    )
    return tf.reshape(summed, tf.shape(y))
