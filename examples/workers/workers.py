"""Read rows of a file where the file is, and let other processes run ops in this one."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

LIBRARY = Path(__file__).with_name("libworkers.so")
_library = load_op_library(LIBRARY, "file_rows")


def file_rows(filename, rows, columns: int, name: str | None = None) -> tf.Tensor:
    """Reads rows of a table from a file of float32 numbers, row after row, without a header.

    Args:
      filename: A path on the machine where the op runs, a scalar.
      rows: [n], int64: which rows, from 0.
      columns: How many numbers a row has.
      name: Of the op in the graph.

    Returns:
      [n, columns], float32.

    Raises:
      NotFoundError: There is no such file on that machine.
      InvalidArgumentError: The inputs have other shapes, or the file lacks a row or ends within one.
      DataLossError: The file has fewer bytes than its size says, as when it is cut meanwhile.
    """
    return _library.file_rows(filename=filename, rows=rows, columns=columns, name=name)
