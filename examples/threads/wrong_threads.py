"""Other ways than those of SteadySum, SortRows and PlayBackwards, most of them wrong or slow."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(
    Path(__file__).with_name("libwrong_threads.so"),
    *("sum_by", "sort_rows_by", "play_backwards_by", "how_often_evaluated"),
    *("long_work", "blocks_done", "count_at_once", "nested"),
)


def sum_by(x, way: str, threads: int = 0, passes: int = 1) -> tf.Tensor:
    """Adds all elements in a way of which most are wrong or slow.

    Args:
      x: A tensor of any shape, float32.
      way: How threads share the sum, as the op's interface lists it.
      threads: How many, for "std::thread" and "openmp"; 0 is the number of the processor.
      passes: How often these two and "shard" add each block.

    Returns:
      A float32 scalar.
    """
    return _library.sum_by(x=x, way=way, threads=threads, passes=passes)


def sort_rows_by(
    values, row_splits, way: str, block: int = 1, cycles: int = 0
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Sorts each row of a ragged tensor in a way that may be slow, and tells who did.

    Args:
      values: `[size]`, int64: the values of the rows, one row after the other.
      row_splits: `[rows + 1]`, int64: where each row begins in `values`, and at last `size`.
      way: How the blocks are cut: "fixed", "adaptive", "shard" or, as SortRows does, "values".
      block: How many rows a block of "fixed" has.
      cycles: What Shard is told that a row costs; 0 is an estimate.

    Returns:
      The rows, each in ascending order; of each row, the first unit of the block that it was sorted in, and the
      number of the thread that did.

    Raises:
      tf.errors.InvalidArgumentError: As for `sort_rows`.
    """
    return _library.sort_rows_by(
        values=values,
        row_splits=row_splits,
        way=way,
        block=block,
        cycles=cycles,
    )


def play_backwards_by(
    signal, way: str, gain: float = 1.0
) -> tuple[tf.Tensor, tf.Tensor]:
    """Turns a signal around in a way of which most are wrong.

    Args:
      signal: `[length]`, float32.
      way: Where the signal is before it is turned around: "in place", "taken over", "temp" or "vector".
      gain: A factor.

    Returns:
      `[length]`, and whether that has the memory of `signal`.

    Raises:
      tf.errors.InvalidArgumentError: `signal` is not a vector.
    """
    return _library.play_backwards_by(signal=signal, way=way, gain=gain)


def how_often_evaluated(x, kept: bool) -> tf.Tensor:
    """Counts how often an expression computes the elements that it is asked for twice.

    Args:
      x: `[length]`, float32.
      kept: Whether the expression is assigned to a tensor first.

    Returns:
      The count, an int64 scalar.
    """
    return _library.how_often_evaluated(x=x, kept=kept)


def long_work(way: str, asks: bool, blocks: int = 100) -> tf.Tensor:
    """Works for a while in four threads, or those of TensorFlow. One call at a time.

    Args:
      way: Whose threads work: "shard", "std::thread" or "openmp".
      asks: Whether it stops when the step is cancelled.
      blocks: How many blocks there are, of 5 milliseconds each.

    Returns:
      How many blocks were done, an int64 scalar.

    Raises:
      tf.errors.CancelledError: It has stopped.
    """
    return _library.long_work(way=way, asks=asks, blocks=blocks)


def blocks_done() -> tf.Tensor:
    """How many blocks were done since `long_work` began, an int64 scalar."""
    return _library.blocks_done()


def count_at_once(number, blocks: int) -> tf.Tensor:
    """Sleeps in blocks that Shard shares, and counts those that sleep at the same time, also those of other such ops.

    Args:
      number: An int64 scalar: ops with different numbers are not merged.
      blocks: How many.

    Returns:
      As many as one of this op's blocks has seen, an int64 scalar.
    """
    return _library.count_at_once(number=number, blocks=blocks)


def nested(outer: int, inner: int) -> tf.Tensor:
    """Shares work in each block of shared work, and may never end.

    Args:
      outer: How many blocks.
      inner: How many units each block shares.

    Returns:
      How many units were done, an int64 scalar.
    """
    return _library.nested(outer=outer, inner=inner)
