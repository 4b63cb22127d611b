"""How long a queue of TensorFlow 1 and tf.data take to read and decode fixed-length records, each in a thread.

The file has been read before, so that it is in the memory of the system.
"""

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from readers import IdxReader, write_idx
from turns import Case, run_turns

v1 = tf.compat.v1
COUNT, SIDE, BATCH = 4096, 28, 256
LENGTH = SIDE * SIDE


def image(record: tf.Tensor) -> tf.Tensor:
    return tf.reshape(tf.io.decode_raw(record, tf.uint8), [SIDE, SIDE])


def images(records: tf.Tensor) -> tf.Tensor:
    return tf.reshape(tf.io.decode_raw(records, tf.uint8), [-1, SIDE, SIDE])


def batches(next_batch: Callable) -> Callable:
    """As many batches as a file has; the file is read over and over."""

    def run() -> object:
        for _ in range(COUNT // BATCH):
            last = next_batch()
        return last

    return run


def dataset(batches: tf.data.Dataset) -> Callable:
    """The next batch, which a thread prepares."""
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = False
    options.autotune.enabled = False
    iterator = iter(batches.prefetch(2).with_options(options))
    return lambda: next(iterator)


@contextlib.contextmanager
def queue(path: str, at_once: bool) -> Iterator[Callable]:
    """The next batch, out of a queue that a thread fills.

    Args:
      path: Of the file.
      at_once: Whether the thread reads and decodes as many records as are in a batch, or one.
    """
    with tf.Graph().as_default():
        names = v1.train.string_input_producer([path], shuffle=False)
        if at_once:
            found = images(IdxReader().read_up_to(names, BATCH)[1])
        else:
            found = image(IdxReader().read(names)[1])
        batch = v1.train.batch([found], BATCH, capacity=2 * BATCH, enqueue_many=at_once)
        coordinator = v1.train.Coordinator()
        session = v1.Session()
        threads = v1.train.start_queue_runners(session, coordinator)
    yield session.make_callable(batch)
    coordinator.request_stop()
    coordinator.join(threads)
    session.close()


def cases() -> Iterator[Case]:
    items = np.random.default_rng(0).integers(0, 256, [COUNT, SIDE, SIDE], np.uint8)
    with contextlib.ExitStack() as stack:
        path = f"{stack.enter_context(tempfile.TemporaryDirectory())}/items.idx"
        write_idx(path, items)
        header = os.path.getsize(path) - items.nbytes
        fixed = tf.data.FixedLengthRecordDataset(path, LENGTH, header).repeat()
        ways = {
            "tf.data, batch before map": dataset(fixed.batch(BATCH).map(images)),
            "tf.data, map before batch": dataset(fixed.map(image).batch(BATCH)),
            "queues, read_up_to": stack.enter_context(queue(path, True)),
            "queues, one by one": stack.enter_context(queue(path, False)),
        }
        yield Case({"task": "IDX"}, {name: batches(way) for name, way in ways.items()})


if __name__ == "__main__":
    notes = [
        f"{COUNT} records of {LENGTH} bytes each, decoded, in batches of {BATCH}",
        "times of a pass over a file that is in the memory of the system: the median of the rounds",
        "tf.data without tuning, with prefetch(2); queues: one thread fills a queue of two batches",
        "read_up_to: the thread reads and decodes a batch at once",
    ]

    v1.logging.set_verbosity(v1.logging.ERROR)  # no notices of deprecation
    run_turns(cases, notes, rounds=41)
