"""How long reading TFRecords takes, with tf.data and with the Python of the page; and parsing their Examples.

The files have been read before, so that they are in the memory of the system.
"""

import tempfile
from collections.abc import Callable, Iterator
from functools import partial

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


FEATURES = {
    "image": tf.io.FixedLenFeature([], tf.string),
    "size": tf.io.FixedLenFeature([2], tf.int64),
    "label": tf.io.FixedLenFeature([], tf.int64),
    "brightness": tf.io.FixedLenFeature([], tf.float32),
}


def example(image: np.ndarray) -> bytes:
    """Such an Example as the page writes."""
    features = {
        "image": {"bytes_list": {"value": [image.tobytes()]}},
        "size": {"int64_list": {"value": [28, 28]}},
        "label": {"int64_list": {"value": [1]}},
        "brightness": {"float_list": {"value": [image.mean()]}},
    }
    message = tf.train.Example(features={"feature": features})
    return message.SerializeToString(deterministic=True)


def parsing(serialized: tf.data.Dataset) -> dict[str, Callable]:
    """Ways to parse all records in batches, without a loop in Python."""
    one_by_one = serialized.map(lambda x: tf.io.parse_single_example(x, FEATURES))
    together = serialized.batch(BATCH).map(lambda x: tf.io.parse_example(x, FEATURES))
    ways = {"parse_example": together, "parse_single_example": one_by_one.batch(BATCH)}
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = False
    options.autotune.enabled = False

    def run(dataset: tf.data.Dataset) -> tf.Tensor:
        labels = dataset.with_options(options).map(lambda parts: parts["label"])
        zero = tf.constant(0, tf.int64)
        return labels.reduce(zero, lambda total, x: total + tf.reduce_sum(x))

    return {name: partial(run, dataset) for name, dataset in ways.items()}


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
        with tf.io.TFRecordWriter(record) as writer:
            for item in items:
                writer.write(example(item))
        yield Case({"task": "Example"}, parsing(tf.data.TFRecordDataset(record)))


if __name__ == "__main__":
    notes = [
        f"{COUNT} records of {LENGTH} bytes each, in batches of {BATCH}",
        "times of a pass over a file that is in the memory of the system: the median of the rounds",
        "tf.data without prefetching and tuning",
        "Python: the code of the page, into a list",
        "Example: the same images with size, label and brightness, parsed a batch or a record at a time",
    ]
    run_turns(cases, notes, rounds=21)
