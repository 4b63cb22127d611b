"""The check `large_tensors`, which runs only where it is named."""

import numpy as np
import pytest
import tensorflow as tf
from python_ops import normal, result

import opcheck


def lower(x):
    return x - 1


def largest(x):
    return tf.reduce_max(x)


def rounds_the_place_of_the_largest(x):
    return tf.cast(tf.cast(tf.argmax(x), tf.float32), tf.int64)


def forgets_what_is_beyond(x):
    return x[: 1 << 22]


def zeros_at_the_end_of_much(x):
    return x * tf.cast(tf.size(x) < 1 << 24, x.dtype)


def refuses_much(x):
    if x.shape[0] > 1 << 22:
        raise ValueError("x has more than 2**22 elements")
    return x


def takes_four(x):
    return tf.ensure_shape(x, [4])


def check(op, *inputs, **options):
    return result("large_tensors", op, *inputs, **options)


def test_only_where_it_is_named():
    report = opcheck.check(lower, normal(4), fast=True)
    assert "large_tensors" not in [one.check for one in report.results]


@pytest.mark.parametrize(
    ("op", "expected", "seen"),
    [
        (forgets_what_is_beyond, "that follows from fewer elements", "[4194304]"),
        (zeros_at_the_end_of_much, "that it has behind fewer zeros", "instead of"),
        (rounds_the_place_of_the_largest, "that it has behind fewer", "instead of"),
    ],
)
def test_what_is_wrong_with_many_elements(op, expected, seen):
    found = check(op, np.int8([1, 3, 2]))
    assert found.verdict == "fail"
    assert "elements in x, zeros before the sample" in found.detail
    assert expected in found.expected
    assert seen in found.seen
    assert 'checks="large_tensors"' in found.line


@pytest.mark.parametrize(
    ("op", "inputs", "options", "verdict", "detail"),
    [
        (lower, [normal(3)], {"memory": 1 << 28}, "note", "up to 2**25 elements in x"),
        (refuses_much, [normal(3)], {}, "note", "it refuses more, ValueError: x has"),
        (takes_four, [normal(4)], {}, "skip", "it takes no zeros before the sample"),
        (lower, [np.float32(1)], {}, "skip", "no input holds numbers, in one dimen"),
    ],
)
def test_what_it_does_not_try(op, inputs, options, verdict, detail):
    found = check(op, *inputs, **options)
    assert found.verdict == verdict
    assert detail in found.detail


@pytest.mark.slow
def test_as_many_as_32_bits_do_not_count():
    found = check(largest, np.int8([[1, 0, 2]]))
    assert (found.verdict, found.detail) == ("pass", "2**31 elements in x")


@pytest.mark.slow
@pytest.mark.parametrize(("op", "verdict"), [("", "pass"), ("broken_", "fail")])
def test_an_index_of_32_bits(broken_ops, op, verdict):
    name = f"{op}each_nth{'_int_index' * bool(op)}"
    sample = np.arange(3000, dtype=np.float32)
    found = check(getattr(broken_ops, name), sample, step=1000)
    assert found.verdict == verdict
    if op:
        assert "SIGSEGV" in found.seen
