"""How much memory it takes to read a file. Tests call these functions in processes of their own."""

import resource
from pathlib import Path

import tensorflow as tf


def resident() -> int:
    """How many bytes of memory this process has."""
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * resource.getpagesize()


def not_ahead(rows: tf.data.Dataset) -> tf.data.Dataset:
    """The same rows, none of which is read before it is wanted."""
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = False
    return rows.with_options(options)


def memory_of_ten_epochs(rows: tf.data.Dataset) -> int:
    """How many bytes ten epochs need, at most, beside the memory that the process has after a first row."""
    rows = not_ahead(rows)
    for _row in rows.take(1):
        pass
    before, used = resident(), []
    for _ in range(10):
        for _row in rows:
            used.append(resident() - before)
    return max(used)


def memory_after_rows_were_held(rows: tf.data.Dataset) -> int:
    """How many bytes an iterator keeps after a caller has held 255 rows, and let them go."""
    next(iter(not_ahead(rows.take(1))))
    before, iterator = resident(), iter(not_ahead(rows))
    held = [next(iterator) for _ in range(255)]
    del held
    next(iterator)
    return resident() - before


def memory_after_the_last_row(rows: tf.data.Dataset) -> int:
    """How many bytes an iterator has that is at its end, and still there."""
    next(iter(not_ahead(rows)))
    before, iterator = resident(), iter(not_ahead(rows))
    assert [float(row[-1]) for row in iterator] == [1, 1]
    return resident() - before


def rows_after_a_shortage(rows: tf.data.Dataset) -> int:
    """How many rows come when there was no memory for the second of them, and then there is again."""
    iterator = iter(not_ahead(rows))
    kept = [next(iterator)]
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    few = pages * resource.getpagesize() + kept[0].numpy().nbytes // 2
    resource.setrlimit(resource.RLIMIT_AS, (few, hard))
    try:
        next(iterator)
    except tf.errors.ResourceExhaustedError as error:
        assert "no memory for a row of shape" in error.message
    else:
        return 0
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    return len([*kept, *iterator])
