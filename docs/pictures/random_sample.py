"""The table of the chapter on random samples: a stream, its priorities, and what samples of two sizes keep."""

from collections.abc import Sequence

import numpy as np
from state_sample import Sample, library


def priorities(
    count: int, capacities: Sequence[int]
) -> tuple[list[str], list[list[str]]]:
    """Header and rows of a table: so many values, their priorities, and what samples with one seed keep of them."""
    stream = np.arange(count, dtype=np.float32)

    def read(capacity: int):
        sample = Sample(capacity, seed=2)
        sample.add(stream)
        return library.read_sample(sample.resource_handle)

    everything = read(count)
    priority = np.empty(count)
    priority[np.int64(everything.values)] = np.float64(everything.priorities) / 2**63
    values = [f"{value:g}" for value in stream]
    rows = [["priority", *(f"{each:.2f}" for each in priority)]]
    for capacity in capacities:
        kept = np.isin(stream, read(capacity).values.numpy())
        smallest = priority <= np.sort(priority)[capacity - 1]
        if not np.array_equal(kept, smallest):
            raise ValueError(f"a sample of {capacity} keeps {stream[kept]}")
        rows.append([f"sample of {capacity}", *np.where(kept, values, "")])
    return ["value", *values], rows
