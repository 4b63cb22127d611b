"""The fields of a log as a dataset of tf.data."""

from collections.abc import Sequence
from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(
    Path(__file__).with_name("liblogfmt_dataset.so"), "logfmt_dataset"
)


def logfmt_dataset(filename, keys: Sequence[str], missing: str = "") -> tf.data.Dataset:
    """Makes a dataset of the values of some keys in each line of a log: `key=value key=value`, without quotes.

    Args:
      filename: The path of the file, a scalar.
      keys: Whose values are wanted.
      missing: Stands for the value of a key that a line does not have.

    Returns:
      A dataset of vectors of strings, the values in the order of `keys`.

    Raises:
      tf.errors.InvalidArgumentError: A line has a word without `=`, or a quote. The next call goes on behind this line.
      tf.errors.NotFoundError: There is no such file.
    """
    spec = tf.TensorSpec([len(keys)], tf.string)
    variant = _library.logfmt_dataset(
        filename,
        tf.constant(list(keys), tf.string),
        missing=missing,
        output_types=[spec.dtype],
        output_shapes=[spec.shape],
    )
    return tf.data.experimental.from_variant(variant, spec)
