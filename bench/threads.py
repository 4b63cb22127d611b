"""How long ways take in which threads share a sum or unequal rows, and what threads of one's own cost: `make bench`."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from measure import caches, cores
from threads import sort_rows, steady_sum
from threads_reference import sort_rows_reference
from turns import Case, run_turns, traced
from wrong_threads import sort_rows_by, sum_by

SIZE = 2**22
SMALL = 2**18
LARGE, PASSES = 2**24, 256
CALLERS = 8
ROWS = 10_000
LONGEST = 20_000
SHARED = "alone", "lock", "atomic"
SIGNED = "apart", "neighbours", "own"
COSTS = {"the right cost": 0, "1 cycle": 1, "10,000,000 cycles": 10**7}
OWN = "shard", "std::thread", "openmp"


def of_sum(task: str, ways: dict[str, Callable], x: np.ndarray) -> Case:
    """Ways to add numbers, as equal as their order allows."""
    runs = {name: traced(way, tf.constant(x)) for name, way in ways.items()}
    return Case({"task": task}, runs, 1e-3, expected=np.sum(x, dtype=np.float64))


def shared_sums() -> Iterator[Case]:
    """The ways to share a sum, or two."""
    random = np.random.default_rng(0)
    ways = {"SteadySum": steady_sum, "tf.reduce_sum": tf.reduce_sum}
    ways |= {way: partial(sum_by, way=way) for way in SHARED}
    yield of_sum("sum", ways, random.random(SIZE, np.float32))
    ways = {way: partial(sum_by, way=way) for way in SIGNED}
    numbers = random.standard_normal(SIZE, np.float32) + np.float32(0.5)
    yield of_sum("gains and losses", ways, numbers)


def reads() -> Case:
    """As many additions, of numbers from memory and of numbers that a core has in its cache."""
    x = np.random.default_rng(0).random(LARGE, np.float32)
    few = x[: LARGE // PASSES]
    np.testing.assert_allclose(sum_by(x, "shard"), x.sum(), rtol=1e-3)
    again = sum_by(few, "shard", passes=PASSES)
    np.testing.assert_allclose(again, PASSES * few.sum(), rtol=1e-3)
    runs = {
        "from memory": traced(partial(sum_by, way="shard"), tf.constant(x)),
        "from a cache": traced(
            partial(sum_by, way="shard", passes=PASSES), tf.constant(few)
        ),
    }
    return Case({"task": "reads"}, runs, unlike=["from a cache"])


def unequal_rows() -> Case:
    """The ways to share rows of which few have most of the values."""
    lengths = np.maximum(1, LONGEST // np.arange(1, ROWS + 1))
    splits = np.append(0, np.cumsum(lengths))
    values = np.random.default_rng(0).integers(0, 10**9, splits[-1])
    inputs = tf.constant(values), tf.constant(splits)
    ways = {"SortRows": sort_rows, "shard": partial(sort_rows_by, way="shard")}
    runs = {name: traced(way, *inputs) for name, way in ways.items()}
    expected = sort_rows_reference(values, splits)
    for name, run in runs.items():  # sort_rows_by returns more than the rows
        np.testing.assert_array_equal(run()[0], expected, err_msg=name)
    return Case({"task": "rows"}, runs, unlike=["shard"])


def costs() -> Iterator[Case]:
    """Shard with a right and with wrong costs of a row, for much work and for little."""
    for rows, length in (10_000, 100), (100, 10):
        splits = np.arange(rows + 1) * length
        values = np.random.default_rng(0).integers(0, 10**9, rows * length)
        inputs = tf.constant(values), tf.constant(splits)
        runs = {
            name: partial(sort_rows_by, *inputs, way="shard", cycles=cycles)
            for name, cycles in COSTS.items()
        }
        task = {"task": f"cost of {rows} rows of {length}"}
        yield Case(task, runs, unlike=[*runs][1:])  # they tell which thread did what


def own_threads() -> Iterator[Case]:
    """Sums by other threads than TensorFlow's, which several threads of Python ask for at once."""
    x = tf.constant(np.random.default_rng(0).random(SMALL, np.float32))
    ways = {way: partial(sum_by, x, way=way) for way in OWN}
    np.testing.assert_array_equal(ways[OWN[0]](), steady_sum(x))  # the same blocks
    for callers in 1, CALLERS:
        with ThreadPoolExecutor(callers) as threads:

            def at_once(way: Callable, threads=threads, callers=callers) -> list:
                return [*threads.map(lambda _: way(), range(callers))]

            runs = {name: partial(at_once, way) for name, way in ways.items()}
            yield Case({"task": f"{callers} at once"}, runs)


def cases(threads: int) -> Iterator[Case]:
    yield from shared_sums()
    yield reads()
    yield unequal_rows()
    yield from costs()
    if threads == cores():
        yield from own_threads()


if __name__ == "__main__":
    notes = [
        "milliseconds: of a call, the median of the rounds",
        f"sum: {SIZE} random numbers, float32, in a tf.function",
        "gains and losses: as many normal numbers, a sum of those below 0 and one of the others",
        f"reads: shard adds {LARGE} numbers, or {LARGE // PASSES} of them {PASSES} times, block by block",
        f"at once: {SMALL} numbers, for each of so many calls that begin together, eagerly; milliseconds until all end",
        f"rows: {ROWS} rows of int64, row r of {LONGEST} // (r + 1) random numbers, at least 1, in a tf.function",
        "cost: SortRowsBy, whose rows are said to cost so much, eagerly, for calls of a tf.function take longer",
        f"caches: {caches()}",
        "ways: as SumBy names them, but for SteadySum and tf.reduce_sum; of rows: SortRows, and Shard",
    ]
    run_turns(cases, notes, rounds=25, threads=True)
