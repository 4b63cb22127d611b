"""SlidingMax, an op for TensorFlow: load the library, wrap the op, register its gradient."""

import re
from pathlib import Path

import tensorflow as tf

_path = Path(__file__).with_name("libsliding_max.so")
if not _path.exists():
    raise ImportError(f"{_path} is not built: pip install --no-build-isolation -e .")
_minor = re.search(rb"built for TensorFlow (2\.\d+)", _path.read_bytes())[1].decode()
if not tf.__version__.startswith(f"{_minor}."):
    _fits = ".".join(tf.__version__.split(".")[:2])
    raise ImportError(
        f"this sliding-max was built for TensorFlow {_minor}, and TensorFlow is {tf.__version__}: "
        f"pip install 'tensorflow=={_minor}.*' or, if one exists, pip install 'sliding-max=={_fits}.*'"
    )
_library = tf.load_op_library(str(_path))
if not hasattr(_library, "sliding_max"):
    raise ImportError("another library has registered an op SlidingMax: load only one")


def sliding_max(x, window: int, name: str | None = None) -> tuple[tf.Tensor, tf.Tensor]:
    """The maximum of each window of the last axis, and where it is.

    Args:
      x: A tensor or anything that converts to one: [..., n], of real numbers. NaN is greater than every number.
      window: How many neighbours are compared: 1 to n.
      name: The name of the op in the graph.

    Returns:
      The maxima, [..., n - window + 1], in the dtype of x; and for each the index of the first element
      that equals it, int64, of the same shape.

    Raises:
      tf.errors.InvalidArgumentError: A scalar, fewer elements than `window`, or another dtype, in eager execution.
      TypeError, ValueError: The same in a `tf.function`.
    """
    return _library.sliding_max(x=x, window=window, name=name)


def sliding_max_grad(grad, position, window: int, name: str | None = None) -> tf.Tensor:
    """The gradient of `sliding_max`.

    Args:
      grad: Of the maxima: [..., windows], of floating-point numbers.
      position: What `sliding_max` gave. A position outside of its window counts for nothing.
      window: What it got.
      name: The name of the op in the graph.

    Returns:
      The gradient of x: [..., windows + window - 1], in the dtype of grad.

    Raises:
      tf.errors.InvalidArgumentError: A scalar, different shapes, or another dtype, in eager execution.
      TypeError, ValueError: The same in a `tf.function`.
    """
    return _library.sliding_max_grad(
        grad=grad, position=position, window=window, name=name
    )


@tf.RegisterGradient("SlidingMax")
def _sliding_max_grad(
    op: tf.Operation, grad: tf.Tensor, unused_grad_of_position: tf.Tensor
) -> tf.Tensor:
    return sliding_max_grad(grad, op.outputs[1], op.get_attr("window"))


@tf.RegisterGradient("SlidingMaxGrad")
def _sliding_max_grad_grad(op: tf.Operation, grad: tf.Tensor) -> tuple:
    """What went to a position comes back from there, and nothing from outside of the window."""
    position, window = op.inputs[1], op.get_attr("window")
    n, windows = tf.shape(grad)[-1], tf.shape(position)[-1]
    first = tf.range(tf.cast(windows, tf.int64))
    inside = (position >= first) & (position < first + window)
    place = tf.where(inside, position, 0)
    rows = tf.reshape(grad, [-1, n]), tf.reshape(place, [-1, windows])
    taken = tf.reshape(tf.gather(*rows, batch_dims=1), tf.shape(position))
    return tf.where(inside, taken, tf.zeros([], grad.dtype)), None
