"""The check `bad_input`."""

import ast
import os
import re
import time
from types import SimpleNamespace

import forked
import numpy as np
import pytest
import tensorflow as tf
from broken_twins import caught
from python_ops import (
    cut_at_nul,
    dies,
    dies_of_scalars,
    fills_memory,
    normal,
    raises_something_odd,
    result,
    strings,
)

import opcheck
from opcheck import strategies
from opcheck.checks import answers, refusals, robust
from opcheck.findings.report import NOT_ALONE, Findings
from opcheck.inputs.memory import left_behind
from opcheck.inputs.wrong import Case, other_lists, wrong_values
from opcheck.processes import calls
from opcheck.processes.pulse import Patience
from opcheck.subject import Subject

# The broken ops that it must find, and words of the explanation.
CAUGHT = {
    "reverse_last_rank_five": "rank",
    "take_rows_unchecked": "indices",
    "take_rows_unnamed": "value out of range",
    "take_rows_any_rank": "rows",
    "take_rows_out_of_range": "no more elements",
    "initials_bytes": "letters of several bytes",
    "nesting_recursive": "16 MB of '['",
    "group_max_sorted": "is at the end",
    "quotients_trap": "b all -1",
    "dequantized_signed": "starts with 255",
    "scale_rows_unchecked": "eager: a result; in a graph: ValueError",
    "repeat_flat_overflow": "times",
    "unit_histogram_nan": "NaN",
    "capitalize_fixed_buffer": "string",
    "row_arg_min_all_nan": "called again",
    "twice_through_double": "the reference computes",
    "axis_size_negative": "axis = -1",
    "each_nth_rounds_down": "the inferred shape",
    "each_nth_static_table": "step = 4",
    "boxed_unchecked": "holds an empty list of tensors",
}
test_a_broken_op_is_caught = caught("bad_input", CAUGHT)
INDICES = strategies.tensors("int32", (2,), strategies.st.integers(-9, 9))


def sleeps_on_high_ranks(x):
    if x.shape.rank >= 5:
        time.sleep(1000)
    return tf.identity(x)


@pytest.mark.slow
def test_a_call_that_hangs_is_ended_and_is_the_last():
    found = result("bad_input", sleeps_on_high_ranks, normal(2), timeout=20)
    assert "no answer within 20 s" in found.seen
    told = r"x has rank 5, eager; \d+ other calls not tried"
    assert re.fullmatch(told, found.detail)


_CALLS = []


def dies_of_rank_5_after_2(x):
    """In a process that has called it with rank 2."""
    if tf.executing_eagerly():
        if x.shape.rank == 5 and 2 in _CALLS:
            os.abort()
        _CALLS.append(x.shape.rank)
    return tf.identity(x)


def test_what_ends_a_process_only_after_other_calls_is_told_so():
    """A line with the call alone would show nothing; where the check cannot be called in one, it has to do."""
    found = result("bad_input", dies_of_rank_5_after_2, normal(2))
    assert found.seen.startswith("the process died of SIGABRT")
    assert "fine in a fresh process" in found.cause
    assert 'checks="bad_input"' in found.line
    assert "fine in a fresh" not in result("bad_input", dies, normal(2)).cause
    hangs = Findings("empty", "")
    hangs.fail("", "", "no answer within 6 s: it computes", NOT_ALONE)
    assert hangs.result().cause == NOT_ALONE


def of_this_process(subject: Subject) -> SimpleNamespace:
    """What stands for a Child."""

    def ask(function, **given):
        return function(subject, **given)

    return SimpleNamespace(ask=ask, patience=Patience(6.0, hung=True))


def takes_its_time(x):
    time.sleep(int(x) / (1 << 26))
    return tf.identity(x)


@pytest.mark.slow
def test_to_count_to_a_large_number_is_not_to_hang():
    def sorts(text):
        return takes_its_time(64 * tf.strings.length(text)[0])

    large, long = np.int32(1 << 30), np.array([b"7" * (1 << 24)], object)
    for op, wrong, counts in (
        (takes_its_time, large, True),
        (tf.identity, large, False),
        (sorts, long, True),
        (tf.identity, long, False),
    ):
        child = of_this_process(Subject(op, [wrong], {}))
        case = Case("", [wrong], {}, (0,))
        assert robust.counts_up(child, case) == counts
        assert child.patience.hung != counts  # others have their time again


def test_a_scalar_may_be_a_vector_in_ops_of_others():
    """The kernel of Fill allows it, as its comments say; its shape function does not."""

    def first_only(x):
        return tf.reshape(x, [-1])[0] if x.shape.rank else tf.identity(x)

    for op, usual, other, legacy in (
        (tf.fill, [np.int32([2]), np.float32(1)], [np.int32(2), np.float32(1)], True),
        (tf.fill, [np.int32([2]), np.float32(1)], [np.int32([2]), np.float32([1])], True),
        (tf.fill, [np.int32([2]), np.float32(1)], [np.int32([[2]]), np.float32(1)], False),
        (first_only, [np.float32(1)], [np.float32([1])], False),
    ):  # fmt: skip
        subject = Subject(op, usual, {})
        outcome = calls.Outcome([np.float32([1, 1] if op is tf.fill else 1)])
        case = Case("", other, {}, ())
        sample = SimpleNamespace(flat=usual)
        assert (
            robust.is_legacy(of_this_process(subject), sample, case, outcome) == legacy
        )


def gives_much(x):
    """So much that it cannot be told to another process within 400 MiB."""
    return tf.fill([36 << 20 if x.shape.rank == 5 else 1], 1.0)


def dies_of_too_much(x):
    if x.shape.rank == 5 and tf.executing_eagerly():
        os.write(
            2, b"terminate called after throwing an instance of 'std::bad_alloc'\n"
        )
        os.abort()
    return tf.identity(x)


def fills_memory_and_dies(x):
    if x.shape.rank == 5 and tf.executing_eagerly():
        fills_memory(x)
    return dies_of_too_much(x)


@pytest.mark.slow
def test_to_need_more_memory_than_is_allowed_is_no_crash():
    """What has been filled cannot be told; or the process ends when it has filled what it may."""
    for op in (gives_much, fills_memory_and_dies):
        found = result("bad_input", op, normal(2), memory=400 << 20)
        assert found.verdict in ("pass", "note"), found.explanation()
    assert "it fills more memory than the option allows" in found.detail
    found = result("bad_input", dies_of_too_much, normal(2), memory=400 << 20)
    assert "bad_alloc" in found.seen


def test_an_unclean_error_is_a_finding():
    found = result("bad_input", raises_something_odd, normal(2))
    assert found.seen == "RuntimeError: odd"


def halved(x):
    """Errors name num_split, which is no argument of this function."""
    return tf.raw_ops.Split(axis=0, value=x, num_split=2)


def test_an_error_may_name_an_attr_that_the_call_leaves_out(monkeypatch):
    monkeypatch.setattr(
        refusals, "is_builtin", lambda op_type: False
    )  # as one's own op
    found = result("bad_input", halved, normal(4, 2))
    told = [one.seen for one in (found, *found.others)]
    assert any("split_dim" in seen for seen in told)  # this one names nothing
    assert not any("num_split" in seen for seen in told)


def counted(ids, add=True):
    """How often each of four ids comes."""
    change = tf.tensor_scatter_nd_add if add else tf.tensor_scatter_nd_update
    return change(tf.zeros([4], tf.int32), ids[:, tf.newaxis], tf.ones_like(ids))


def counted_once(ids):
    """The second of two equal ids overwrites the first."""
    return counted(ids, add=False)


def ramp(x, size, last=lambda size: tf.maximum(size - 1, 1)):
    """Numbers from 0 to x."""
    steps = tf.range(tf.cast(size, tf.float32))
    return x * steps / tf.cast(last(size), tf.float32)


def ramp_without_steps(x, size):
    """0 / 0 for the size 1."""
    return ramp(x, size, lambda size: size - 1)


def scattered(x, seed):
    """Noise that depends on the seed alone."""

    def run(values):
        noise = np.random.default_rng(seed).normal(size=values.shape)
        return values + noise.astype(values.dtype)

    y = tf.numpy_function(run, [x], x.dtype, stateful=False)
    return tf.ensure_shape(y, x.shape)


def scattered_anew(x, seed):
    """The seed 0 stands for another one in each call."""
    return scattered(x, seed or None)


def in_turns(parts):
    return tf.reshape(tf.stack(parts, 1), [-1])


def in_turns_of_two(parts):
    """It takes it that there are two."""
    first, second = in_turns([parts[0], parts[-1]]), parts[1:-1]
    return tf.concat([first, *second], 0)


def lengths(splits, checks=True):
    def run(values):
        falls = (np.diff(values.reshape(-1)) < 0).any()
        ends = values[[0, -1]].tolist() if values.ndim == 1 and values.size else []
        if ends != [0, 6] or (checks and falls):
            raise ValueError("splits must go from 0 to 6")
        if falls:
            os.abort()
        return np.diff(values)

    return tf.numpy_function(run, [splits], splits.dtype, stateful=False)


def lengths_by_the_ends(splits):
    return lengths(splits, checks=False)


def counts_windows(x, length, whole=tf.math.floordiv):
    """How many windows of a length fit, one each four elements; with the division of C++, one where none fits."""
    if not 0 < length < 1 << 15:
        raise tf.errors.InvalidArgumentError(None, None, "length is not so long")
    return tf.maximum(whole(tf.size(x) - length, 4) + 1, 0)


def counts_windows_as_cpp(x, length):
    return counts_windows(x, length, tf.truncatediv)


def turned(x, axis):
    return tf.reverse(x, [axis])


def turned_at_the_end(x, axis):
    """If the axis is negative."""
    return tf.reverse(x, [axis if axis >= 0 else -1])


@pytest.mark.parametrize(
    ("op", "wrong", "inputs", "attrs", "reference", "detail"),
    [
        (
            counted,
            counted_once,
            [np.int32([3, 1])],
            {},
            lambda ids: np.bincount(ids, minlength=4),
            "ids has its first element twice",
        ),
        (
            ramp,
            ramp_without_steps,
            [np.float32(2)],
            {"size": 4},
            lambda x, size: np.linspace(0, x, size),
            "size = 1",
        ),
        (
            in_turns,
            in_turns_of_two,
            [[normal(3), normal(3)]],
            {},
            lambda parts: np.stack(parts, 1).ravel(),
            "parts of 3 tensors",
        ),
        (
            counts_windows,
            counts_windows_as_cpp,
            [normal(9)],
            {"length": 4},
            lambda x, length: np.int32(max(0, (x.size - length) // 4 + 1)),
            "length = 10",
        ),
        (scattered, scattered_anew, [normal(3)], {"seed": 5}, None, "seed = 0"),
        (turned, turned_at_the_end, [normal(3, 4)], {"axis": -1}, np.flip, "axis = -2"),
        (
            lengths,
            lengths_by_the_ends,
            [np.int64([0, 3, 3, 6])],
            {},
            None,
            "splits has -1 in the middle",
        ),
    ],
    ids=["twice", "one", "three", "longer", "chance", "axis", "middle"],
)
def test_a_call_unlike_the_sample(op, wrong, inputs, attrs, reference, detail):
    def told(op):
        found = result("bad_input", op, *inputs, reference=reference, attrs=attrs)
        every = [one for one in (found, *found.others) if one.verdict == "fail"]
        return [one for one in every if one.detail.startswith(detail)]

    assert ("SetIsStateful" in told(wrong)[0].cause) == (op is scattered)
    assert not told(op)


def refuses_negatives(x, keep=lambda x: None):
    if tf.executing_eagerly() and tf.reduce_any(x < 0):
        _CALLS.append(keep(x))
        raise tf.errors.InvalidArgumentError(None, None, "x must not be negative")
    return tf.identity(x)


def opens_a_file_and_refuses(x):
    return refuses_negatives(x, lambda x: open(os.devnull))


def copies_and_refuses(x):
    return refuses_negatives(x, lambda x: np.array(x))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("op", "seen"),
    [
        (opens_a_file_and_refuses, "1 more after each call"),
        (copies_and_refuses, "bytes more"),
        (refuses_negatives, ""),
    ],
)
def test_what_is_refused_leaves_nothing_behind(op, seen):
    found = result("bad_input", op, 1 + normal(3) ** 2)
    told = [
        one
        for one in (found, *found.others)
        if one.detail.split("; ")[0].endswith("which is refused, many times")
    ]
    assert bool(told) == bool(seen)
    if told:
        assert seen in told[0].seen
        shown, _ = forked.run(told[0].line).stdout.split(" expected: as many ")
        files, held = ast.literal_eval(shown)
        assert (files == 1) == (op is opens_a_file_and_refuses)
        assert (held > 1 << 13) == (op is copies_and_refuses)


def test_the_message_that_tensorflow_keeps_is_not_left_behind():
    _, held = left_behind(tf.strings.to_number, tf.constant(["x" * 20_000]))
    assert held < 1 << 13


def no_rows(x, columns):
    if columns < 0:
        raise tf.errors.InvalidArgumentError(None, None, "columns is negative")
    return tf.zeros(tf.constant([0, columns], tf.int64))


def test_no_rows_of_more_columns_than_numpy_takes_are_a_result():
    found = result("bad_input", no_rows, normal(2), attrs={"columns": 4})
    assert found.verdict == "pass", found.explanation()


def is_unnamed(found: opcheck.Result) -> bool:
    """Whether an error is blamed that names no argument."""
    unnamed = "does not say which input"
    return any(unnamed in one.cause for one in (found, *found.others))


def takes_columns(x, count, told="x has {} columns, but {} are wanted"):
    columns = x.shape[-1] or 0
    if tf.executing_eagerly() and count > columns:
        message = told.format(columns, count)
        raise tf.errors.InvalidArgumentError(None, None, message)
    return x[..., : max(count, 0)]


def takes_columns_or_not(x, count):
    return takes_columns(x, count, "x has {} columns, too few")


@pytest.mark.parametrize(
    ("op", "told"), [(takes_columns, False), (takes_columns_or_not, True)]
)
def test_an_input_and_the_number_that_it_does_not_fit_are_named(op, told):
    found = result("bad_input", op, normal(2, 3), attrs={"count": 2})
    assert told == is_unnamed(found)


def windows(x, delay):
    """The samples that a window of three needs are another number than the delay."""
    return takes_columns(x, 2 * delay + 1 if delay > 1 else 3)


def windows_of_nothing(x, delay):
    if delay > 1:
        raise tf.errors.InvalidArgumentError(None, None, "too few samples for 131073")
    return takes_columns(x, 3)


@pytest.mark.parametrize(("op", "told"), [(windows, False), (windows_of_nothing, True)])
def test_a_number_that_follows_from_an_attr_may_be_named(op, told):
    found = result("bad_input", op, normal(2, 12), attrs={"delay": 1})
    assert told == is_unnamed(found)


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("InvalidArgumentError: b must have 7 rows, as many as there are", True),
        ("InvalidArgumentError: b must have 3 rows, as many as there are", False),
        ("InvalidArgumentError: 7 rows are wanted", False),
        ("InvalidArgumentError: ball has not 7 rows", False),
    ],
)
def test_another_input_and_the_wrong_size_may_be_named(message, told):
    case = Case("", [np.ones((7, 2)), np.ones((3, 2))], {}, (0,))
    description = SimpleNamespace(names=[["a"], ["b"]])
    outcome = SimpleNamespace(error=message)
    assert refusals.tells(outcome, case, description) == told


def brackets(text):
    opened, closed = (np.char.count(text.astype("S"), x) for x in (b"(", b")"))
    if (opened != closed).any():
        raise ValueError("text has a bracket without another one")
    return np.int32(opened)


def opening_brackets(text):
    rest = tf.strings.regex_replace(text, r"\(", "")
    return tf.strings.length(text) - tf.strings.length(rest)


def test_texts_lose_one_of_their_marks():
    texts = np.array([b"H2O", b"Ca(OH)2"], object)
    found = result("bad_input", opening_brackets, texts, reference=brackets)
    seen = [one.detail for one in (found, *found.others)]
    assert "text has b'Ca(OH)2' without b'('" in "; ".join(seen)


def numbers(texts):
    if not all(re.fullmatch(b"[1-9][0-9]*", one) for one in texts.reshape(-1)):
        raise ValueError("texts holds something other than digits")
    return texts.astype(np.int32)


def numbers_by_pattern(pattern):
    def op(texts):
        texts = tf.strings.regex_replace(texts, pattern, r"\1")
        wrong = "texts holds something other than digits"
        tf.debugging.Assert(
            tf.reduce_all(tf.strings.regex_full_match(texts, "[1-9][0-9]*")), [wrong]
        )
        return tf.strings.to_number(texts, tf.int32)

    return op


first_number, after_blanks, after_zeros = map(
    numbers_by_pattern, (r"^(\d+)[^\d].*", r"^ +(\d+)", r"^[0+]+(\d+)")
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("op", "seen"),
    [(first_number, "'12x'"), (after_blanks, "' 12'"), (after_zeros, "'012'")],
)
def test_something_stands_before_or_behind_a_text(op, seen):
    found = result("bad_input", op, strings(b"12", b"7"), reference=numbers)
    details = [one.detail for one in (found, *found.others)]
    assert any(seen in one for one in details), found.explanation()


@pytest.mark.parametrize(
    ("name", "told"), [("rows_of", False), ("rows_of_unnamed", True)]
)
def test_an_error_may_name_what_only_the_op_calls_so(broken_ops, name, told):
    op, (sample, _) = getattr(broken_ops, name), broken_ops.SAMPLES["take_rows"]
    found = result("bad_input", op, *sample)
    assert told == (found.verdict == "fail"), found.explanation()
    report = opcheck.fuzz(op, strategies.calls(*sample[:1], INDICES), examples=50)
    assert told == (not report.ok), str(report)


def scaled(x, scale):
    """A scale of fewer elements begins again at its end."""
    size = tf.maximum(tf.size(scale), 1)
    places = tf.reshape(tf.range(tf.size(x)) % size, tf.shape(x))
    return x * tf.gather(tf.reshape(scale, [-1]), places)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scale", "detail"),
    [(normal(4), "scale has shape [3, 1]"), (normal(3, 4), "scale has 2 rows")],
)
def test_what_is_broadcast_is_tried_as_a_column(scale, detail):
    """An index that wraps around is right for a row, and no reference knows a scale of fewer rows."""

    def reference(x, scale):
        return x * scale

    found = result("bad_input", scaled, normal(3, 4), scale, reference=reference)
    assert detail in [one.detail.split("; ")[0] for one in (found, *found.others)]
    found = result("bad_input", tf.multiply, normal(3, 4), scale, reference=reference)
    assert found.verdict != "fail", found.explanation()


def roots(x):
    if np.any(x < 0):
        raise ValueError("x must not be negative")
    return np.sqrt(x)


def roots_of_three(x):
    return np.concatenate(np.split(np.sqrt(x), 3, -1), -1)


def root_of_magnitude(x):
    return tf.sqrt(tf.abs(x))


def test_a_result_where_the_reference_itself_refuses():
    x = np.float32([1, 4, 9])
    found = result("bad_input", root_of_magnitude, x, reference=roots)
    assert found.verdict == "fail" and found.seen == "a result"
    assert "as the reference raises: ValueError: x must not be" in found.expected
    # NumPy's own ValueError may be for what the op can do, and it cannot.
    found = result("bad_input", tf.sqrt, x, reference=roots_of_three)
    assert found.verdict != "fail", found.explanation()


def fours(x, rows):
    if rows < 0:
        raise ValueError("rows must not be negative")
    if rows > 1 << 16:
        words = f"Encountered overflow when multiplying 4 with {rows}, result: -4"
        raise tf.errors.InvalidArgumentError(None, None, words)
    return tf.fill([rows, 4], tf.reduce_sum(x))


def test_tensorflow_s_own_words_for_too_many_elements_are_a_note():
    found = result("bad_input", fours, normal(2), rows=3, op_types=["Fill"])
    assert "TensorFlow's own error for too many elements" in found.detail


def is_odd_for_nul(x):
    return tf.strings.regex_replace(x, r"\x00", "0")


@pytest.mark.parametrize(("op", "told"), [(cut_at_nul, True), (is_odd_for_nul, False)])
def test_a_string_that_ends_at_its_nul_is_told(op, told):
    found = result("bad_input", op, strings(b"a", b"b"), reference=np.array)
    some = [one for one in (found, *found.others) if "NUL" in one.detail]
    assert some and all(("c_str()" in one.cause) == told for one in some)


def test_lists_have_other_lengths():
    a, b, c, d = (np.float32(i) for i in range(4))
    names = ["x", "rows", "rows", "scales", "scales"]
    found = dict(other_lists([a, [a, b], [c, d]], names))
    assert found == {
        "rows of 3 tensors": [a, [a, b, a], [c, d]],
        "rows of 1 tensor": [a, [a], [c, d]],
        "scales of 3 tensors": [a, [a, b], [c, d, c]],
        "scales of 1 tensor": [a, [a, b], [c]],
        "rows and scales of 3 tensors": [a, [a, b, a], [c, d, c]],
        "rows and scales of 1 tensor": [a, [a], [c]],
    }


def test_a_message_that_is_no_text_is_told_as_such():
    found = result("bad_input", tf.strings.to_number, strings(b"1.5"))
    assert found.seen.startswith("UnicodeDecodeError")
    assert "CHexEscape" in found.cause


def test_bad_input_tries_what_can_be_wrong():
    floats = {what for what, _, _ in wrong_values(normal(2, 3))}
    assert {f"has rank {rank}" for rank in (0, 1, 3, 5, 8)} < floats
    assert {"has dtype int8", "has dtype string", "has 3 rows", "has 1 rows"} < floats
    assert {"is all NaN", "starts with NaN", "starts with Inf", "is all -Inf"} < floats
    indices = {what for what, _, _ in wrong_values(np.int32([1, 2]))}
    values = (-1, -(1 << 31), (1 << 31) - 1, 1 << 30)
    assert {f"starts with {value}" for value in values} < indices
    texts = {what: wrong for what, wrong, _ in wrong_values(strings(b"a", b"b"))}
    assert len(texts["starts with a string of 16 MB"][0]) == 1 << 24


def wrong_beyond_40_bits(x):
    return tf.where(x > 1 << 40, x - 1, x)


def test_wrong_numbers_lead_to_the_section_on_the_reference():
    options = {"reference": np.asarray}
    found = result("bad_input", wrong_beyond_40_bits, np.int64([3, 5]), **options)
    assert found.expected == "what the reference computes", found.explanation()
    assert found.chapter == opcheck.registry.CHECKS["reference"].chapter


ROW_INDICES = np.int64([[0, 1], [1, 3], [2, 2]])


def of_slices(x):
    return tf.data.Dataset.from_tensor_slices(x)


def densified(indices, values):
    return tf.sparse.to_dense(tf.SparseTensor(indices, values, [3, 4]))


def smoothed(x):
    return tf.scan(lambda before, now: before / 2 + now, x)


def either(x):
    return tf.cond(tf.reduce_sum(x) > 0, lambda: tf.exp(x), lambda: -x)


@pytest.mark.parametrize(
    ("check", "op", "inputs", "told"),
    [
        ("bad_input", of_slices, [normal(3)], "some errors name no argument"),
        ("bad_input", densified, [ROW_INDICES, normal(3)], "some errors name no argument"),
        ("empty", smoothed, [normal(3)], "IndexError, of an op of TensorFlow"),
        ("bad_input", either, [normal(3)], "dtypes that eager execution takes"),
        ("bad_input", tf.image.adjust_contrast, [normal(2, 2, 3), np.float32(2)], "by AttributeError"),
    ],
)  # fmt: skip
def test_errors_of_tensorflow_are_not_those_of_a_function_of_its_ops(
    check, op, inputs, told
):
    found = result(check, op, *inputs)
    assert found.verdict == "note", found.explanation()
    assert told in found.detail


def refuses_vectors(x):
    if x.shape.rank == 1:
        raise ValueError("a matrix is needed")
    return tf.identity(x)


def test_an_error_that_the_function_raises_has_to_name_the_input():
    found = result("bad_input", refuses_vectors, normal(2, 2))
    assert "does not say which input" in found.cause


def test_a_reference_without_an_answer_says_nothing_of_broadcasting():
    def reference(x, y):
        if x.shape != y.shape:
            raise NotImplementedError
        return x + y

    sample = normal(3, 4), normal(3, 4)
    found = result("bad_input", tf.add, *sample, reference=reference)
    assert found.verdict != "fail", found.explanation()


@pytest.mark.slow
def test_to_wait_as_long_as_was_asked_for_is_not_to_hang(broken_ops):
    options = {"checks": "bad_input", "milliseconds": 20}
    found = opcheck.check(broken_ops.delayed, np.float32([1]), **options)["bad_input"]
    assert found.verdict == "note", found.explanation()
    assert "milliseconds = 65536: the larger it is" in found.detail


def adds_and_subtracts(x):
    return x + x - x


def test_infinities_may_be_left_to_the_op():
    some = "bad_input", adds_and_subtracts, normal(2)
    found = result(*some, reference=np.array)
    assert "it is NaN" in found.cause and "special_values=False" in found.cause
    found = result(*some, reference=np.array, special_values=False)
    assert found.verdict != "fail", found.explanation()


def vectors_in_graphs_alone(x):
    if not tf.executing_eagerly() and x.shape.rank != 1:
        raise ValueError("x must be a vector")
    return tf.identity(x)


def test_a_shape_function_that_refuses_what_the_reference_takes():
    found = result("bad_input", vectors_in_graphs_alone, normal(2), reference=np.array)
    assert "refuses what the kernel and the reference take" in found.cause


def last_of_the_largest(x):
    return tf.size(x) - 1 - tf.argmax(tf.reverse(x, [0]), output_type=tf.int32)


def test_infinities_are_not_blamed_where_equal_numbers_are():
    found = result("bad_input", last_of_the_largest, normal(5), reference=np.argmax)
    [told] = [one.cause for one in found.others if one.detail == "x is all Inf"]
    assert "with 1 in their place, too" in told, found.explanation()


def dies_of_long_numbers(times):
    times = tf.reshape(times, [-1])
    if tf.executing_eagerly() and re.search(rb"\d{13}", b" ".join(times.numpy().flat)):
        os.abort()
    return tf.strings.length(times)


@pytest.mark.slow
def test_numbers_in_texts_become_larger_than_64_bits_hold():
    found = result("bad_input", dies_of_long_numbers, strings(b"7:05", b"12:30"))
    assert "has b'7:05' with 99999999999999999999 for 7" in found.detail


def signed(texts):
    wanted = [float(b"%s.%s" % tuple(one.split(b":"))) for one in texts]
    return np.copysign(np.float32(wanted), [-one.startswith(b"-") for one in texts])


def signed_unless_zero(texts):
    parts = tf.strings.split(texts, ":").to_tensor()
    whole = tf.strings.to_number(parts[:, 0])
    rest = tf.strings.to_number(tf.strings.join(["0.", parts[:, 1]]))
    return tf.where(whole < 0, whole - rest, whole + rest)


@pytest.mark.slow
def test_numbers_in_texts_become_0_behind_their_sign():
    some = strings(b"-7:05", b"12:30")
    found = result("bad_input", signed_unless_zero, some, reference=signed)
    details = [one.detail for one in (found, *found.others)]
    assert "texts has b'-7:05' with 0 for 7" in details, found.explanation()


def no_scalars(x):
    if not x.ndim:
        raise ValueError("x must not be a scalar")
    return x


def test_what_dies_should_raise_as_the_reference_does():
    found = result("empty", dies_of_scalars, normal(2, 3), reference=no_scalars)
    assert "SIG" in found.seen
    assert found.expected.endswith("ValueError: x must not be a scalar")


def first_bytes(texts, count, unit="BYTE"):
    if unit == "BYTE":
        tf.debugging.assert_non_negative(count, "count must not be negative")
    first = tf.maximum(count, 0)
    return tf.raw_ops.Substr(input=texts, pos=0 * first, len=first, unit=unit)


def first_bytes_reference(texts, count, unit="BYTE"):
    if count < 0:
        raise ValueError("count must not be negative")
    if unit == "BYTE":
        return np.frompyfunc(lambda one: one[:count], 1, 1)(texts)
    cut = np.frompyfunc(lambda one: one.decode()[:count].encode(), 1, 1)
    return cut(texts)


def test_wrong_values_are_tried_with_each_word_of_an_attr():
    options = {"reference": first_bytes_reference, "unit": "BYTE"}
    found = result(
        "bad_input", first_bytes, strings(b"ab", b"c"), np.int32(1), **options
    )
    details = [one.detail for one in (found, *found.others)]
    assert any("count" in one and "unit = 'UTF8_CHAR'" in one for one in details)
    assert not any("unit" not in one for one in details), details


def without_padding(ids, padding):
    """What stands before the padding; any other number below zero is refused."""
    if ((ids != padding) & (ids < 0)).any():
        raise ValueError("ids must not be negative, but for the padding")
    return np.where(ids == padding, 0, ids + 1)


def _next(ids, padding, said):
    if padding != -1:  # that of the sample
        raise tf.errors.InvalidArgumentError(None, None, said)
    return tf.where(ids == padding, 0, ids + 1)


def next_ids(ids, padding):
    return _next(ids, padding, "ids must not be negative")


def next_odd_ids(ids, padding):
    return _next(ids, padding, "it is odd")


@pytest.mark.parametrize(("op", "told"), [(next_ids, False), (next_odd_ids, True)])
def test_what_the_reference_names_may_be_named(op, told):
    options = {"attrs": {"padding": -1}, "reference": without_padding}
    found = result("bad_input", op, np.int32([3, 1, -1]), **options)
    assert told == is_unnamed(found)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ("ids must be in [0, 4), got -1", True),
        ("ids must be in [0, 4), got -2", False),
        ("ids must be in [0, 4)", False),
        ("got -1", False),
    ],
)
def test_a_number_below_zero_that_another_input_holds_may_be_told(error, told):
    case = Case("", [np.int32([2, -1])], {"padding": 3}, ("padding",))
    description = SimpleNamespace(names=[["ids"]], all_of=lambda _: [])
    outcome = SimpleNamespace(error=f"InvalidArgumentError: {error}")
    assert refusals.tells(outcome, case, description) == told


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        ("not a place on the earth: nan, 8.5", True),
        ("at 0: 8.54e2 is too large", True),
        ("at 0: 1e+30 is too large", True),
        ("not a place on the earth", False),
        ("it has 2.5 times the size", False),
        ("3 rows", False),
    ],
)
def test_a_value_of_the_only_input_is_as_good_as_its_name(error, shown):
    case = Case("", [np.float32([[np.nan, 854], [3, 1e30]])], {}, (0,))
    description = SimpleNamespace(names=[["track"]])
    outcome = SimpleNamespace(error=f"InvalidArgumentError: {error}")
    assert refusals.tells(outcome, case, description) == shown


def dies_of_many(edges, nodes):
    if edges.shape[0] and edges.shape[0] > 1 << 19:
        os.abort()
    return tf.math.unsorted_segment_sum(tf.ones_like(edges[:, 0]), edges[:, 0], nodes)


def test_pairs_of_places_become_a_long_chain():
    edges = np.int32([[0, 1], [2, 3], [1, 2]])
    found = result("bad_input", dies_of_many, edges, nodes=4)
    [told] = [one for one in (found, *found.others) if "chain" in one.detail]
    assert told.detail == "edges is a chain of 1048576 elements"
    assert "np.arange(1048575)" in told.line and len(told.line) < 400


def values_at(x, places):
    rows, columns = np.moveaxis(places, -1, 0)
    inside = (places >= 0).all() and (rows < x.shape[0]).all()
    if not inside or (columns < x.shape[1]).sum() < columns.size:
        raise ValueError("places are outside x")
    return x[rows, columns]


def values_at_any_column(x, places):
    rows = places[:, 0]
    tf.debugging.Assert(tf.reduce_all((rows >= 0) & (rows < tf.shape(x)[0])), ["x"])
    columns = tf.clip_by_value(places[:, 1], 0, tf.shape(x)[1] - 1)
    return tf.gather_nd(x, tf.stack([rows, columns], 1))


def test_each_column_of_places_is_outside():
    some = normal(3, 4), np.int32([[0, 1], [2, 3], [1, 2], [0, 0]])
    found = result("bad_input", values_at_any_column, *some, reference=values_at)
    details = [one.detail for one in (found, *found.others)]
    assert "places has 65536 in column 1" in "; ".join(details), found.explanation()


def test_next_to_a_huge_input_the_reference_may_lose_a_number():
    """Such as log(10) in 1e30 - (1e30 + log(10))."""
    lost, exact = np.float64([0.0]), np.float64([-2.302585])
    for most, wanted in ((1e30, exact), (1.0, lost), (None, lost)):
        held = answers._as_held(lost, exact, {}, most)
        np.testing.assert_array_equal(held, wanted)
