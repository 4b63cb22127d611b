"""How long NpyDataset takes to read the rows of a file, beside other ways and beside plain reads.

The file has been read before, so that it is in the memory of the system.
"""

import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from dataset import npy_dataset, row_spec
from turns import Case, run_turns

SMALL = np.uint8, (4096, 28, 28), 1024
LARGE = np.float32, (256, 1024, 1024), None
UNDECODED = "records, not decoded"


def alone(dataset: tf.data.Dataset) -> tf.data.Dataset:
    """The dataset without what TensorFlow puts behind it: no thread that reads ahead, and no tuning."""
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = False
    options.autotune.enabled = False
    return dataset.with_options(options)


def ways_of(path: str, batch: int | None) -> dict[str, tf.data.Dataset]:
    """Datasets of the rows of a file."""
    spec = row_spec(path)
    rows = np.load(path, mmap_mode="r")
    records = tf.data.FixedLengthRecordDataset(
        path, rows[0].nbytes, header_bytes=rows.offset
    )

    def generate():
        yield from np.load(path, mmap_mode="r")

    found = {
        "NpyDataset": npy_dataset(path),
        "fixed-length records": records.map(
            lambda record: tf.reshape(tf.io.decode_raw(record, spec.dtype), spec.shape)
        ),
    }
    if batch:  # a row of the generator's is not read until it is used: into a batch
        found["from_generator"] = tf.data.Dataset.from_generator(
            generate, output_signature=spec
        )
        found = {name: rows.batch(batch) for name, rows in found.items()}
        found["records, decoded in batches"] = records.batch(batch).map(
            lambda records: tf.reshape(
                tf.io.decode_raw(records, spec.dtype), [-1, *spec.shape]
            )
        )
    else:
        found[UNDECODED] = records
    return {name: alone(dataset) for name, dataset in found.items()}


def one_pass(dataset: tf.data.Dataset, batch: int | None) -> Callable:
    """Reads all rows and keeps the last: large ones in a loop, since `reduce` copies them, batches without Python."""
    if not batch:
        return lambda: deque(dataset, 1).pop()
    spec = dataset.element_spec
    nothing = tf.zeros([0 if size is None else size for size in spec.shape], spec.dtype)
    return lambda: dataset.reduce(nothing, lambda _, rows: rows)


def last_of_all(datasets: dict[str, tf.data.Dataset]) -> tf.Tensor:
    """Keeps the rows of NpyDataset until the end of the pass, so that each needs new memory."""
    return list(datasets["NpyDataset"])[-1]


def plain_reads(path: str) -> Callable:
    """Reads the file row by row into the same memory, without TensorFlow."""
    rows = np.load(path, mmap_mode="r")
    memory = np.empty_like(rows[0])

    def run() -> np.ndarray:
        with open(path, "rb", buffering=0) as file:
            file.seek(rows.offset)
            for _ in rows:
                if file.readinto(memory) != memory.nbytes:
                    raise ValueError(f"{path} ends early")
        return memory

    return run


def cases() -> Iterator[Case]:
    for task, (dtype, shape, batch) in {
        "small rows": SMALL,
        "large rows": LARGE,
    }.items():
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/rows.npy"
            random = np.random.default_rng(0)
            np.save(path, random.integers(0, 256, shape).astype(dtype))
            datasets = ways_of(path, batch)
            ways = {name: one_pass(each, batch) for name, each in datasets.items()}
            if not batch:
                ways["NpyDataset, all rows kept"] = partial(last_of_all, datasets)
                ways["plain reads"] = plain_reads(path)
            yield Case({"task": task}, ways, unlike=[UNDECODED])


if __name__ == "__main__":
    notes = [
        f"small rows: {SMALL[1]}, uint8, in batches of {SMALL[2]}; large rows: {LARGE[1]}, float32",
        "times of a pass over a file that is in the memory of the system: the median of the rounds",
        "without prefetching and tuning; plain reads: row by row into the same memory, without TensorFlow",
        "all rows kept: until the end of the pass, so that the iterator cannot use memory again",
    ]
    run_turns(cases, notes, rounds=21)
