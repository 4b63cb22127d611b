"""How long ways take in which threads share a sum or unequal rows, and what threads of one's own cost: `make bench`."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from measure import caches, cores, run_turns, traced, turns
from processes import by_threads
from threads import sort_rows, steady_sum
from threads_reference import sort_rows_reference
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


def check(ways: dict[str, Callable], x: tf.Tensor) -> None:
    """Whether all give the sum, as well as their order allows."""
    expected = np.sum(x.numpy(), dtype=np.float64)
    for name, way in ways.items():
        np.testing.assert_allclose(way(x), expected, rtol=1e-3, err_msg=name)


def compared(
    task: str, ways: dict[str, Callable], x: np.ndarray, rounds: int, span: float
) -> list[dict]:
    """The rows of one comparison: checked, traced, and run in turn."""
    x = tf.constant(x)
    check(ways, x)
    runs = {name: traced(way, x) for name, way in ways.items()}
    return turns({"task": task}, runs, rounds, span)


def shared_sums(rounds: int, span: float) -> list[dict]:
    """The rows of the ways to share a sum, or two."""
    random = np.random.default_rng(0)
    ways = {"SteadySum": steady_sum, "tf.reduce_sum": tf.reduce_sum}
    ways |= {way: partial(sum_by, way=way) for way in SHARED}
    rows = compared("sum", ways, random.random(SIZE, np.float32), rounds, span)
    ways = {way: partial(sum_by, way=way) for way in SIGNED}
    numbers = random.standard_normal(SIZE, np.float32) + np.float32(0.5)
    return rows + compared("gains and losses", ways, numbers, rounds, span)


def reads(rounds: int, span: float) -> list[dict]:
    """The rows of as many additions, of numbers from memory and of numbers that a core has in its cache."""
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
    return turns({"task": "reads"}, runs, rounds, span)


def unequal_rows(rounds: int, span: float) -> list[dict]:
    """The rows of the ways to share rows of which few have most of the values."""
    lengths = np.maximum(1, LONGEST // np.arange(1, ROWS + 1))
    splits = np.append(0, np.cumsum(lengths))
    values = np.random.default_rng(0).integers(0, 10**9, splits[-1])
    inputs = tf.constant(values), tf.constant(splits)
    ways = {"SortRows": sort_rows, "shard": partial(sort_rows_by, way="shard")}
    expected = sort_rows_reference(values, splits)
    for name, way in ways.items():
        found = tf.nest.flatten(way(*inputs))[0]
        np.testing.assert_array_equal(found, expected, err_msg=name)
    runs = {name: traced(way, *inputs) for name, way in ways.items()}
    return turns({"task": "rows"}, runs, rounds, span)


def costs(rounds: int, span: float) -> list[dict]:
    """The rows of Shard with a right and with wrong costs of a row, for much work and for little."""
    table = []
    for rows, length in (10_000, 100), (100, 10):
        splits = np.arange(rows + 1) * length
        values = np.random.default_rng(0).integers(0, 10**9, rows * length)
        inputs = tf.constant(values), tf.constant(splits)
        runs = {
            name: partial(sort_rows_by, *inputs, way="shard", cycles=cycles)
            for name, cycles in COSTS.items()
        }
        task = f"cost of {rows} rows of {length}"
        table += turns({"task": task}, runs, rounds, span)
    return table


def own_threads(rounds: int, span: float) -> list[dict]:
    """The rows of sums by other threads than TensorFlow's, which several threads of Python ask for at once."""
    x = tf.constant(np.random.default_rng(0).random(SMALL, np.float32))
    ways = {way: partial(sum_by, x, way=way) for way in OWN}
    results = {way().numpy().tobytes() for way in ways.values()}
    if results != {steady_sum(x).numpy().tobytes()}:
        raise ValueError("the blocks are the same, and the sums differ")
    rows = []
    for callers in 1, CALLERS:
        with ThreadPoolExecutor(callers) as threads:

            def at_once(way: Callable, threads=threads, callers=callers) -> list:
                return [*threads.map(lambda _: way(), range(callers))]

            runs = {name: partial(at_once, way) for name, way in ways.items()}
            rows += turns({"task": f"{callers} at once"}, runs, rounds, span)
    return rows


def measure(threads: int, rounds: int, span: float) -> list[dict]:
    """The rows of the table for a number of threads."""
    rows = [
        row
        for part in (shared_sums, reads, unequal_rows, costs)
        for row in part(rounds, span)
    ]
    if threads == cores():
        rows += own_threads(rounds, span)
    return [{"threads": threads} | row for row in rows]


def main() -> None:
    notes = [
        "milliseconds: of a call, the median of the rounds",
        "ratio: to the first way of the task in the same round, with median, q1 and q3",
        f"sum: {SIZE} random numbers, float32, in a tf.function",
        "gains and losses: as many normal numbers, a sum of those below 0 and one of the others",
        f"reads: shard adds {LARGE} numbers, or {LARGE // PASSES} of them {PASSES} times, block by block",
        f"at once: {SMALL} numbers, for each of so many calls that begin together, eagerly; milliseconds until all end",
        f"rows: {ROWS} rows of int64, row r of {LONGEST} // (r + 1) random numbers, at least 1, in a tf.function",
        "cost: SortRowsBy, whose rows are said to cost so much, eagerly, for calls of a tf.function take longer",
        f"caches: {caches()}",
        "ways: as SumBy names them, but for SteadySum and tf.reduce_sum; of rows: SortRows, and Shard",
    ]

    run_turns(__file__, __doc__, notes, by_threads(measure), rounds=25, threads=True)


if __name__ == "__main__":
    main()
