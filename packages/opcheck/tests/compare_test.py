"""Comparing values, and what an error mentions."""

import re

import numpy as np
import pytest
import tensorflow as tf
from python_ops import strings

from opcheck.findings.compare import difference, mentions, observed


@pytest.mark.parametrize(
    ("expected", "seen", "pattern"),
    [
        (np.float32([np.nan, 1]), np.float32([np.nan, 1]), "^$"),
        (
            np.float32([np.inf]),
            np.float32([-np.inf]),
            r"output\[0\] is -inf instead of inf",
        ),
        (np.float32([1]), np.float32([1 + 1e-6]), "^$"),
        (np.float32([1]), np.float32([1 + 1e-4]), "1 of 1 elements differ"),
        (
            np.int64([1 << 60]),
            np.int64([(1 << 60) + 1]),
            "instead of 1152921504606846976",
        ),
        (
            np.float64([1795269600.123]),
            np.float64([1795269600.456]),
            "is 1795269600.456 instead of 1795269600.123 ",
        ),
        (np.float32([6e37, -6e37]), np.float32([np.inf, -np.inf]), "^$"),
        (np.float32([6e37]), np.float32([-np.inf]), "-inf instead of"),
        (np.float32([6e35]), np.float32([np.inf]), "is inf instead of"),
        (np.float32([1]), np.float64([1]), "dtype float64 instead of float32"),
        (np.zeros([2, 0]), np.zeros([0, 2]), r"shape \[0, 2\] instead of \[2, 0\]"),
        (strings(b"a"), strings(b"b"), "b'b' instead of b'a'"),
        (np.complex64([1j]), np.complex64([2j]), "2j instead of"),
        (
            np.complex64([complex(np.inf, 1)]),
            np.complex64([complex(np.inf, 1 + 1e-6)]),
            "^$",
        ),
        (
            np.complex64([complex(np.inf, 1)]),
            np.complex64([complex(np.inf, 2)]),
            r"inf\+2j\) instead of \(inf\+1j",
        ),
    ],
)
def test_difference(expected, seen, pattern):
    assert re.search(pattern, difference([expected], [seen]))


def test_difference_of_bits():
    zeros = np.float32([0.0]), np.float32([-0.0])
    assert not difference(zeros[:1], zeros[1:])
    assert difference(zeros[:1], zeros[1:], exact=True)
    nans = (np.uint32([bits]).view(np.float32) for bits in (0x7FC00000, 0x7FC00001))
    seen = difference(*([x] for x in nans), exact=True)
    assert "is nan (0x7fc00001) instead of nan (0x7fc00000) " in seen


@pytest.mark.parametrize(
    "dtype", [np.float32, np.complex64, tf.bfloat16.as_numpy_dtype]
)
def test_the_sign_of_nan_is_no_difference_of_bits(dtype):
    nans = [np.array([np.nan, one], dtype) for one in (0.0, 0.0, -0.0)]
    nans[1][:1] = np.copysign(np.float32(np.nan), np.float32(-1))
    assert nans[0].tobytes() != nans[1].tobytes()
    assert not difference(nans[:1], nans[1:2], exact=True)
    assert difference(nans[:1], nans[2:], exact=True)


def test_difference_of_outputs():
    assert difference([], [np.float32([0])]) == "1 outputs instead of 0"


def test_difference_by_the_tolerance_of_bfloat16():
    bfloat16 = tf.bfloat16.as_numpy_dtype
    assert not difference([np.ones(2, bfloat16)], [np.array([1, 1.01], bfloat16)])
    assert difference([np.ones(2, bfloat16)], [np.array([1, 1.5], bfloat16)])


def test_a_name_counts_as_a_word():
    message = (
        "InvalidArgumentError: {{function_node x}} a value of rows is wrong [Op:X]"
    )
    assert mentions(message, ["rows"])
    assert mentions(message, ["b", "a"])
    assert not mentions(message, ["x"])
    assert not mentions(message, ["ro"])
    assert mentions("InvalidArgumentError: count -1 is negative", ["counts"])
    assert mentions("InvalidArgumentError: id 3 is not in [0, 3)", ["ids"])
    assert mentions("InvalidArgumentError: index 3 not in [0, 3)", ["indices"])
    assert not mentions("InvalidArgumentError: the width is 3", ["ids"])
    for told in ("the row ids are not sorted", "row-id 3 is negative", "no row_ids"):
        assert mentions(f"InvalidArgumentError: {told}", ["row_ids"])
    assert not mentions("InvalidArgumentError: the row of ids", ["row_ids"])


def test_quantized_integers_are_integers():
    quantized = np.arange(3, dtype=np.uint8).view(tf.quint8.as_numpy_dtype)
    assert not difference([np.uint8([0, 1, 2])], [quantized], strict=False)
    assert difference([np.uint8([0, 1, 3])], [quantized], strict=False)


SQUARES = np.arange(1, 49, dtype=np.float32).reshape(6, 8) ** 2
FROM_1_TO_2 = np.float32([1, 1.004, 1.005, 1, 1, 1, 1, 1])


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda y: y * 3, "it is 3 times what is right wherever it is wrong"),
        (lambda y: y + 2, "it is +2 away from what is right wherever it is wrong"),
        (
            lambda y: np.where(y > 1600, y**1.5, y),
            "only at index 5, the last, of 6 places of dimension 0",
        ),
        (
            lambda y: y * np.repeat([1, 1.5, 1.2], [6, 1, 1]),
            "only from 6 on, of 8 places of dimension 1",
        ),
        (lambda y: np.where(y > 20, np.nan, y), "it is NaN where a number is right"),
        (lambda y: y * FROM_1_TO_2, "only from 1 to 2, of 8 places"),
        (lambda y: y * [1.1, 1, 1, 2, 1, 1, 1, 1], ""),
        (lambda y: y**1.5 + 1, ""),
    ],
)
def test_what_is_common_to_wrong_elements_is_told(change, told):
    seen = change(SQUARES).astype(np.float32)
    assert observed([SQUARES], [SQUARES]) == ""
    found = observed([SQUARES], [seen])
    assert told in found and bool(told) == bool(found)


def test_of_few_places_some_are_wrong_by_chance():
    wanted = np.float32([1, 2, 4])
    assert observed([wanted], [wanted**1.5 * [2, 1, 1] - [1, 0, 0]]) == ""


def test_nan_spreads_only_from_an_input():
    wanted, seen = [np.float32([1, 2])], [np.float32([1, np.nan])]
    texts = np.array([b"nan"], object)
    of_nan = observed(wanted, seen, inputs=[texts, np.float32([np.nan, 1])])
    assert of_nan.startswith("NaN spreads")
    made = observed(wanted, seen, inputs=[texts, np.float32([0, 1])])
    assert "0 / 0" in made and "spreads" not in made


def test_a_lost_nan_and_an_overflow_are_told():
    lost = observed([np.float32([np.nan, 1])], [np.float32([2, 1])])
    assert lost.startswith("NaN is lost")
    wanted = np.int64([1 << 33, 5])
    assert "2**32" in observed([wanted], [wanted.astype(np.int32).astype(np.int64)])
