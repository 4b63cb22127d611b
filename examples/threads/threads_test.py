"""Tests of SteadySum, SortRows and PlayBackwards: `pytest examples/threads`."""

import json
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from op_library import load_op_library
from tensorflow.python.eager import cancellation
from threads import play_backwards, sort_rows, steady_sum
from threads_processes import new_threads
from threads_reference import (
    even_part_reference,
    first_highest_reference,
    play_backwards_reference,
    sort_rows_reference,
    steady_sum_reference,
)
from wrong_threads import (
    blocks_done,
    how_often_evaluated,
    long_work,
    play_backwards_by,
    sort_rows_by,
    sum_by,
)

from opcheck.testing import op_test

HERE = Path(__file__).parent
DTYPES = [tf.float32, tf.float64]
BLOCK = 4096


def numbers(*shape, dtype=np.float32):
    return np.random.default_rng(0).random(shape, dtype)


# Several blocks, which opcheck lets threads share.
test_steady_sum_keeps_its_promises = op_test(
    steady_sum, numbers(3, 100_000), reference=steady_sum_reference
)
test_sort_rows_keeps_its_promises = op_test(
    sort_rows,
    np.random.default_rng(0).integers(0, 99, 50_000),
    np.int64([0, 0, 40_000, 40_001, 50_000, 50_000]),
    reference=sort_rows_reference,
)
test_play_backwards_keeps_its_promises = op_test(
    play_backwards, numbers(7), gain=2.5, reference=play_backwards_reference
)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "size", [0, 1, 15, 17, BLOCK - 1, BLOCK, BLOCK + 1, 5 * BLOCK + 33]
)
def test_sums_of_all_sizes(mode, size, dtype):
    x = np.arange(size, dtype=dtype.as_numpy_dtype) % 8  # exact in any order
    total = mode(steady_sum)(x)
    assert total.dtype == dtype and total == np.sum(x, dtype=np.float64)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_bits_are_those_of_the_reference(mode, dtype):
    """Another order of the additions would be another op."""
    x = numbers(20 * BLOCK + 77, dtype=dtype.as_numpy_dtype)
    expected = steady_sum_reference(x)
    assert mode(steady_sum)(x).numpy().tobytes() == expected.tobytes()


def test_the_smallest_numbers_count(mode):
    tiny = np.full(10_000, 1e-45, np.float32)  # TensorFlow compares them as zeros
    assert mode(steady_sum)(tiny).numpy() == np.sum(tiny, dtype=np.float64)


def test_a_step_may_lie_anywhere_in_memory(mode):
    """The order is that of the numbers and not that of addresses, as it would be with aligned packets."""
    x = numbers(BLOCK + 1)
    expected = sum_by(x[1:].copy(), "shard").numpy()
    assert mode(lambda x: steady_sum(x[1:]))(tf.constant(x)).numpy() == expected


@pytest.mark.parametrize("way", ["lock", "atomic", "local", "apart", "own", "shard"])
def test_slow_ways_add_all_numbers(way):
    x = np.arange(100_000, dtype=np.float32) % 3 - 1
    assert sum_by(x, way) == np.sum(x)


@pytest.mark.parametrize("threads", [1, 3, 8])
def test_threads_of_ones_own_give_the_same_bits(threads):
    x = numbers(20 * BLOCK + 5)
    total = sum_by(x, "std::thread", threads=threads)
    assert total.numpy() == steady_sum(x).numpy()


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_calls_at_once_share_the_pool_but_not_threads_of_their_own():
    x = tf.constant(numbers(20 * BLOCK))  # after which the pool has its threads
    added = [
        new_threads(lambda way=way: sum_by(x, way, threads=6), 8)
        for way in ("shard", "openmp")
    ]
    assert added in ([0, 40], [0, 0])  # or the compiler has no OpenMP


def unequal_rows():
    """Of 4000 rows, the first has 5000 values, and most have one."""
    lengths = np.maximum(1, 5000 // np.arange(1, 4001))
    values = np.random.default_rng(0).integers(0, 999, lengths.sum())
    return values, np.append(0, np.cumsum(lengths))


WAYS_OF_ROWS = {
    "a quarter": {"way": "fixed", "block": 1000},
    "seven": {"way": "fixed", "block": 7},
    "adaptive": {"way": "adaptive"},
    "shard": {"way": "shard"},
    "values": {"way": "values"},
}


@pytest.mark.parametrize("way", WAYS_OF_ROWS)
@pytest.mark.parametrize("splits", [[0], [0, 0], [0, 0, 3, 3], [0, 1, 2, 3]])
def test_all_ways_sort_all_rows(way, splits):
    for rows in (np.int64([3, 1, 2])[: splits[-1]], np.int64(splits)), unequal_rows():
        by_way, first, thread = sort_rows_by(*rows, **WAYS_OF_ROWS[way])
        np.testing.assert_array_equal(by_way, sort_rows_reference(*rows))
        np.testing.assert_array_equal(sort_rows(*rows), by_way)
        assert len(first) == len(thread) == len(rows[1]) - 1


def work_by_way():
    """Of each way: how many blocks, and what share of the values the largest block and the busiest thread have."""
    values, splits = unequal_rows()
    found = {}
    for name, way in WAYS_OF_ROWS.items():
        _, *units = sort_rows_by(values, splits, **way)
        counted = [np.unique(unit, return_inverse=True)[1] for unit in units]
        work = [np.bincount(places, np.diff(splits)) for places in counted]
        shares = [max(one) / len(values) for one in work]
        found[name] = len(work[0]), *shares
    return json.dumps(found)


def test_a_quarter_of_the_rows_is_nearly_all_of_the_work(with_threads):
    """Which thread takes a block depends on the time. What is in a block does not, and one thread has it all."""
    found = json.loads(with_threads(4, work_by_way))
    blocks = {way: count for way, (count, *_) in found.items()}
    assert blocks == {"a quarter": 4, "seven": 572} | dict.fromkeys(
        ["adaptive", "shard", "values"], 16
    )
    largest = {way: share for way, (_, share, _) in found.items()}
    assert all(busiest >= share for _, share, busiest in found.values())
    assert largest["a quarter"] > 0.85 and largest["shard"] > 0.7
    assert largest["adaptive"] == largest["shard"]
    assert largest["values"] < 0.15, "a sixteenth, or the longest row"


def test_rows_that_do_not_fit_are_refused(mode):
    values = np.arange(3)
    for splits, said in {
        (): r"a vector with elements, got shape \[0\]",
        (0, 2, 1, 3): "must not decrease, got 1 after 2",
        (1, 3): "must go from 0 to the 3 values, got 1 to 3",
        (0, 2): "must go from 0 to the 3 values, got 0 to 2",
    }.items():
        for sort in sort_rows, lambda *rows: sort_rows_by(*rows, way="values"):
            with pytest.raises(tf.errors.InvalidArgumentError, match=said):
                mode(sort)(values, np.int64(splits))
    refused = tf.errors.InvalidArgumentError, ValueError
    with pytest.raises(refused, match="values must be a vector|must be rank 1"):
        mode(sort_rows)(values[None], np.int64([0, 3]))
    with pytest.raises(refused, match="row_splits must be a vector|must be rank 1"):
        mode(sort_rows)(values, np.int64(3))


@pytest.mark.parametrize("way", ["temp", "vector"])
def test_a_signal_is_turned_around_through_other_memory(way):
    backwards, taken_over = play_backwards_by([1.0, 2.0, 3.0], way, gain=2.0)
    assert backwards.numpy().tolist() == [6, 4, 2] and not taken_over


def test_every_thread_takes_subnormal_numbers_for_zero():
    tiny = np.full(100_000, 1e-39, np.float32)
    assert not play_backwards(tiny, gain=0.5).numpy().any()


def test_an_expression_is_evaluated_as_often_as_it_is_used():
    counts = [how_often_evaluated(tf.zeros([10]), kept) for kept in (False, True)]
    assert counts == [20, 10]


WAYS = ["shard", "std::thread"]  # the sanitizers do not know OpenMP


@pytest.mark.parametrize("way", WAYS)
def test_work_that_nobody_cancels_ends(mode, way):
    assert mode(lambda: long_work(way, asks=True, blocks=9))() == 9 == blocks_done()


@pytest.mark.parametrize("asks", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_cancelled_work_ends_if_it_asks(way, asks):
    blocks = 400
    work = tf.function(lambda: long_work(way, asks, blocks)).get_concrete_function()
    manager = cancellation.CancellationManager()

    def cancel():
        deadline = time.monotonic() + 60
        while not 9 < blocks_done() < blocks and time.monotonic() < deadline:
            time.sleep(0.001)
        manager.start_cancel()

    thread = threading.Thread(target=cancel)
    cancelable = manager.get_cancelable_function(work)
    long_work(way, asks, 0)
    thread.start()
    if asks:
        said = rf"the step was cancelled after \d+ of {blocks} blocks"
        with pytest.raises(tf.errors.CancelledError, match=said):
            cancelable()
    else:
        assert cancelable() == blocks
    thread.join()
    assert manager.is_cancelled and (blocks_done() < blocks) == asks


def test_what_is_no_vector_is_refused(mode):
    for signal in tf.zeros([]), tf.zeros([2, 3]):
        with pytest.raises(
            (tf.errors.InvalidArgumentError, ValueError),
            match="signal must be a vector|must be rank 1",
        ):
            mode(play_backwards)(signal)


@pytest.mark.parametrize("op", [steady_sum, play_backwards])
def test_other_dtypes_are_refused(mode, op):
    with pytest.raises(
        (tf.errors.InvalidArgumentError, TypeError), match="allowed values"
    ):
        mode(op)(tf.constant([1]))


def test_gradients(mode):
    x = tf.constant(numbers(5), tf.float64)
    for op in steady_sum, lambda x: play_backwards(x, gain=0.5):
        analytical, numerical = tf.test.compute_gradient(mode(op), [x])
        np.testing.assert_allclose(analytical, numerical, rtol=1e-6)


def test_the_solution_of_the_exercise_on_eigen(mode):
    even_part = load_op_library(
        HERE / "libsolution_even_part.so", "even_part"
    ).even_part
    x = numbers(100_001)
    halves = mode(lambda x: even_part(x * 2))(x)  # whose memory nobody else needs
    np.testing.assert_array_equal(halves, even_part_reference(x * 2))
    refused = tf.errors.InvalidArgumentError, ValueError
    with pytest.raises(refused, match="signal must be a vector|must be rank 1"):
        mode(even_part)(x[None])


def test_the_solution_of_the_exercise(mode):
    library = load_op_library(HERE / "libsolution_first_highest.so", "first_highest")
    x = np.random.default_rng(0).integers(0, 50, [9, 5000]).astype(np.float32)
    assert mode(library.first_highest)(x) == first_highest_reference(x)
    x = np.zeros(9000, np.float32)
    x[5000] = 1e-40  # where subnormal numbers are taken for zero, all are equal
    assert mode(library.first_highest)(x) == 5000
    with pytest.raises(tf.errors.InvalidArgumentError, match="x must have elements"):
        mode(library.first_highest)(tf.zeros([0]))
