"""`opcheck.fuzz`: what it finds, how small, and whether the line reproduces it."""

import html
import os
import re
import signal
from pathlib import Path

import forked
import numpy as np
import pytest
import tensorflow as tf
from python_ops import (
    adds_hidden_noise,
    adds_noise,
    adds_one,
    counts_calls,
    cut_at_nul,
    filled,
    normal,
    raises_something_odd,
    strings,
    transposed,
)

import opcheck
from opcheck.errors import tomllib
from opcheck.findings.compare import difference
from opcheck.fuzzing import allowed, fuzz
from opcheck.inputs.variations import calls_of, variations
from opcheck.strategies import calls, st, tensors, texts

ONES = calls(tensors(elements=st.just(1.0), min_rank=1, max_rank=1))
PAIR = tensors("int32", (2,), st.integers(0, 9))
RANK_EIGHT = calls(np.zeros([1] * 8, np.float32))


def run_line(report):
    return forked.run(report.line)


def test_a_correct_op_passes():
    some = calls(tensors(st.sampled_from(["float32", "int32"])))
    report = fuzz(adds_one, some, examples=500, reference=adds_one)
    assert report.assert_ok().calls >= 500
    assert report.errors == 0 and not report.failing
    assert "500 generated calls" in str(report)


def is_off_by_one_from_seven_on(x):
    return tf.where(x >= 7, x + 1, x)


def test_a_wrong_value_is_shrunk():
    report = fuzz(
        is_off_by_one_from_seven_on,
        calls(tensors("int32", elements=st.integers(-100, 100))),
        examples=2000,
        reference=lambda x: x,
    )
    assert not report.ok
    assert "is_off_by_one_from_seven_on(tf.constant(7, " in report.line
    sizes = [inputs[0].size for inputs, _ in report.failing]
    assert min(sizes) == 1
    with pytest.raises(opcheck.OpCheckError, match="instead of 7"):
        report.assert_ok()
    assert report.line in html.unescape(report._repr_html_())
    counted = f"fuzz: reference, after {report.calls} generated calls\n"
    assert str(report).count("after") == 1 and counted in str(report)


def dies_of_negatives(x, index=0):
    if tf.executing_eagerly() and tf.reduce_any(x < 0) and index > 3:
        os.abort()
    return tf.identity(x)


@pytest.mark.slow
def test_a_crash_is_shrunk_to_a_line_that_reproduces_it():
    some = calls(
        tensors(elements=st.integers(-9, 9).map(float)), index=st.integers(0, 9)
    )
    report = fuzz(dies_of_negatives, some, examples=2000)
    assert report.results[0].detail.startswith("crash")
    call = r"dies_of_negatives\(tf.constant\(-1.0, .float32.\), index=4\)"
    assert re.search(call, report.line)
    run = run_line(report)
    assert run.returncode == -signal.SIGABRT, run.stderr


def has_an_answer(x):
    if not x.size:
        raise ValueError("x is empty")
    return x + 1


@pytest.mark.slow
def test_a_result_where_the_reference_itself_refuses():
    """As the check bad_input says, too."""
    some = calls(tensors())
    report = fuzz(adds_one, some, examples=50, reference=has_an_answer)
    found = report["fuzz"]
    assert found.verdict == "fail" and found.detail.startswith("bad_input")
    assert found.seen == "a result"
    assert found.expected.endswith("as the reference raises: ValueError: x is empty")
    assert "NotImplementedError" in found.cause
    fuzz(adds_one, some, 50, reference=has_an_answer, skip="bad_input").assert_ok()
    assert re.search(r"shape=\(.*\b0\b", run_line(report).stdout)


def wide_dot(a, b):
    return np.dot(a.astype(np.float64), b.astype(np.float64)).astype(np.float32)


def dot_of_three(a, b):
    """In single precision, from left to right."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def test_terms_that_cancel_are_no_finding():
    """-48 - 2e17 + 2e17, where each term may be off by 1e10."""
    cancel = [np.float32([8, 5, -5]), np.float32([-6, -4.07e16, -4.07e16])]
    assert wide_dot(*cancel) != dot_of_three(*cancel)
    fuzz(dot_of_three, calls(*cancel), 5, reference=wide_dot, variations=0).assert_ok()
    wrong = fuzz(dot_of_three, calls(*cancel), 5, reference=lambda a, b: 1e12)
    assert "reference" in wrong["fuzz"].detail
    near = [np.float32([1, 2, 3]), np.float32([4, 5, 6])]
    for op, inputs, wanted, seen in (
        (wide_dot, near, np.float32(32), np.float32(32.01)),
        (np.floor, [np.float32([7])], np.float32([7]), np.float32([6])),
    ):
        assert allowed(op, inputs, {}, [wanted], [seen]) == [wanted]


def test_chance_is_no_failure_where_it_is_meant():
    noisy = {"nondeterministic": True, "reference": adds_one, "examples": 50}
    fuzz(adds_noise, ONES, **noisy).assert_ok()
    report = fuzz(adds_hidden_noise, ONES, **noisy)
    assert "nothing in the graph has state" in report["fuzz"].seen
    assert 'checks="determinism", nondeterministic=True' in report.line


def test_what_differs_in_a_graph_is_found():
    report = fuzz(counts_calls, ONES)
    assert report.results[0].detail.startswith("eager_vs_graph")


@pytest.mark.slow
def test_shapes_are_inferred_from_some_of_the_dimensions():
    report = fuzz(transposed, calls(tensors(min_rank=2, max_rank=2)))
    assert report.results[0].detail.startswith("static_shape")
    assert "None" in report["fuzz"].seen
    assert re.search(r"^\(\d, \d\) tf.Tensor\(", run_line(report).stdout)


def is_odd_for_unknown_ranks(x, others, k=1):
    return x + k if x.shape.rank is None else tf.identity(x)


def test_what_is_wrong_for_unknown_ranks_is_reproduced():
    pairs = calls(tensors(elements=st.just(1.0)), [np.float32(1)], k=st.integers(1, 9))
    report = fuzz(is_odd_for_unknown_ranks, pairs, examples=100)
    assert "keeps something from one call" not in report["fuzz"].cause
    eager, graph = run_line(report).stdout.split(" tf.Tensor")
    assert eager.startswith("tf.Tensor(1.0, shape=()")
    assert graph.startswith("(2.0, shape=()")


def raises_something_odd_in_graphs(x):
    if x.shape.rank and not tf.executing_eagerly():
        raise RuntimeError("odd")
    return tf.identity(x)


def test_an_odd_error_in_a_graph_is_reproduced():
    report = fuzz(raises_something_odd_in_graphs, calls(tensors()), variations=0)
    assert report["fuzz"].seen == "RuntimeError: odd"
    assert "RuntimeError: odd" in run_line(report).stderr


def dies_of_unknown_dimensions(x):
    if x.shape.rank and not x.shape.is_fully_defined():
        os.abort()
    return tf.identity(x)


def test_a_crash_while_shapes_are_inferred_is_reproduced():
    report = fuzz(dies_of_unknown_dimensions, calls(tensors(min_rank=1)))
    assert report.results[0].detail.startswith("crash")
    assert "tf.TensorSpec([None]" in report.line
    assert run_line(report).returncode == -signal.SIGABRT


_CALLS = []


def is_worn_out(x):
    """After twenty calls."""
    _CALLS.append(x.shape.rank)
    return tf.identity(x) + float(len(_CALLS) > 20)


def test_a_call_that_does_not_fail_by_itself_is_told():
    report = fuzz(is_worn_out, ONES, reference=lambda x: x)
    assert "not this call alone" in report["fuzz"].cause


def remembers_the_first_size(x):
    def run(values):
        first = remembers_the_first_size.__dict__.setdefault("first", values.size)
        return values * np.float32(values.size == first)

    return tf.numpy_function(run, [x], x.dtype)


@pytest.mark.slow
def test_a_call_that_fails_after_a_larger_one_is_reproduced():
    report = fuzz(remembers_the_first_size, ONES, reference=lambda x: x)
    assert report["fuzz"].cause.startswith("something is kept")
    assert report.line.count("print(remembers_the_first_size(") == 2
    found = report["fuzz"].seen
    wrong = re.search("is (.*?) instead|has shape (.*?) instead", found)
    assert wrong, found
    assert run_line(report).returncode == 0


def is_odd_after_two_sizes(x):
    """After 2 and 3 elements, for 1."""

    def run(values):
        _CALLS.append(values.size)
        return values + np.float32(values.size == 1 and {2, 3} < {*_CALLS})

    return tf.ensure_shape(tf.numpy_function(run, [x], x.dtype), x.shape)


def test_a_call_that_fails_after_several_is_reproduced():
    report = fuzz(is_odd_after_two_sizes, ONES, reference=lambda x: x)
    assert report["fuzz"].cause.startswith("something is kept")
    *_, last = run_line(report).stdout.splitlines()
    assert last == "tf.Tensor([2.], shape=(1,), dtype=float32) expected output[0]: 1"
    assert 3 <= report.line.count("print(") < 6


def test_an_input_that_changes_is_shown(broken_ops):
    rows = calls(tensors(min_rank=2, max_rank=2))
    report = fuzz(broken_ops.broken_sort_each_row_in_place, rows)
    assert report["fuzz"].detail.startswith("immutability")
    output, x = run_line(report).stdout.split(" tf.Tensor(")
    assert output == f"tf.Tensor({x.strip()}"


def test_what_is_not_written_is_put_down_to_that(broken_ops):
    bins = calls(tensors(shape=(2,)), tensors("int32", (2,), st.just(1)), num_bins=3)
    reference = broken_ops.bin_max_reference
    report = fuzz(broken_ops.broken_bin_max_empty_bins, bins, reference=reference)
    assert "outputs that are not written" in report["fuzz"].cause
    assert report.line.count("byte") > 1


def test_little_memory_is_no_finding():
    big = calls(np.float32(1), size=150_000_000)
    some = {"examples": 1, "variations": 0, "memory": 1 << 30}
    assert fuzz(filled, big, **some)["fuzz"].verdict == "skip"


def test_clean_errors_alone_are_counted():
    report = fuzz(raises_something_odd, RANK_EIGHT)
    assert (report["fuzz"].seen, report.errors) == ("RuntimeError: odd", 0)


def refuses_all(x):
    raise TypeError("x is no x")


def test_calls_that_are_all_refused_say_nothing_of_the_op():
    report = fuzz(refuses_all, calls(tensors()), examples=20, variations=4)
    assert report["fuzz"].verdict == "skip"
    assert "taken none: TypeError: x is no x" in report["fuzz"].detail
    with pytest.raises(opcheck.OpCheckError, match="no check ran: fuzz .20 generated"):
        report.assert_ok()


def has_no_answer(x):
    return {}[x.shape]


def knows_nothing(x):
    raise NotImplementedError


def test_a_reference_that_never_answers_is_a_failure():
    some = {"examples": 20, "variations": 4}
    found = fuzz(adds_one, calls(tensors()), reference=has_no_answer, **some)["fuzz"]
    assert found.verdict == "fail"
    assert re.match(r"KeyError: .* \(fuzzing_test.py, line \d+\), or the", found.seen)
    fuzz(adds_one, calls(tensors()), reference=knows_nothing, **some).assert_ok()


def test_it_ends_when_time_is_up():
    report = fuzz(adds_one, calls(tensors()), examples=10_000_000, seconds=1)
    assert report.ok
    assert 0 < report.calls < 10_000_000


@pytest.mark.parametrize(
    ("progress", "drawn"), [(True, rf"\r\[{'#' * 30}\] \d+ calls *\n$"), (False, "^$")]
)
def test_a_progress_bar_is_drawn(capsys, progress, drawn):
    fuzz(adds_one, calls(tensors()), examples=20, progress=progress)
    assert re.search(drawn, capsys.readouterr().err)


def test_without_hypothesis_it_says_what_is_missing():
    script = (
        "import sys; sys.modules['hypothesis'] = None\n"
        "import opcheck\n"
        "try: opcheck.fuzz(print, None)\n"
        "except ModuleNotFoundError as error: print(error)"
    )
    folder = Path(opcheck.__file__).parents[1]
    run = forked.run(script)
    told = r"opcheck.fuzz needs Hypothesis: pip install .* (\w+) with its extra `(\w+)`"
    package, extra = re.search(told, run.stdout).groups()
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    assert package == project["name"]
    assert extra in project["optional-dependencies"]


def loses_data(code):
    if code.dtype != tf.string:
        raise TypeError("code")
    if tf.executing_eagerly() and not code.numpy():
        raise tf.errors.DataLossError(None, None, "code is too short")
    return code


def test_lost_data_is_a_clean_error():
    some = calls(tensors("string", shape=()))
    report = fuzz(loses_data, some, examples=20, skip="eager_vs_graph")
    assert report.assert_ok().errors


def test_what_it_cannot_skip_is_named():
    for skip in ("gradient", ["gradient"]):
        with pytest.raises(ValueError, match="no check 'gradient': there are eager_"):
            fuzz(adds_one, calls(tensors()), skip=skip)


def test_what_it_is_told_to_skip_is_skipped():
    fuzz(raises_something_odd, RANK_EIGHT, skip="bad_input").assert_ok()


def test_variations_follow_from_the_inputs_alone():
    inputs = [normal(3, 2), [np.int32([1, 2]), strings(b"x")]]
    once, twice = (list(variations(inputs, 20)) for _ in range(2))
    assert len(once) == 21
    for (first, _), (second, _) in zip(once, twice):
        flat = [[x[0], *x[1]] for x in (first, second)]
        assert not difference(*flat, exact=True)
        assert set(flat[0][0].reshape(-1)) <= set(inputs[0].reshape(-1))
    assert any(x[0].shape != (3, 2) for x, same in once if not same)
    assert all(x[0].shape == (3, 2) for x, same in once if same)


def is_odd_for_some_attrs(x, k=1):
    return x + 1 if k % 10 == 4 else tf.identity(x)


def adds_attr(x, k=1):
    return x + k


def test_attrs_vary_too_and_calls_that_are_really_different_are_counted():
    some = calls(tensors(shape=(2,)), k=st.integers(1, 50))
    report = fuzz(is_odd_for_some_attrs, some, examples=300, reference=lambda x, k: x)
    assert re.search(r", k=\d?4\)", report.line)
    right = fuzz(adds_one, ONES, examples=300, reference=adds_one)
    assert 1 < right.assert_ok().kinds < right.calls
    assert f"{right.kinds} with new shapes, dtypes or attrs" in str(right)
    drawn = fuzz(adds_attr, some, examples=300).assert_ok()
    assert drawn.kinds > 40  # of 30 generated calls


def is_odd_for_rare_pairs(x):
    return x + tf.cast(tf.reduce_all(x == [3, 5]), tf.int32)


def test_an_example_holds_further_calls_of_the_strategy():
    other = [np.float32([7, 8])], {"k": 2}
    some = list(calls_of([np.float32([1, 2])], {"k": 1}, [], [other], 9))
    assert len(some) == 10
    assert [attrs["k"] for _, attrs, _ in some] == [1, 2] * 5
    for inputs, attrs, _ in some:
        elements = set(inputs[0].reshape(-1))
        assert elements <= ({1.0, 2.0} if attrs["k"] == 1 else {7.0, 8.0})
    assert some[1] == (*other, True)
    report = fuzz(is_odd_for_rare_pairs, calls(PAIR), 400, reference=lambda x: x)
    assert not report.ok
    assert "is_odd_for_rare_pairs(tf.constant([3, 5], " in report.line


def test_texts_hold_what_ends_a_string_in_c():
    some = calls(tensors("string", shape=(2,), elements=texts(b"one", b"two")))
    report = fuzz(cut_at_nul, some, examples=300, reference=lambda x: x)
    assert report["fuzz"].seen.startswith("the output[")
    assert r"\x00" in report.line


def is_a_vector_without_a_rank(x):
    y = tf.identity(x)
    if x.shape.rank is None:
        y.set_shape([None])
    return y


def test_shapes_are_inferred_without_a_rank():
    report = fuzz(is_a_vector_without_a_rank, calls(tensors()))
    assert report.results[0].detail.startswith("static_shape")
    assert "tf.TensorSpec(None" in report.line
