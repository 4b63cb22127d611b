"""How much memory it takes to read a file: `MALLOC_MMAP_THRESHOLD_=65536 python dataset_memory.py FILE`.

The C library keeps freed memory for later, and how much of it depends on all that the process has done before. With the
variable, rows get their memory from the system, and give it back when they are freed.
"""

import resource
import sys
from pathlib import Path

import tensorflow as tf
from dataset import npy_dataset


def resident() -> int:
    """How many bytes of memory this process has."""
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * resource.getpagesize()


def memory_of_ten_epochs(rows: tf.data.Dataset) -> int:
    """How many bytes ten epochs need, at most, beside the memory that the process has after a first row."""
    no_reading_ahead = tf.data.Options()
    no_reading_ahead.experimental_optimization.inject_prefetch = False
    rows = rows.with_options(no_reading_ahead)
    for _row in rows.take(1):
        pass
    before, used = resident(), []
    for _ in range(10):
        for _row in rows:
            used.append(resident() - before)
    return max(used)


if __name__ == "__main__":
    rows = npy_dataset(sys.argv[1])
    print(memory_of_ten_epochs(rows), memory_of_ten_epochs(rows.cache()))
