"""Other ways to share work, most of them wrong or slow: `pytest examples/threads`."""

import json
import sys
import threading
import time

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.eager import cancellation
from threads import sort_rows, steady_sum
from threads_processes import at_once, new_threads, waits_for_itself
from threads_reference import (
    sort_rows_reference,
)
from threads_test import BLOCK, numbers
from wrong_threads import (
    blocks_done,
    how_often_evaluated,
    long_work,
    play_backwards_by,
    sort_rows_by,
    sum_by,
)


def test_a_step_may_lie_anywhere_in_memory(mode):
    """The order is that of the numbers and not that of addresses, as it would be with aligned packets."""
    x = numbers(BLOCK + 1)
    expected = sum_by(x[1:].copy(), "shard").numpy()
    assert mode(lambda x: steady_sum(x[1:]))(tf.constant(x)).numpy() == expected


@pytest.mark.parametrize("way", ["lock", "atomic", "local", "apart", "own", "shard"])
def test_slow_ways_add_all_numbers(way):
    x = np.arange(100_000, dtype=np.float32) % 3 - 1
    assert sum_by(x, way) == np.sum(x)


def test_each_block_is_added_as_often_as_told():
    x = np.arange(20_000, dtype=np.float32) % 3
    assert sum_by(x, "shard", passes=5) == 5 * np.sum(x)


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


def test_rows_that_do_not_fit_are_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="must not decrease"):
        sort_rows_by(np.arange(3), np.int64([0, 2, 1, 3]), way="values")


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


@pytest.mark.parametrize("way", ["temp", "vector"])
def test_a_signal_is_turned_around_through_other_memory(way):
    backwards, taken_over = play_backwards_by([1.0, 2.0, 3.0], way, gain=2.0)
    assert backwards.numpy().tolist() == [6, 4, 2] and not taken_over


def test_an_expression_is_evaluated_as_often_as_it_is_used():
    counts = [how_often_evaluated(tf.zeros([10]), kept) for kept in (False, True)]
    assert counts == [20, 10]


def blocks_by_cost():
    """How many blocks Shard makes of rows that are said to cost one cycle, and of such that cost many."""
    rows = unequal_rows()
    found = (sort_rows_by(*rows, way="shard", cycles=c)[1] for c in (1, 10**7))
    return json.dumps([len(np.unique(first)) for first in found])


def test_a_wrong_cost_cuts_wrong_blocks(with_threads):
    assert json.loads(with_threads(4, blocks_by_cost)) == [1, 16]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="forks")
def test_two_pools_limit_blocks_and_ops():
    """Threads of one pool run ops, and those of the other one blocks; of few blocks, the caller runs one, too."""
    assert at_once([(1, 1), (4, 1)]) == [(1, 1, 1, 1), (4, 1, 4, 4)]
    of_four_ops = at_once([(1, 4), (2, 4), (4, 4)])
    assert of_four_ops == [(1, 4, 4, 4), (2, 4, 2, 6), (4, 4, 4, 8)]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="forks")
def test_shard_inside_of_shard_may_never_end():
    assert waits_for_itself()


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
        with pytest.raises(tf.errors.CancelledError, match="the step was cancelled"):
            cancelable()
    else:
        assert cancelable() == blocks
    thread.join()
    assert manager.is_cancelled and (blocks_done() < blocks) == asks
