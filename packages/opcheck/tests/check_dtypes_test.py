"""The check `dtypes`."""

import numpy as np
import pytest
import tensorflow as tf
from broken_twins import caught
from python_ops import adds_a_random_constant, normal, result

import opcheck
from opcheck.checks import dtypes, numbers
from opcheck.findings.report import Findings
from opcheck.subject import Description, Subject

# The broken ops that it must find, and words of the explanation.
CAUGHT = {
    "row_sum_single_precision": "float64",
    "row_sum_copied_line": "int64",
    "row_sum_no_kernel": "missing REGISTER_KERNEL_BUILDER",
}
test_a_broken_op_is_caught = caught("dtypes", CAUGHT)
TABLE = normal(9, 2)


@pytest.mark.parametrize("wide", [False, True])
def test_squares_that_float16_does_not_hold(wide):
    def magnitude(x):
        kept = tf.cast(x, tf.float32) if wide and x.dtype == tf.float16 else x
        return tf.cast(tf.sqrt(tf.raw_ops.Square(x=kept)), x.dtype)

    some = {"reference": np.abs, "op_types": ["Square"]}
    found = result("dtypes", magnitude, np.float32([3, 4]), **some)
    assert (found.verdict == "fail") != wide, found.explanation()
    assert wide or found.detail == "in float16, with numbers up to 300"


def test_long_sums_beside_a_mask_that_has_to_be_as_long():
    def masked_sum(x, mask):
        sums = tf.raw_ops.Cumsum(x=x, axis=1)
        return tf.where(mask, sums, tf.zeros_like(sums))[:, -1]

    def reference(x, mask):
        return np.where(mask, x, 0).sum(1)

    sample = np.ones([2, 6], np.float32), np.ones([2, 6], bool)
    options = {"op_types": ["Cumsum"], "reference": reference}
    found = result("dtypes", masked_sum, *sample, **options)
    assert "a sum in the dtype of the input" in found.cause, found.explanation()


def test_so_is_what_differs_only_when_it_is_called_again():
    np.random.seed(2)  # the first results happen to agree
    found = opcheck.check(
        adds_a_random_constant, normal(3), checks="dtypes", isolate=False
    )["dtypes"]
    assert "called again" in found.detail and "or chance" in found.cause


def test_a_kernel_for_all_dtypes_is_run_in_all():
    found = result("dtypes", lambda x: tf.raw_ops.ToBool(input=x), normal(2))
    for name in ("bfloat16", "complex128", "int8", "string", "uint64"):
        assert name in found.detail.split("; ")[0].split(" ", 1)[1]


@pytest.mark.parametrize(
    ("op", "reference", "told"),
    [
        (tf.math.abs, np.array, "in int8, with negative numbers in x"),
        (tf.math.abs, np.abs, ""),
        (lambda x: tf.gather(TABLE, tf.maximum(x, 0)), lambda x: TABLE[x], ""),
    ],
    ids=["other", "equal", "places"],
)
def test_integers_are_negative_too(op, reference, told):
    """But where the reference finds a place from the end."""
    found = result("dtypes", op, np.int32([1, 0, 2]), reference=reference)
    assert (found.verdict == "fail") == bool(told), found.explanation()
    assert found.detail.startswith(told)


WEIGHTS = np.int64([299_000, 587_000, 114_000])


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("computed_in", [tf.int32, tf.int64])
def test_integers_are_as_large_as_they_can_be(computed_in, dtype):
    def luminance(image):
        weighted = tf.cast(image, computed_in) * tf.cast(WEIGHTS, computed_in)
        return tf.cast(tf.reduce_sum(weighted, -1) // 1_000_000, image.dtype)

    def reference(image):
        return (image.astype(np.int64) @ WEIGHTS // 1_000_000).astype(image.dtype)

    image = np.array([[10, 20, 30], [0, 90, 5]], dtype)
    subject = Subject(luminance, [image], {}, reference=reference)
    found = Findings("dtypes", "")
    dtypes._full_range(subject, dtype.__name__, [image], [True], {}, found)
    overflows = computed_in == tf.int32 and dtype == np.uint16
    assert [one.detail for one in found.failures] == overflows * [
        "in uint16, with image times 728"
    ]


def adds_at_most(x, most, whole=False, last=None, dtype=None):
    """It holds the sum in the dtype of x, and refuses what does not fit into it, or another last element or dtype."""
    told = ""
    if dtype is not None and x.dtype != dtype:
        told = f"it is not of {dtype}"
    elif tf.executing_eagerly():
        told = "it does not fit" if whole and most > x.dtype.max else told
        told = f"the end is not {last}" if last not in (None, x[-1]) else told
    if told:
        raise tf.errors.InvalidArgumentError(None, None, told)
    total = tf.cast(x, tf.int64) + tf.cast(most, tf.int64)
    return tf.saturate_cast(total, x.dtype)


@pytest.mark.parametrize(
    ("name", "attrs", "known", "told"),
    [
        ("int8", {"whole": True}, True, ""),
        ("int16", {"last": 240}, True, ""),
        ("int8", {"dtype": "int32"}, False, "refuses the sample"),
        ("int8", {}, True, ""),
        ("int8", {"dtype": "int32"}, True, "it is not of int32"),
    ],
    ids=["the other input", "small numbers", "reference", "sum", "no kernel"],
)
def test_a_dtype_is_not_blamed_for_numbers_that_it_does_not_hold(
    monkeypatch, name, attrs, known, told
):
    def reference(x, most, **_):
        if not known and x.dtype != np.int32:
            raise ValueError("x is int32")
        return x.astype(np.int64) + most

    monkeypatch.setattr(dtypes, "is_builtin", lambda name: False)
    sample = [np.int32([0, 120, 240]), np.int32(300)]
    subject = Subject(adds_at_most, sample, attrs, reference=reference)
    subject.described_as(Description(["Op"], [["x"], ["most"]], ["T", ""], {}))
    found = Findings("dtypes", "")
    seen = [dtypes._run_dtype(subject, "T", name, found)]
    seen += [one.seen for one in found.failures]
    assert bool(told) == any(seen) and told in " ".join(seen), seen


def test_a_list_of_dtypes_is_reported():
    def op(x):
        return tf.raw_ops.IdentityN(input=[x, x])

    found = result("dtypes", op, normal(2), op_types=["IdentityN"])
    assert "attr T of IdentityN is a list of dtypes" in found.detail


def test_averages_of_integers_need_not_be_the_reference_s_fractions():
    x = np.float32([[1, 2], [2, 2]])
    found = result("dtypes", tf.reduce_mean, x, reference=np.mean)
    assert found.verdict == "note", found.explanation()
    assert "int32 ran, not compared: the reference has fractions" in found.detail


def test_numbers_may_be_places_for_the_reference_and_bools_for_the_op():
    sample = normal(4, 2), np.array([True, False, True, True])
    found = result(
        "dtypes", tf.boolean_mask, *sample, reference=lambda x, mask: x[mask]
    )
    assert found.verdict == "note", found.explanation()
    assert "int8 ran as bool; the reference takes" in found.detail


def test_a_dtype_is_tried_once_for_all_ops_with_such_an_attr():
    def op(x):
        calls.append(x.dtype)
        return tf.abs(tf.negative(tf.square(x)))

    calls, counts = [], []
    for op_types in (["Square"], ["Abs", "Neg", "Square"]):
        calls.clear()
        result("dtypes", op, normal(2), op_types=op_types)
        counts.append(calls.count(tf.float64))
    assert 0 < counts[0] == counts[1]


def order(x):
    """Of integers in double."""
    return tf.argsort(tf.cast(x, tf.float64), stable=True)


def order_of_exact(x):
    return tf.argsort(x, stable=True)


def places(x):
    return np.argsort(x, kind="stable").astype(np.int32)


def squared(x):
    return tf.cast(x, tf.float64) ** 2 % 7


def squared_exactly(x):
    return (x * (x % 7) % 7).astype(np.float64)


def place(x):
    """As a float, and of double."""
    return tf.cast(order(x), tf.float64)


def place_of_exact(x):
    return places(x).astype(np.float64)


def places_of_doubles(x):
    return places(x.astype(np.float64))


@pytest.mark.parametrize("x", [np.float32([3, 2, 1]), np.int64([3, 2, 1])])
@pytest.mark.parametrize(
    ("op", "reference", "told"),
    [
        (order, places, True),
        (place, place_of_exact, True),
        (squared, squared_exactly, False),  # as floats are
        (order_of_exact, places, False),
        (order_of_exact, places_of_doubles, False),  # of which nothing is known
    ],
)
def test_large_integers_that_differ_by_one(op, reference, told, x):
    """Also where the sample has none, in another dtype."""
    subject = Subject(op, [x], {}, reference=reference)
    found = Findings("dtypes", "")
    numbers.neighbors(subject, found, "in int64, with ", [x.astype(np.int64)])
    assert bool(found.failures) == told
    if told:
        assert "converted to float64" in found.failures[0].cause


def test_the_order_of_large_integers_is_compared():
    found = result("reference", order, np.int64([3, 2, 1]), reference=places)
    assert found.detail == "with x from 2**53 on, one apart", found.explanation()
    some = {"reference": places, "op_types": ["Cast"]}
    found = result("dtypes", order, np.float32([3, 2, 1]), **some)
    assert found.detail == "in int64, with x from 2**53 on, one apart"
