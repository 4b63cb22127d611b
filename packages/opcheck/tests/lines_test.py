"""The lines of findings: they make the call, and print what is wrong with it."""

import re

import numpy as np
import pytest
import tensorflow as tf
from python_ops import normal, result


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


def printed(text: str, capsys) -> str:
    exec(text, {})
    return capsys.readouterr().out


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
