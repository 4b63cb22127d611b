"""The check `reference`."""

import datetime
import os
import re

import forked
import numpy as np
import pytest
import tensorflow as tf
from broken_twins import caught
from python_ops import adds_one, counts_calls, normal, result, strings

import opcheck
from opcheck.checks.numbers import nearly_equal
from opcheck.findings.report import Findings
from opcheck.fuzzing import fuzz
from opcheck.strategies import calls, st, tensors
from opcheck.subject import Subject

# The broken ops that it must find, and words of the explanation.
CAUGHT = {
    "row_sum_tail": "the sample call",
    "floor_mean_truncates": "-3 instead of -4",
    "bin_max_empty_bins": "not written",
    "distinct_count_bits": "0.0 and -0.0",
    "rank_order_unstable": "std::stable_sort",
    "log_of_one_and_tiny": "log1p",
}
test_a_broken_op_is_caught = caught("reference", CAUGHT)
TABLE = normal(9, 2)


def test_the_reference_is_asked_in_the_process_of_the_caller():
    asked = []

    def reference(x):
        asked.append(os.getpid())
        return x + 2

    assert result("reference", adds_one, normal(3), reference=reference).seen
    assert set(asked) == {os.getpid()}


def test_tolerances_are_the_caller_s():
    def reference(x):
        return (x + 1) * np.float32(1.001)

    for tolerances, verdict in [({}, "fail"), ({"float32": 1e-2}, "pass")]:
        options = {"reference": reference, "tolerances": tolerances}
        assert result("reference", adds_one, normal(3), **options).verdict == verdict


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_a_special_value_that_is_passed_over_is_a_finding(special):
    def op(x):
        same = tf.math.is_nan(x) if np.isnan(special) else x == special
        return tf.where(same, tf.zeros_like(x), x)

    options = {"reference": lambda x: x}
    found = result("reference", op, normal(4), **options)
    assert f"with {special}".lower() in found.detail.lower()
    found = result("reference", op, normal(4), special_values=False, **options)
    assert found.verdict == "pass"


def test_a_wrong_default_is_told_from_a_wrong_value():
    def op(x, k=2.0):
        return x * k

    def other_default(x, k=3.0):
        return x * np.float32(k)

    options = {"op_types": ["Mul"], "k": 1.0}
    found = result("reference", op, normal(3), reference=other_default, **options)
    assert found.detail == "k left out" and "right for k=2.0" in found.cause


def is_odd_for_15(x):
    return x + 1 if 15 in x.shape else tf.identity(x)


def is_odd_for_odd_sizes(x):
    return counts_calls(counts_calls(x)) if tf.size(x) % 2 else tf.identity(x)


def test_other_sizes_than_the_sample_s_are_tried():
    for check in ("reference", "determinism"):
        found = result(check, is_odd_for_odd_sizes, normal(2, 4), reference=lambda x: x)
        assert "one row less in every dimension" in found.detail
    for shape, told in (
        ((16,), "rows"),
        ((2, 16), "columns"),
        ((2, 16, 2), "in dimension 1"),
    ):
        x = normal(*shape)
        found = result("reference", is_odd_for_15, x, reference=lambda x: x)
        assert found.detail.split("; ")[0] == f"with 15 instead of 16 {told}"


def numbered(a, b, size):
    return a.astype(np.int64) * size + b


def numbered_in_int32(a, b, size):
    return (a * np.int32(size) + b).astype(np.int64)


def pair_number(a, b, size, dtype=tf.int64):
    bound = tf.cast(size, a.dtype)
    if tf.executing_eagerly() and tf.reduce_any((b < 0) | (b >= bound)):
        raise tf.errors.InvalidArgumentError(None, None, f"b is not below size {size}")
    return tf.cast(
        tf.cast(a, dtype) * tf.cast(size, dtype) + tf.cast(b, dtype), tf.int64
    )


def pair_number_in_int32(a, b, size):
    return pair_number(a, b, size, tf.int32)


@pytest.mark.parametrize(
    ("op", "reference", "verdict"),
    [
        (pair_number, numbered, "pass"),
        (pair_number_in_int32, numbered, "fail"),
        (pair_number, numbered_in_int32, "pass"),
    ],
)
def test_integers_of_inputs_and_attrs_are_large_together(op, reference, verdict):
    """What the reference itself computes in 32 bits is nobody's fault."""
    pairs = np.int32([5, 300, 499]), np.int32([0, 700, 1199])
    options = {"reference": reference, "op_types": ["AddV2"], "size": 1200}
    found = result("reference", op, *pairs, **options)
    assert found.verdict == verdict, found.explanation()
    if verdict == "fail":
        large = (
            "times 64",
            "plus 2**24 + 1",
        )  # the first one takes time, of which a busy machine lacks
        assert any(one in found.detail for one in large)
        assert "overflows in int32" in found.cause


def windows(texts, width):
    counts = tf.strings.length(texts) - width + 1
    tf.debugging.assert_positive(counts, "width is too large")
    return counts + (width >= 16)  # as a mask of 2 * width bits in an int


def windows_by_python(texts, width):
    counts = np.int32([len(x) - width + 1 for x in texts])
    if (counts < 1).any():
        raise ValueError("width is too large")
    return counts


def test_texts_are_longer_where_an_attr_is_larger():
    some = strings(b"ACGTACGTA", b"TTGACC")
    options = {"reference": windows_by_python, "width": 3}
    found = result("reference", windows, some, **options)
    assert found.detail == "with width, texts times 16"


def crossings(x):
    return tf.math.count_nonzero(x[1:] * x[:-1] < 0)


def crossings_by_sign(x):
    return np.count_nonzero(np.sign(x[1:]) * np.sign(x[:-1]) < 0)


def crossings_of_signs(x):
    return crossings(tf.sign(x))


@pytest.mark.parametrize("op", [crossings, crossings_of_signs])
def test_numbers_whose_products_are_0(op):
    found = result("reference", op, normal(9), reference=crossings_by_sign)
    assert (found.verdict == "fail") == (op is crossings), found.explanation()
    assert op is crossings_of_signs or "product of tiny numbers" in found.cause


def normalized(x):
    total = x.sum()
    return x / total if total else np.zeros_like(x)


def standardized(x):
    return (x - x.mean()) / x.std()


def from_0_to_1(x):
    least, most = tf.reduce_min(x), tf.reduce_max(x)
    return (x - least) / (most - least)


def as_float32(x):
    return tf.cast(tf.cast(x, tf.float32), x.dtype)


UP = np.int32([1, 2, 30])
POSITIVE = abs(normal(2, 3)) + 1
OTHERS = {
    "x negated": (lambda x: tf.reduce_max(tf.maximum(x, 0)), np.max, POSITIVE),
    "x all below 0": (lambda x: tf.reduce_max(tf.maximum(x, 0)), np.max, normal(4)),
    "x all 0": (lambda x: x / tf.reduce_sum(x), normalized, POSITIVE),
    "x all equal": (from_0_to_1, lambda x: (x - x.min()) / (np.ptp(x) or 1), normal(4)),
    "x all 0 ": (lambda x: tf.maximum(x, 1), np.array, UP),
    "x minus 1": (tf.abs, np.array, np.int32([1, 0, 3])),
    "x plus 2**24 + 1": (as_float32, np.array, UP),
    "x, last first": (lambda x: x[-1], np.max, np.int32([2, 1, 5, 30])),
    "x negated, last first": (
        lambda x: tf.truncatemod(x, 7),
        lambda x: np.mod(x, 7),
        np.int64([19000, 19004, 20088]),
    ),
    "x times 2**20": (
        lambda x: tf.argmin(tf.minimum(tf.square(x), 1e10)),
        lambda x: np.argmin(np.square(x)),
        np.float32([4, 3, 1, 2]),
    ),
    "16 times along dimension 1": (
        lambda x: x + float(x.shape[1] > 40),
        np.array,
        normal(2, 3),
    ),
    "": (tf.nn.relu, lambda x: np.maximum(x, 0), normal(4)),
    "  ": (tf.argmax, lambda x: np.argmax(x, 0), normal(4)),
    "   ": (tf.sign, np.sign, normal(4)),
    "    ": (tf.math.log, np.log, POSITIVE),
    "     ": (
        lambda x: (x - tf.reduce_mean(x)) * tf.math.rsqrt(tf.math.reduce_variance(x)),
        standardized,
        np.float32([0.1, 0.7, 0.3]),
    ),
    "      ": (
        lambda x: tf.gather(TABLE, tf.maximum(x, 0)),
        lambda x: TABLE[x],
        UP % 5,
    ),
    "        ": (lambda x: tf.sin(360 * x), lambda x: np.sin(360 * x), normal(9)),
    "         ": (
        lambda x: tf.cast(x / 0.3, tf.int32),
        lambda x: (x / np.asarray(0.3, x.dtype)).astype(np.int32),
        normal(9),
    ),
    "       ": (
        lambda x: tf.math.bincount(x, minlength=4),
        lambda x: np.bincount(x, minlength=4),
        UP,
    ),
}


@pytest.mark.parametrize("told", OTHERS)
def test_other_numbers_are_compared(told):
    op, reference, x = OTHERS[told]
    found = result(
        "reference", op, x, reference=reference, special_values=False, isolate=False
    )
    details = [one.detail for one in (found, *found.others)]
    assert (found.verdict == "fail") == bool(told.strip()), found.explanation()
    assert any(told.strip() in one for one in details), details


def place_in_rows(rows, x):
    return np.int32([np.searchsorted(*both) for both in zip(rows, x)])


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_what_is_sorted_stays_so(dtype):
    rows = np.array([[1, 4, 9, 12], [3, 5, 8, 20]], dtype)
    x = np.array([[5, 7, 30], [4, 6, 7]], dtype)
    found = result(
        "reference",
        tf.searchsorted,
        rows,
        x,
        reference=place_in_rows,
        special_values=False,
    )
    assert found.verdict == "pass", found.explanation()


def test_the_reference_is_not_asked_for_many_sizes_that_the_op_refuses():
    asked = []

    def reference(x, multiples):
        asked.append(len(multiples))
        return np.tile(x, multiples)

    inputs = normal(2, 3), np.int32([2, 3])
    found = result("reference", tf.tile, *inputs, reference=reference)
    assert found.verdict == "pass", found.explanation()
    assert max(asked) == 2


@pytest.mark.parametrize("function", [np.positive, np.sin])
def test_large_integers_need_not_be_exact_in_floats(function):
    def op(x):
        return (tf.sin if function is np.sin else tf.identity)(tf.cast(x, tf.float32))

    def reference(x):
        return function(x.astype(np.float64))

    some = np.int32([1, 2, 30])
    assert result("reference", op, some, reference=reference).verdict == "pass"


def test_what_is_not_written_is_no_other_default(broken_ops):
    def bin_max(values, bins, num_bins=40):
        return broken_ops.broken_bin_max_empty_bins(values, bins, num_bins=num_bins)

    def reference(values, bins, num_bins=40):
        return broken_ops.bin_max_reference(values, bins, num_bins)

    given = {"num_bins": 1, "reference": reference}
    found = result("reference", bin_max, normal(2), np.int32([0, 0]), **given)
    assert found.detail == "num_bins left out"
    assert "outputs that are not written" in found.cause


@pytest.mark.parametrize("wrong_steps", [range(4, 12), ()])
def test_sizes_and_attrs_are_drawn_together(wrong_steps):
    def each_nth(x, step):
        whole = x[: len(x) // step * step] if step in wrong_steps else x
        return whole[::step]

    options = {"step": 3, "op_types": ["StridedSlice"]}
    options["reference"] = lambda x, step: x[::step]
    found = result("reference", each_nth, np.arange(12.0), **options)
    if not wrong_steps:
        assert found.verdict == "pass", found.explanation()
        return
    assert found.verdict == "fail"
    assert re.search(r"with step = ([4-9]|1[01])\b", found.detail)


def test_drawn_calls_are_of_other_dtypes_too():
    def op(x):
        odd = x.dtype == tf.float64 and x.shape[0] % 2 == 1
        return tf.raw_ops.Square(x=x) + tf.constant(odd, x.dtype)

    found = result("reference", op, normal(4), reference=np.square, op_types=["Square"])
    assert "x in float64, x of shape" in found.detail, found.explanation()
    assert "float64" in found.line


def first_texts(x):
    return np.array([one[:1] for one in x.reshape(-1)], object).reshape(x.shape)


def test_drawn_texts_have_a_letter_between_equal_ones():
    def op(x):
        odd = tf.strings.regex_full_match(x, "(?s).*r[a-zA-Z]r.*")
        return tf.where(odd, "", tf.strings.substr(x, 0, 1))

    found = result("reference", op, strings(b"array", b"row"), reference=first_texts)
    assert "is b'' instead of b'" in found.seen, found.explanation()


def test_lists_of_other_dtypes_are_drawn():
    def op(xs):
        return tf.raw_ops.IdentityN(input=xs)

    lists = [np.int64([1, 2]), np.float32([1, 2]), np.array([b"a", b"b"], object)]
    found = result("reference", op, lists, reference=list, op_types=["IdentityN"])
    assert found.verdict == "pass", found.explanation()


@pytest.mark.parametrize(
    "x",
    [
        np.uint64([2**64 - 1, 7]),
        np.int8([127, -128]),
        np.float32([]),
        # Of columns that have nothing in common.
        np.float32([[np.inf, 1], [np.inf, 2]]),
        np.float64([[1e308, 1], [1e308, 2]]),
        np.uint8([[200, 1], [250, 2]]),
    ],
)
def test_drawn_numbers_fit_their_dtype(x):
    found = result("reference", lambda x: tf.concat([x, x], 0), x, reference=twice)
    assert found.verdict == "pass", found.explanation()


def twice(x):
    return np.concatenate([x, x])


def mean_of_finite(x):
    return np.mean(np.where(np.isnan(x), 0, x), -1) if x.size else x.sum(-1)


def test_a_drawn_call_does_not_stand_before_nan():
    def mean_of_some(x):
        return tf.reduce_mean(x, -1) + tf.cast(tf.shape(x)[0] == 5, x.dtype)

    found = result("reference", mean_of_some, normal(3, 4), reference=mean_of_finite)
    assert found.detail.startswith("with NaN"), found.detail


def divided_by_the_first_size(x):
    """As if a kernel had kept it: the eager one has met four elements, that of a graph is new."""
    return x / (4 if tf.executing_eagerly() else tf.cast(tf.size(x), x.dtype))


def test_what_the_sample_call_leaves_behind_is_told_as_such():
    options = {"reference": lambda x: x / x.size}
    found = result("reference", divided_by_the_first_size, normal(4), **options)
    assert found.detail == "with 3 instead of 4 rows, after the sample call"
    assert "kept from one call" in found.cause


def times_the_first(x, factor):
    """As if a kernel had kept the factor of the sample call, which is 2; that of a graph is new."""
    return x * (2 if tf.executing_eagerly() else factor)


def test_another_number_shows_what_is_kept_from_the_sample_call():
    options = {"reference": lambda x, factor: x * factor}
    found = result("reference", times_the_first, normal(4), np.float32(2), **options)
    assert "in factor" in found.detail or "factor times" in found.detail
    assert "kept from one call" in found.cause, found.explanation()


def places_in_the_first(words, table):
    """As if a kernel had kept the table of the sample call; that of a graph is new."""
    kept = [b"dog", b"cat", b"fish"] if tf.executing_eagerly() else table
    return tf.argmax(tf.cast(words[:, tf.newaxis] == kept, tf.int32), -1)


def test_a_table_that_is_kept_from_the_sample_call_is_told_with_both_calls():
    def places(words, table):
        return np.argmax(words[:, np.newaxis] == table, -1)

    inputs = tf.constant([b"cat", b"dog"]), tf.constant([b"dog", b"cat", b"fish"])
    found = result("reference", places_in_the_first, *inputs, reference=places)
    assert "kept from one call" in found.cause, found.explanation()
    assert found.line.count("places_in_the_first(") == 2, found.line


def adds_some(x, others):
    return tf.add_n([x, *others])


def test_an_empty_list_is_a_list_of_no_tensors():
    report = opcheck.check(
        adds_some, normal(3), [], reference=lambda x, others: x + sum(others)
    )
    assert report.assert_ok()["reference"].verdict == "pass"
    lists = st.lists(tensors(shape=st.just((2,))), max_size=2)
    pairs = calls(tensors(shape=st.just((2,))), lists)
    fuzz(adds_some, pairs, examples=100, skip=["bad_input"]).assert_ok()


def soft_maximum(x):
    """It overflows."""
    return tf.math.log(1 + tf.exp(x))


def test_what_overflows_on_the_way_is_told_as_such():
    def reference(x):
        return np.logaddexp(x, np.zeros((), x.dtype))

    options = {"reference": reference, "special_values": False}
    found = result("reference", soft_maximum, normal(4), **options)
    assert "added to x" in found.detail and "overflow" in found.cause
    assert result("reference", tf.math.softplus, normal(4), **options).verdict == "pass"


def sums_so_far_in_blocks_of_1000(x):
    blocks = [x[..., i : i + 1000] for i in range(0, x.shape[-1], 1000)]
    return tf.concat([tf.cumsum(one, -1) for one in blocks], -1)


def sums_so_far(x):
    return np.cumsum(x, -1, x.dtype)


@pytest.mark.slow
def test_rows_are_made_long_and_shown_in_short():
    x = np.int32([[3, 1, 2]])
    found = result("reference", sums_so_far_in_blocks_of_1000, x, reference=sums_so_far)
    rows = "with rows of 1001 columns of the sample, and right with 1000"
    assert found.detail == rows
    assert "default_rng(0).integers(3, size=1001)" in found.line
    printed = forked.run(found.line)
    wanted = re.search(r"instead of (\d+)", found.seen).group(1)
    assert f"expected output[0, 1000]: {wanted}" in printed.stdout


def sums_of_bytes(texts, dtype=tf.int64):
    return tf.map_fn(
        lambda text: tf.reduce_sum(tf.cast(tf.io.decode_raw(text, tf.uint8), dtype)),
        texts,
        fn_output_signature=dtype,
    )


@pytest.mark.parametrize("dtype", [tf.int64, tf.uint16])
def test_texts_are_made_long_and_shown_in_short(dtype):
    def op(texts):
        return tf.cast(sums_of_bytes(texts, dtype), tf.int64)

    def reference(texts):
        return np.array([sum(text) for text in texts])

    found = result("reference", op, strings(b"ab", b""), reference=reference)
    assert (found.verdict == "fail") == (dtype == tf.uint16), found.explanation()
    if dtype == tf.uint16:
        assert found.detail == "with b'\\xff' * 512 in texts"
        assert r'b"\xff" * 512' in found.line


def test_nan_far_from_zero_is_no_difference_of_large_numbers():
    def op(x):
        return x + 0 * tf.acos(x / 10)

    found = result("reference", op, normal(4), reference=lambda x: x)
    assert "added to x" in found.detail, found.explanation()
    assert found.cause.startswith("it is NaN where a number is right")


def by_a_step(x, step):
    return tf.sign(x) * tf.floor(tf.abs(x / step) + 0.5)  # ties away from 0


@pytest.mark.parametrize("op", [by_a_step, lambda x, step: tf.round(x / step)])
def test_numbers_halfway_between_two_are_drawn(op):
    some = np.float32([0.3, -1.2, 7.1, 2.6, -3.3]), np.float32(0.3)
    found = result("reference", op, *some, reference=lambda x, step: np.rint(x / step))
    assert (found.verdict == "fail") == (op is by_a_step), found.explanation()


def plus_1_beside_3_and_2(x):
    pairs = (x[..., :-1] == 3) & (x[..., 1:] == 2)
    return x + tf.cast(tf.reduce_any(pairs, -1, keepdims=True), x.dtype)


def test_columns_are_not_counted_where_it_is_the_values_that_decide():
    x = np.int32([[3, 1, 2, 4]])
    found = result("reference", plus_1_beside_3_and_2, x, reference=np.copy)
    told = [one.detail for one in (found, *found.others)]
    rows = [one for one in told if "columns of the sample" in one]
    assert rows and "right with" not in rows[0], told


def but_where_a_length_is_0(lengths, hops):
    return tf.where(lengths == 0, -1, lengths * hops)


def test_a_zero_is_drawn_among_integers_that_bound_others():
    some = np.int32([8, 16]), np.int32([1, 2])
    found = result("reference", but_where_a_length_is_0, *some, reference=np.multiply)
    assert found.verdict == "fail"


def scores_by_numpy(rows):
    least, most = np.int32([100, 1, 40]), np.int32([9999, 12, 60])
    if ((rows < least) | (rows > most)).any():
        raise ValueError("a year is 100 to 9999, a month 1 to 12, a week 40 to 60")
    return rows.sum(1, dtype=rows.dtype)


def scores_since_1000(rows):
    """An op that is wrong for what is long ago."""
    long_ago = tf.cast(rows[:, 0] < 1000, rows.dtype)
    return tf.numpy_function(scores_by_numpy, [rows], rows.dtype) + long_ago


def test_one_column_of_integers_is_drawn_far_away():
    some = np.int32([[1999, 12, 41], [2024, 2, 45], [2010, 7, 42]])
    found = result("reference", scores_since_1000, some, reference=scores_by_numpy)
    assert found.verdict == "fail" and "instead of" in found.seen


def places_by_numpy(places):
    if (np.abs(places) > [90, 180]).any():
        raise ValueError("latitudes are up to 90, longitudes up to 180")
    apart = np.abs(np.diff(places[:, 1]))
    return np.minimum(apart, 360 - apart)


def degrees_apart(places):
    """An op that takes the long way around the earth, where the short one is over the date line."""
    return tf.abs(places[1:, 1] - places[:-1, 1])


def test_one_column_of_floats_is_drawn_far_away():
    some = np.float32([[48.1, 11.6], [50.1, 14.4], [52.5, 13.4]])
    found = result("reference", degrees_apart, some, reference=places_by_numpy)
    assert found.verdict == "fail" and "instead of" in found.seen


def days_by_numpy(years, months):
    if ((months < 1) | (months > 12)).any():
        raise ValueError("months are 1 to 12")
    leap = (years % 4 == 0) & ((years % 100 != 0) | (years % 400 == 0))
    return 30 + (months + months // 8) % 2 - (months == 2) * (2 - leap)


def of_months(months, february):
    known = (1 <= months) & (months <= 12)
    tf.debugging.Assert(tf.reduce_all(known), ["months are 1 to 12"])
    return 30 + (months + months // 8) % 2 - february


def days(years, months):
    leap = (years % 4 == 0) & ((years % 100 != 0) | (years % 400 == 0))
    return of_months(months, tf.where(months == 2, 2 - tf.cast(leap, years.dtype), 0))


def days_with_1900(years, months):
    fourth = tf.cast(years % 4 == 0, years.dtype)
    return of_months(months, tf.where(months == 2, 2 - fourth, 0))


def priced_by_numpy(weights):
    return np.where(weights <= np.float32(31.5), np.float32(4.9), weights)


def priced(weights):
    return tf.where(weights <= 31.5, 4.9, weights)


def priced_below(weights):
    return tf.where(weights < 31.5, 4.9, weights)


def known_by_numpy(words):
    return np.array([word in (b"nan", b"none") for word in words])


def known(words):
    return (words == "nan") | (words == "none")


def known_nan(words):
    return words == "nan"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("correct", "wrong", "reference", "inputs"),
    [
        (days, days_with_1900, days_by_numpy, ([2023, 2024, 2021], [1, 2, 12])),
        (priced, priced_below, priced_by_numpy, (np.float32([20, 35, 3]),)),
        (known, known_nan, known_by_numpy, (strings("a", "nan", "b"),)),
    ],
)
def test_drawn_calls_meet_the_constants_of_the_reference(
    correct, wrong, reference, inputs
):
    inputs = [np.int32(x) if isinstance(x, list) else x for x in inputs]
    for op, verdict in [(correct, "pass"), (wrong, "fail")]:
        found = result("reference", op, *inputs, reference=reference)
        assert found.verdict == verdict, found.explanation()


def running_sums_over_rows(x):
    return tf.reshape(tf.cumsum(tf.reshape(x, [-1])), tf.shape(x))


def test_a_second_row_in_one_dimension_more_is_compared():
    def sums(x):
        return np.cumsum(x, -1)

    for op, verdict in [
        (running_sums_over_rows, "fail"),
        (lambda x: tf.cumsum(x, -1), "pass"),
    ]:
        found = result("reference", op, normal(5), reference=sums)
        assert found.verdict == verdict
    found = result("reference", running_sums_over_rows, normal(5), reference=sums)
    assert "x twice, in one dimension more" in found.detail


def first_of_rows_of_a_matrix(x):
    """Multiplies by 0 what does not count, and ends the process if the rank is another one."""
    if len(x.shape) != 2:
        os.abort()
    return tf.reduce_sum(x * tf.one_hot(0, x.shape[1]), 1)


def test_nan_is_tried_before_another_rank_may_end_the_process():
    some = "reference", first_of_rows_of_a_matrix, normal(3, 4)
    found = result(*some, reference=lambda x: x[:, 0])
    assert found.verdict == "fail" and "NaN" in found.detail
    assert found.cause.startswith("NaN spreads")


def mean_of_largest(x, k):
    if not 1 <= k <= x.shape[-1]:
        raise ValueError("k is 1 to the length of the last axis")
    return np.sort(x, -1)[..., x.shape[-1] - k :].mean(-1)


def mean_of_largest_up_to(most):
    def op(x, k):
        tf.debugging.assert_less_equal(k, x.shape[-1] + most, "k is too large")
        tf.debugging.assert_positive(k, "k is too small")
        return tf.reduce_mean(tf.math.top_k(x, k)[0], -1)

    return op


def test_the_last_number_that_the_reference_accepts_is_accepted():
    for most, verdict in [(0, "pass"), (-1, "fail"), (-2, "pass")]:
        op, options = mean_of_largest_up_to(most), {"reference": mean_of_largest}
        found = result("reference", op, normal(2, 4), attrs={"k": 2}, **options)
        assert found.verdict == verdict, found.explanation()
    found = result(
        "reference",
        mean_of_largest_up_to(-1),
        normal(2, 4),
        attrs={"k": 2},
        reference=mean_of_largest,
    )
    assert found.detail == "k = 4"
    assert "raises ValueError for 5" in found.expected


def taken_by_numpy(x, places):
    if (places < 0).any() or (places >= len(x)).any():
        raise ValueError("a place is none of x")
    return x[places]


def taken(x, places):
    return tf.gather(x, places)


def taken_but_for_the_last(x, places):
    tf.debugging.assert_less(places, tf.shape(x)[0] - 1, "places are too large")
    return tf.gather(x, places)


def test_the_last_place_is_accepted():
    some = normal(5), np.int32([1, 0, 2])
    for op, verdict in [(taken, "pass"), (taken_but_for_the_last, "fail")]:
        found = result("reference", op, *some, reference=taken_by_numpy)
        assert found.verdict == verdict, found.explanation()


def less_the_mean(x):
    return x - x.mean((1, 2), keepdims=True)


def less_the_mean_of_the_first(x):
    x = tf.ensure_shape(x, [None, None, None])
    return x - tf.reduce_mean(x[:1], [1, 2], keepdims=True)


def test_a_batch_of_one_becomes_one_of_two():
    x = normal(1, 2, 3)
    found = result("reference", less_the_mean_of_the_first, x, reference=less_the_mean)
    assert found.detail == "x twice in dimension 0", found.explanation()


def summed(x, axis):
    before, size, *after = tf.split(tf.shape(x), [axis % x.shape.rank, 1, -1])
    stride = after[0][:1]  # and not the product of all of these
    rows = tf.reshape(x, tf.concat([[-1], size, stride], 0))
    return tf.reshape(tf.cumsum(rows, 1), tf.shape(x))


def summed_in_numpy(x, axis=0):
    return np.cumsum(x, axis)


def test_an_axis_has_several_dimensions_behind_it():
    some = normal(3, 4)
    found = result("reference", summed, some, axis=-1, reference=summed_in_numpy)
    told = "x twice, in one dimension more, with axis = 0"
    assert found.detail == told, found.explanation()
    found = result("reference", tf.cumsum, some, axis=-1, reference=summed_in_numpy)
    assert found.verdict == "pass", found.explanation()


def by_cosines(x, y, cosine, sine, arc_cosine):
    """Angles between points, of which each has a latitude and a longitude in radians."""
    (a, b), (c, d) = ((p[:, 0], p[:, 1]) for p in (x, y))
    return arc_cosine(sine(a) * sine(c) + cosine(a) * cosine(c) * cosine(b - d))


def angles(x, y):
    return by_cosines(x, y, tf.cos, tf.sin, tf.acos)


def angles_from_halves(x, y):
    half, cosines = tf.sin((x - y) / 2) ** 2, tf.cos(x[:, 0]) * tf.cos(y[:, 0])
    return 2 * tf.asin(tf.sqrt(half[:, 0] + cosines * half[:, 1]))


def angles_in_double(x, y):
    wide = x.astype(np.float64), y.astype(np.float64)
    return by_cosines(*wide, np.cos, np.sin, np.arccos)


@pytest.mark.parametrize(("op", "told"), [(angles, True), (angles_from_halves, False)])
def test_near_points_keep_their_digits(op, told):
    points = np.float32([[0.85, 0.04], [0.71, -1.3], [-0.6, 2.6]])
    others = np.float32([[0.9, 0.23], [0.6, 0.2], [0.62, 2.4]])
    subject = Subject(op, [points, others], {}, reference=angles_in_double)
    found = Findings("reference", "")
    nearly_equal(subject, found)
    assert bool(found.failures) == told
    if told:
        assert found.failures[0].detail == "with y equal to x but for 0.00024 of it"
        assert "acos" in found.failures[0].cause


def distances(x, y):
    return np.abs(x - y)


def at_least_a_tenth(x, y):
    return tf.maximum(tf.abs(x - y), 0.1 * tf.cast(tf.reduce_all(x == y), x.dtype))


def test_one_array_is_given_for_two_inputs():
    some = normal(3), normal(2, 3)[1]
    found = result("reference", at_least_a_tenth, *some, reference=distances)
    assert found.detail == "with y equal to x"


def length_in_threes(texts):
    if any(len(text) % 3 == 1 for text in texts):
        raise ValueError("texts has one letter more than a multiple of 3")
    return np.int32([len(text) for text in texts])


@pytest.mark.parametrize(("rest", "seen"), [(2, "b'ab' in texts"), (1, "")])
def test_beginnings_of_texts_are_accepted_as_by_the_reference(rest, seen):
    def op(texts):
        sizes = tf.strings.length(texts)
        tf.debugging.Assert(tf.reduce_all(sizes % 3 != rest), ["texts"])
        return sizes

    some = strings(b"abcabc", b"abc")
    found = result("reference", op, some, reference=length_in_threes)
    assert found.detail == seen or not seen and found.verdict == "pass"


def hexadecimal(texts):
    return np.int32([int(text, 16) for text in texts])


@pytest.mark.parametrize(("letters", "seen"), [("a-fA-F", ""), ("a-f", "b'A7'")])
def test_the_other_letter_case_is_accepted_as_by_the_reference(letters, seen):
    def op(texts):
        known = tf.strings.regex_full_match(texts, f"[0-9{letters}]+")
        tf.debugging.Assert(tf.reduce_all(known), ["texts"])
        return tf.numpy_function(hexadecimal, [texts], tf.int32, stateful=False)

    found = result("reference", op, strings(b"a7", b"0c"), reference=hexadecimal)
    assert (found.verdict == "fail") == bool(seen), found.explanation()
    assert seen in found.detail


def agreed(texts):
    return np.array([text.lower() == b"yes" for text in texts])


@pytest.mark.parametrize(
    ("change", "verdict"), [(tf.strings.lower, "pass"), (tf.identity, "fail")]
)
def test_words_are_drawn_in_the_other_case(change, verdict):
    def op(texts):
        return change(texts) == "yes"

    found = result("reference", op, strings(b"yes", b"no"), reference=agreed)
    assert found.verdict == verdict, found.explanation()


@pytest.mark.parametrize(
    ("more", "cause"),
    [(1, "one number too late"), (9, "Compute does not check for this")],
)
def test_the_first_number_that_the_reference_refuses_is_refused(more, cause):
    def op(x, places):
        beyond = tf.shape(x)[0] + more
        tf.debugging.assert_less(places, beyond, "places are too large")
        return tf.gather(tf.concat([x] * 3, 0), places)

    some = normal(5), np.int32([1, 0, 2])
    found = result("reference", op, *some, reference=taken_by_numpy)
    assert found.detail == "places.flat[0] = 5", found.explanation()
    assert cause in found.cause


def test_a_number_beyond_the_last_is_none_of_the_dtype():
    def reference(levels):
        if levels.max() == 255:
            raise ValueError("levels must be below 255")
        return levels

    found = result("reference", tf.identity, np.uint8([253, 7]), reference=reference)
    assert found.verdict == "fail", found.explanation() or found.detail
    assert "an error, as the reference raises" in found.expected


def test_a_single_text_is_not_turned():
    some = strings("abc")[0], np.float32([1, 2])
    found = result("reference", lambda _, x: x + 1, *some, reference=lambda _, x: x + 1)
    assert found.verdict == "pass", found.explanation()


def finds_in_32_bits(ids, keys):
    """As if a table had the keys of a C++ int."""
    cut = tf.bitcast(ids, tf.int32)[..., 0]
    return tf.argmax(cut[:, tf.newaxis] == tf.bitcast(keys, tf.int32)[..., 0], -1)


def test_an_int64_that_is_cut_to_32_bits_is_found():
    def places(ids, keys):
        return np.argmax(ids[:, np.newaxis] == keys, -1)

    ids, keys = np.int64([42, 7, 99]), np.int64([3, 42, 7])
    found = result("reference", finds_in_32_bits, ids, keys, reference=places)
    assert found.detail == "with 2**32 added to one element of ids"
    assert "cut to 32 bits" in found.cause


def month_of(date, rule):
    """The month in yyyymmdd; the rule says which century years are leap years."""
    year, month, day = date // 10000, date // 100 % 100, date % 100
    leap = (year % 4 == 0) & ((year % 100 != 0) | rule(year))
    lengths = tf.constant([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
    tf.debugging.assert_equal((date > 10000) & (month > 0) & (month < 13), True)
    most = tf.gather(lengths, month) + tf.cast(leap & (month == 2), tf.int32)
    tf.debugging.assert_equal((day > 0) & (day <= most), True)
    return tf.identity(month)


@pytest.mark.parametrize(
    ("rule", "shown"),
    [
        (lambda year: year % 400 < 0, "20000229"),
        (lambda year: year % 100 == 0, "19000229"),
        (lambda year: year % 400 == 0, ""),
    ],
)
def test_the_last_day_of_february_is_tried(rule, shown):
    def reference(dates):
        one = [datetime.date(x // 10000, x // 100 % 100, x % 100) for x in dates]
        return np.int32([x.month for x in one])

    def months(dates):
        return month_of(dates, rule)

    dates = np.int32([20230115, 20240229])
    found = result("reference", months, dates, reference=reference)
    assert shown in found.detail, found.explanation()
    assert shown or found.verdict == "pass", found.explanation()


def sign_of_determinant(x):
    return tf.linalg.slogdet(x)[0]


def test_whether_a_matrix_is_singular_is_not_asked():
    """Rounding decides it, here and in the reference."""
    x = np.float32([[[4, 1, 0], [1, 3, -1], [0, -1, 2]]])
    options = {"reference": lambda x: np.linalg.slogdet(x.astype(np.float64))[0]}
    found = result("reference", sign_of_determinant, x, special_values=False, **options)
    assert found.verdict == "pass", found.explanation()
