"""What the page shows as wrong."""

import tensorflow as tf
from op_library import load_op_library
from send_recv import LIBRARY, post

_library = load_op_library(LIBRARY, "blocking_collect")


def blocking_collect(label: str, dtype, timeout_ms: int) -> tf.Tensor:
    """As `collect`, but it waits in `Compute`, and so keeps a thread.

    Args:
      label: As for `collect`.
      dtype: Likewise.
      timeout_ms: For how long to wait.

    Returns:
      The tensor.

    Raises:
      DeadlineExceededError: Nothing was posted in this time, or no thread was left to take it.
    """
    return _library.blocking_collect(label=label, timeout_ms=timeout_ms, T=dtype)


def endless_collect(label: str, dtype) -> tf.Tensor:
    """As `collect`, but it has no timeout, and a caller cannot cancel it.

    Args:
      label: As for `collect`.
      dtype: Likewise.

    Returns:
      The tensor.
    """
    return _library.endless_collect(label=label, T=dtype)


def relay(collect, **options):
    """Makes a graph that hands a tensor on, from label to label."""

    def function(x):
        a, b, c = (collect(label, tf.float32, **options) for label in "abc")
        posted = [post(x, "a"), post(a, "b"), post(b, "c")]
        with tf.control_dependencies(posted):
            return tf.identity(c)

    return tf.compat.v1.wrap_function(function, [tf.TensorSpec([3])])
