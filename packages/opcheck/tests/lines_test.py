"""The lines of findings: they make the call, and print what is wrong with it."""

import ctypes
import re

import numpy as np
import pytest
import tensorflow as tf
from python_ops import adds_hidden_noise, normal, printed, result, transposed

from opcheck.subject import (
    PAST_THE_END,
    UNREPEATED,
    UNWRITTEN,
    Subject,
    shown_by,
)


@tf.custom_gradient
def with_a_slope_of_3(x):
    return tf.identity(x), lambda grad: 3 * grad


@tf.custom_gradient
def with_a_wrong_second_order(x):
    @tf.custom_gradient
    def slope(x):
        return 2 * x, lambda grad: 5 * grad

    return x * x, lambda grad: grad * slope(x)


@tf.custom_gradient
def without_conj(z):
    return z * z, lambda grad: grad * 2 * z


@pytest.mark.parametrize(
    ("op", "x", "wanted"),
    [
        (with_a_slope_of_3, normal(2), "3 for x[0], and 1 by finite differences"),
        (with_a_slope_of_3, normal(80), "for x along random direction 0, and "),
        (with_a_wrong_second_order, normal(2), "for x[0], and"),
        (
            without_conj,
            np.complex64([1 + 2j, 3j]),
            "-4 for the real part of z[0], and 4 by finite differences\n",
        ),
    ],
)
def test_the_line_of_a_wrong_gradient_prints_both(op, x, wanted, capsys):
    found = result("gradient", op, x, op_types=["IdentityN"])
    shown = printed(found.line, capsys)
    assert wanted in shown
    numbers = found.seen.split()[0], found.expected.split()[0]
    assert re.match(r"(\S+) for .* and (\S+) by", shown).groups() == numbers


@tf.custom_gradient
def with_a_slope_of_another_shape(x):
    return tf.identity(x), lambda grad: tf.reduce_sum(grad)[None]


@tf.custom_gradient
def with_nan_at_zero(x):
    return 2 * x, lambda grad: 2 * grad * x / x


@pytest.mark.parametrize(
    ("op", "x", "wanted"),
    [
        (with_a_slope_of_another_shape, normal(1), "shape=(1,)"),
        (with_nan_at_zero, normal(2), "nan"),
    ],
)
def test_the_line_prints_a_gradient(op, x, wanted, capsys, monkeypatch):
    monkeypatch.setattr("opcheck.checks.gradient_calls.is_builtin", lambda name: False)
    found = result("gradient", op, x, op_types=["IdentityN"], isolate=False)
    assert wanted in printed(found.line, capsys)


@tf.custom_gradient
def with_a_slope_of_its_own_size(x, size):
    def gradient(grad):
        return tf.concat([grad, grad], 0)[: size[0]], None

    x.shape.assert_is_compatible_with([3])
    return tf.identity(x), gradient


def test_another_shape_of_a_gradient_is_not_always_broadcast(capsys):
    options = {"op_types": ["IdentityN"], "reference": lambda x, size: x}
    sample = normal(3), np.int32([3])
    found = result("gradient", with_a_slope_of_its_own_size, *sample, **options)
    assert found.seen == "shape (4,)" and found.cause == ""
    assert "shape=(4,)" in printed(found.line, capsys)


@tf.custom_gradient
def with_a_slope_by_rank(x):
    slope = 2.0 if x.shape.rank is None else 1.0
    return tf.identity(x), lambda grad: tf.cast(slope, grad.dtype) * grad


def test_the_line_of_a_gradient_in_a_graph_prints_both(capsys):
    found = result("gradient", with_a_slope_by_rank, normal(2), op_types=["IdentityN"])
    assert "inside tf.function with unknown rank" in found.detail
    shown = printed(found.line, capsys)
    numbers = [float(x) for x in re.findall(r"\[(\d\.\d+)", shown)]
    assert len(numbers) == 2 and numbers[0] == pytest.approx(2 * numbers[1])


def counts_in_graphs(x):
    """A kernel that counts its calls."""
    calls = []

    def run(x):
        calls.append(0)
        return x + np.float32(len(calls))

    return tf.numpy_function(run, [x], x.dtype, stateful=False)


def is_odd_in_doubles(x):
    return x + tf.cast(x.dtype == tf.float64, x.dtype)


def is_odd_without_sizes(x):
    return x + 1 if x.shape.rank and None in x.shape.as_list() else tf.identity(x)


def is_odd_without_a_rank(x):
    return x + 1 if x.shape.rank is None else tf.identity(x)


def is_odd_in_datasets(x):
    graph = getattr(tf.compat.v1.get_default_graph(), "name", "")
    return x + 1 if "Dataset" in graph else tf.identity(x)


@pytest.mark.parametrize(
    ("op", "words"),
    [
        (counts_in_graphs, "tf.function, the second call"),
        (is_odd_without_sizes, "unknown dimensions"),
        (is_odd_without_a_rank, "unknown rank"),
        (is_odd_in_datasets, "tf.data"),
    ],
)
def test_the_line_prints_what_a_graph_gives(op, words, capsys):
    found = result("eager_vs_graph", op, np.float32([10]))
    assert words in found.detail
    wanted = re.search(r"is (.+) instead of (.+) \(", found.seen).groups()
    shown = printed(found.line, capsys)
    assert all(f"[{number}.]" in shown for number in wanted), shown


kept = []


def keeps_what_it_takes(x):
    def run(x):
        kept.append(bytes(2000))
        return x

    return tf.numpy_function(run, [x], x.dtype)


def is_odd_for_xla(x):
    return x + tf.cast(tf.executing_eagerly(), x.dtype)


@pytest.mark.parametrize(
    ("check", "op", "wanted"),
    [
        ("static_shape", transposed, r"\(3, 3\) .* shape=\(2, 3\)"),
        ("xla", is_odd_for_xla, r"\[\[1\. .*\[\[0\. "),
        ("determinism", adds_hidden_noise, "call 2: the output.* of the first call"),
        ("concurrency", adds_hidden_noise, "call 2: the output.* of the first call"),
        ("vectorize", adds_hidden_noise, r"shape=\(3, 3, 2\).*\[<tf.Tensor"),
        ("leaks", keeps_what_it_takes, r"\(0, \d{4,}\) expected: as much allocated"),
    ],
)
def test_the_line_is_no_check_but_calls(check, op, wanted, capsys):
    found = result(check, op, np.zeros([3, 2], np.float32))
    assert found.verdict == "fail" and "opcheck.check(" not in found.line
    assert re.search(wanted, printed(found.line, capsys), re.DOTALL)


@pytest.mark.parametrize(
    ("cause", "mode"),
    [
        (UNREPEATED, "repeated"),
        (f"{UNREPEATED}; or threads", "repeated"),
        (UNWRITTEN, "guarded"),
        (PAST_THE_END, "guarded"),
        ("a factor", "eager"),
    ],
)
def test_the_cause_says_how_the_line_calls(cause, mode):
    assert shown_by(cause) == mode


def test_the_line_of_chance_in_one_dtype_compares_no_values(monkeypatch):
    monkeypatch.setattr(Subject, "repeats", lambda *_: False)
    monkeypatch.setattr(Subject, "unrepeated", lambda *_: UNREPEATED)
    found = result("dtypes", is_odd_in_doubles, normal(3), isolate=False)
    assert "repeated(is_odd_in_doubles" in found.line and "expected" not in found.line


def changes_its_input(x):
    if tf.executing_eagerly():
        address = np.frombuffer(x, np.float32).ctypes.data
        ctypes.c_float.from_address(address).value *= 0.5
    return tf.identity(x)


def test_what_changes_its_input_is_shown_by_the_same_input(capsys):
    found = result("determinism", changes_its_input, 1 + normal(3) ** 2)
    assert "call 2: the output[0] is " in printed(found.line, capsys)


def test_a_line_that_is_too_long_to_be_copied_is_the_check(monkeypatch):
    some = "eager_vs_graph", counts_in_graphs, normal(2)
    call = result(*some, fast=False).line
    assert "opcheck.check(" not in call
    monkeypatch.setattr("opcheck.run.LONGEST_LINE", len(call) - 1)
    assert "opcheck.check(" in result(*some, fast=False).line
