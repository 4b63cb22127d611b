"""How often a kernel runs: ops that count it, and four ways to use them."""

import ctypes
from collections.abc import Callable
from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_path = Path(__file__).with_name("libcount_runs.so")
_library = load_op_library(_path, "count_runs", "count_runs_stateful")
_take_runs = ctypes.CDLL(str(_path)).TakeRuns
_take_runs.restype = ctypes.c_int64


def count_runs(x) -> tf.Tensor:
    """Returns `x`, of any shape and dtype. TensorFlow may run it less often than it is called."""
    return _library.count_runs(x)


def count_runs_stateful(x) -> tf.Tensor:
    """Returns `x`, of any shape and dtype."""
    return _library.count_runs_stateful(x)


def plain(op, x):
    return op(x)


def constant_input(op, x):
    return op(tf.constant([5.0, 4.0, 3.0]))


def result_unused(op, x):
    op(x)
    return x


def used_twice(op, x):
    return op(x) + op(x)


WAYS = (plain, constant_input, result_unused, used_twice)


def runs(function: Callable, op: Callable) -> int:
    """How often the kernel of a counting op runs in ten calls of one of the functions above."""
    _take_runs()
    for _ in range(10):
        function(op, tf.constant([1.0, 2.0, 3.0]))
    return _take_runs()
