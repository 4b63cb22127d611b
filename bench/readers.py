"""How long reading TFRecords takes: with tf.data, and with the Python of the page.

The files have been read before, so that they are in the memory of the system.
"""

import tempfile
from collections.abc import Callable, Iterator

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from record_file import records
from turns import Case, run_turns

COUNT, LENGTH, BATCH = 4096, 28 * 28, 256


def dataset_pass(dataset: tf.data.Dataset) -> Callable:
    """Reads all records in batches, without a loop in Python, and keeps the last batch."""
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = False
    options.autotune.enabled = False
    batches = dataset.batch(BATCH).with_options(options)
    nothing = tf.constant([""] * BATCH)
    return lambda: batches.reduce(nothing, lambda _, batch: batch)


def python_pass(path: str, check: bool) -> Callable:
    """Reads all records with the code of the page."""

    def run() -> np.ndarray:
        with open(path, "rb") as file:
            found = list(records(file, check))
        return np.array(found[-BATCH:], object)

    return run


def cases() -> Iterator[Case]:
    items = np.random.default_rng(0).integers(0, 256, [COUNT, LENGTH], np.uint8)
    with tempfile.TemporaryDirectory() as folder:
        record = f"{folder}/items.tfrecord"
        with tf.io.TFRecordWriter(record) as writer:
            for item in items:
                writer.write(item.tobytes())
        tfrecord = {
            "TFRecordDataset": dataset_pass(tf.data.TFRecordDataset(record)),
            "Python": python_pass(record, True),
            "Python, payloads unchecked": python_pass(record, False),
        }
        yield Case({"task": "TFRecord"}, tfrecord)


if __name__ == "__main__":
    notes = [
        f"{COUNT} records of {LENGTH} bytes each, in batches of {BATCH}",
        "times of a pass over a file that is in the memory of the system: the median of the rounds",
        "tf.data without prefetching and tuning",
        "Python: the code of the page, into a list",
    ]
    run_turns(cases, notes, rounds=21)
