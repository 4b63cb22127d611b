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
    """A graph with nine collects, in no order; the tensor of `e` comes first."""

    def function(x):
        taken = {label: collect(label, tf.float32, **options) for label in "abcdefghi"}
        posted = [post(x, "e")]
        posted += [post(taken["e"], label) for label in "abcdfghi"]
        with tf.control_dependencies(posted):
            return tf.add_n(list(taken.values()))

    return tf.compat.v1.wrap_function(function, [tf.TensorSpec([3])])


def until_stuck(collect, x):
    """Makes and calls such graphs until one fails."""
    for _ in range(1000):
        relay(collect, timeout_ms=500)(x)
