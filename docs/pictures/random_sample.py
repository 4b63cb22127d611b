"""The picture of the chapter on random samples: a stream, its priorities, and what samples of two sizes keep."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from IPython.display import HTML
from pictures.drawing import picture
from pictures.layout import grid, table
from state_sample import Sample, library


def priorities(count: int, capacities: Sequence[int]) -> HTML:
    """Adds so many values to samples with one seed, and draws what each keeps below the values and their priorities."""
    stream = np.arange(count, dtype=np.float32)

    def read(capacity: int):
        sample = Sample(capacity, seed=2)
        sample.add(stream)
        return library.read_sample(sample.resource_handle)

    everything = read(count)
    priority = np.empty(count)
    priority[np.int64(everything.values)] = np.float64(everything.priorities) / 2**63
    values = [f"{value:g}" for value in stream]
    cells, ranks = partial(grid, width=40, height=26), [f"{p:.2f}" for p in priority]
    says = ", ".join(map(" ".join, zip(values, ranks)))
    rows = [["value", cells([values])], ["priority", cells([ranks]).tells(says)]]
    for capacity in capacities:
        kept = np.isin(stream, read(capacity).values.numpy())
        smallest = priority <= np.sort(priority)[capacity - 1]
        if not np.array_equal(kept, smallest):
            raise ValueError(f"a sample of {capacity} keeps {stream[kept]}")
        shown = np.where(kept, values, "")
        sample = cells([shown], kept, shade=0.4)
        sample.tells(f"a sample of {capacity} keeps {', '.join(shown[kept])}")
        rows.append([f"sample of {capacity}", sample])
    shapes = table(rows, (10, 8), ("end", "start"))
    return picture(shapes, "Values and their priorities:")
