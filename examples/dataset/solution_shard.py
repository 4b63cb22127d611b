"""The solution of the exercise: files or rows for each worker."""

from collections.abc import Sequence

import tensorflow as tf
from dataset import npy_dataset


def rows_of_worker(
    files: Sequence[str], spec: tf.TensorSpec, workers: int, worker: int
) -> tf.data.Dataset:
    """The rows for one of several workers: of its own files, or a part of all rows if files are few.

    Args:
      files: The paths of .npy files, in the same order for every worker.
      spec: The shape and dtype of each row.
      workers: How many there are.
      worker: Which of them this is, from 0 on.

    Returns:
      A dataset. Each row is in that of one worker.
    """
    names = tf.data.Dataset.from_tensor_slices(list(files))
    if len(files) >= workers:
        names = names.shard(workers, worker)
        return names.flat_map(lambda name: npy_dataset(name, spec))
    return names.flat_map(lambda name: npy_dataset(name, spec).shard(workers, worker))
