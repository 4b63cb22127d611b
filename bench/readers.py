"""How long ways to read records take: tf.data, queues of TensorFlow 1 with its reader or with ours, and Python.

The files have been read before, so that they are in the memory of the system.
"""

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from readers import IdxReader, write_idx
from record_file import records
from turns import Case, run_turns

v1 = tf.compat.v1
COUNT, SIDE, BATCH = 4096, 28, 256
LENGTH = SIDE * SIDE


def dataset_pass(dataset: tf.data.Dataset) -> Callable:
    """Reads all records in batches, without a loop in Python, and keeps the last batch."""
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = False
    options.autotune.enabled = False
    batches = dataset.batch(BATCH).with_options(options)
    nothing = tf.constant([""] * BATCH)
    return lambda: batches.reduce(nothing, lambda _, batch: batch)


@contextlib.contextmanager
def queue_pass(make_reader: Callable, path: str, at_once: bool) -> Iterator[Callable]:
    """Reads as many records, in batches, out of a queue that a thread fills.

    Args:
      make_reader: Makes a reader of TensorFlow 1.
      path: Of the file, which is read over and over.
      at_once: Whether the thread reads as many records as are in a batch, or one.
    """
    with tf.Graph().as_default():
        names = v1.train.string_input_producer([path], shuffle=False)
        if at_once:
            _, value = make_reader().read_up_to(names, BATCH)
        else:
            _, value = make_reader().read(names)
        batch = v1.train.batch([value], BATCH, capacity=2 * BATCH, enqueue_many=at_once)
        coordinator = v1.train.Coordinator()
        session = v1.Session()
        threads = v1.train.start_queue_runners(session, coordinator)
    next_batch = session.make_callable(batch)

    def run() -> np.ndarray:
        for _ in range(COUNT // BATCH):
            last = next_batch()
        return last

    yield run
    coordinator.request_stop()
    coordinator.join(threads)
    session.close()


def python_pass(path: str, check: bool) -> Callable:
    """Reads all records with the code of the page."""

    def run() -> np.ndarray:
        with open(path, "rb") as file:
            found = list(records(file, check))
        return np.array(found[-BATCH:], object)

    return run


def cases() -> Iterator[Case]:
    items = np.random.default_rng(0).integers(0, 256, [COUNT, SIDE, SIDE], np.uint8)
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        idx, record = f"{folder}/items.idx", f"{folder}/items.tfrecord"
        write_idx(idx, items)
        with tf.io.TFRecordWriter(record) as writer:
            for item in items:
                writer.write(item.tobytes())

        def queues(reader: Callable, path: str, at_once: bool = False) -> Callable:
            return stack.enter_context(queue_pass(reader, path, at_once))

        tfrecord = {
            "TFRecordDataset": dataset_pass(tf.data.TFRecordDataset(record)),
            "TFRecordReader, queues": queues(v1.TFRecordReader, record),
            "Python": python_pass(record, True),
            "Python, payloads unchecked": python_pass(record, False),
        }
        yield Case({"task": "TFRecord"}, tfrecord)
        header = os.path.getsize(idx) - items.nbytes
        fixed = tf.data.FixedLengthRecordDataset(idx, LENGTH, header_bytes=header)
        ours = {
            "FixedLengthRecordDataset": dataset_pass(fixed),
            "IdxReader, queues": queues(IdxReader, idx),
            "IdxReader, read_up_to": queues(IdxReader, idx, True),
        }
        yield Case({"task": "IDX"}, ours)


if __name__ == "__main__":
    notes = [
        f"{COUNT} records of {LENGTH} bytes each, in batches of {BATCH}",
        "times of a pass over a file that is in the memory of the system: the median of the rounds",
        "tf.data without prefetching and tuning; queues: one thread fills a queue of two batches",
        "Python: the code of the page, into a list",
    ]

    v1.logging.set_verbosity(v1.logging.ERROR)  # no notices of deprecation
    run_turns(cases, notes, rounds=21)
