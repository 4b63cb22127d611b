"""Hand a tensor from one op to another that the graph does not connect with it, under a label."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

LIBRARY = Path(__file__).with_name("libsend_recv.so")
_library = load_op_library(LIBRARY, "post", "collect")


def post(value, label: str, name: str | None = None) -> tf.Operation | None:
    """Leaves a tensor under a label, for a `collect` in the same step.

    Several that are posted under one label wait in a queue.

    Args:
      value: A tensor, or what converts to one, of any shape and dtype.
      label: A name, without ";".
      name: Of the op in the graph.

    Returns:
      The op in a graph, where others can wait for it; None eagerly.

    Raises:
      InvalidArgumentError: There is a ";" in `label`, or nothing.
      FailedPreconditionError: There is no rendezvous, as in a function of a `tf.data.Dataset` on one device.
    """
    return _library.post(value=value, label=label, name=name)


def collect(
    label: str, dtype, timeout_ms: int = 10000, name: str | None = None
) -> tf.Tensor:
    """Takes the tensor that is posted under a label, or the first of several, and waits until it is there.

    Args:
      label: As above.
      dtype: Of the tensor.
      timeout_ms: For how long to wait; 0 means no timeout.
      name: Of the op in the graph.

    Returns:
      The tensor. A graph does not know its shape, and its gradient does not reach the posted one.

    Raises:
      DeadlineExceededError: Nothing was posted in this time.
      InvalidArgumentError: A tensor of another dtype was posted, or `label` is not one.
      FailedPreconditionError: As above.
    """
    return _library.collect(label=label, timeout_ms=timeout_ms, T=dtype, name=name)
