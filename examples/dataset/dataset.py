"""The Python side: load the library and make datasets of .npy files."""

from pathlib import Path

import numpy as np
import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(Path(__file__).with_name("libdataset.so"), "npy_dataset")


def row_spec(filename: str) -> tf.TensorSpec:
    """Reads from a header what the rows of a .npy file are.

    Args:
      filename: The path of the file.

    Returns:
      The shape and dtype of each row.

    Raises:
      ValueError: The file is not of NumPy's .npy format, or its array has no rows or a dtype that TensorFlow lacks.
    """
    try:
        with tf.io.gfile.GFile(filename, "rb") as file:
            version = np.lib.format.read_magic(file)
            read = np.lib.format.read_array_header_1_0
            if version > (1, 0):
                read = np.lib.format.read_array_header_2_0
            shape, _, dtype = read(file)
        spec = tf.TensorSpec(shape[1:], tf.as_dtype(dtype))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{filename}: {error}") from error
    if not shape:
        raise ValueError(f"{filename}: an array with rows was expected, got a scalar")
    return spec


def npy_dataset(filename, spec: tf.TensorSpec | None = None) -> tf.data.Dataset:
    """Makes a dataset of the rows of a .npy file, which are read when they are asked for.

    Args:
      filename: The path of the file, a scalar.
      spec: The shape and dtype of each row; sizes may be unknown. Unset: `row_spec` reads them from the file.

    Returns:
      A dataset whose elements are the rows.

    Raises:
      ValueError: `spec` is unset, and `row_spec` raises it.
      tf.errors.InvalidArgumentError: The file is of another format, or has rows of another shape or dtype.
      tf.errors.DataLossError: The file ends before its last row.
      tf.errors.NotFoundError: There is no such file.
    """
    spec = row_spec(filename) if spec is None else spec
    variant = _library.npy_dataset(
        filename=filename, output_types=[spec.dtype], output_shapes=[spec.shape]
    )
    return tf.data.experimental.from_variant(variant, spec)
