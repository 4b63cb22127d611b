"""The Python side: lines that a server sends."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_path = Path(__file__).with_name("libfetch_lines.so")
library = load_op_library(_path, "fetch_lines")


def fetch_lines(port, timeout_ms: int = 10000, max_bytes: int = 16777216) -> tf.Tensor:
    """What a server on this machine, at 127.0.0.1, sends until it closes the connection.

    Args:
      port: int32, a scalar.
      timeout_ms: After so long without the end of the answer, the call fails.
      max_bytes: Of a longer answer, too.

    Returns:
      string, a vector of the lines, without their ends.

    Raises:
      tf.errors.FailedPreconditionError: Nobody listens there, or the connection was broken off.
      tf.errors.DeadlineExceededError: The answer did not end in time.
      tf.errors.ResourceExhaustedError: It is too long, or there are too many open files.
      tf.errors.DataLossError: It ends in the middle of a line.
      tf.errors.CancelledError: The step was cancelled.
      tf.errors.InvalidArgumentError: A port that is none.
    """
    return library.fetch_lines(port, timeout_ms=timeout_ms, max_bytes=max_bytes)


tf.no_gradient("FetchLines")
