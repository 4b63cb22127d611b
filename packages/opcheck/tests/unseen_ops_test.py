"""opcheck on 52 ops with one bug each that were written before anybody knew which check would find them.

`unseen/table.csv` has what came of the first run and of later ones, `unseen/whole.csv` of one with all checks and of
fuzzing; here each op meets the one check that finds it.
"""

import functools
import importlib
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import opcheck
from opcheck.inputs.memory import past_the_end

pytestmark = pytest.mark.slow  # each check_*_test has its bugs
FOLDER = Path(__file__).with_name("unseen")
sys.path.insert(0, str(FOLDER))
missing = importlib.import_module("lines").missing
# The op, the check that catches its bug, and words of the explanation.
CAUGHT = {
    "channel_bias": ("bad_input", "data_format = 'NCHW'"),
    "pair_max_rows": ("reference", "5 instead of 6 rows"),
    "ravel_index": ("bad_input", "rows starts with"),
    "dense_from_pairs": ("reference", "not written"),
    "abs_sum": ("determinism", "two threads that write to one place"),
    "rms_scale": ("bad_input", "epsilon = 0.5"),
    "running_max": ("reference", "NaN in the middle"),
    "id_bucket": ("bad_input", "ids starts with"),
    "scale_columns": ("bad_input", "scale has size 1"),
    "join_tokens": ("bad_input", "NUL"),
    "average_rows": ("dtypes", "a sum in the dtype of the input"),
    "count_ids": ("bad_input", "the process died"),
    "sample_grid": ("bad_input", "points"),
    "insert_axis": ("bad_input", "axis = -1"),
    "flatten_rows": ("bad_input", "x has rank 1"),
    "pad_to": ("static_shape", "SIG"),
    "stack_rows": ("bad_input", "the shape function and the kernel disagree"),
    "soft_ramp": ("gradient", "beta = 1.6"),
    "pick_rows": ("gradient", "the first element of ids twice"),
    "weigh_rows": ("gradient", "returns None for weights"),
    "shift_columns": ("gradient", "size 1 in dimension 0 of shift"),
    "log_cosh": ("gradient", "tf.stop_gradient"),
    "sine_square": ("gradient", "a cast to float32"),
    "masked_average": ("gradient", "first order, with respect to x"),
    "hann_window": ("reference", "kept from one call to the next"),
    "row_median": ("concurrency", "member"),
    "jitter": ("determinism", "SetIsStateful"),
    "parse_prices": ("leaks", "allocated memory"),
    "count_lines": ("leaks", "open files"),
    "swap_halves": ("eager_vs_graph", "forward_input"),
    "sum_of_numbers": ("immutability", "tensors with NaN"),
    "dot_four": ("bounds", "behind the last element"),
    "blur_three": ("reference", "the sample call"),
    "logistic_four": ("bounds", ""),
    "take_window": ("bad_input", "start has two elements"),
    "sorted_index": ("bad_input", "InternalError"),
    "cycle_to": ("empty", "a loop that does not end"),
    "ring_shift": ("empty", "SIGFPE"),
    "segment_mean_rows": ("bad_input", "count = 4"),
    "top_columns": ("bad_input", "x is all Inf"),
    "unit_rows": ("bad_input", "x has rank 3"),
    "pool_window": ("bad_input", "window = [2, 3]"),
    "row_variance": ("reference", "a difference of large numbers"),
    "absolute_difference": ("dtypes", "in uint8"),
    "to_int8": ("reference", "with Inf"),
    "ragged_sums": ("bad_input", "values has 6 rows"),
    "sum_first_axis": ("bad_input", "inferred shape (None,)"),
    "row_length": ("gradient", "where x is all 0"),
    "larger": ("gradient", "a and b equal"),
    "row_range": ("gradient", "first order, with respect to x"),
    "parse_counts": ("bad_input", "as the reference raises"),
}
# A note says it.
NOTED = {
    "repeat_each": ("static_shape", "needless unless it depends on the values"),
}
# Of each kind of line one: the op, and the check whose line is run.
LINES = (
    ("pair_max_rows", "reference"),
    ("hann_window", "reference"),
    ("hann_window", "concurrency"),
    ("dense_from_pairs", "bad_input"),
    ("stack_rows", "bad_input"),
    ("sorted_index", "bad_input"),
    ("dot_four", "bounds"),
    ("ring_shift", "empty"),
    ("masked_average", "gradient"),
    ("pad_to", "leaks"),
    ("shift_columns", "gradient"),
    ("sum_of_numbers", "immutability"),
    ("sum_first_axis", "bad_input"),
)


@pytest.fixture(scope="module")
def unseen_ops(broken_ops) -> ModuleType:
    """The module of the ops, whose libraries are built with the broken ops'."""
    return importlib.import_module("unseen_ops")


@pytest.fixture(autouse=True)
def _watchpoints(request):
    """Without them nothing sees what dot_four reads."""
    if "dot_four" in request.node.name:
        try:
            past_the_end(abs, np.float32([1]))
        except OSError as error:
            pytest.skip(str(error))


def of_op(name: str, *more):
    """A case in the worker that has the op's other cases: what they share is found once."""
    return pytest.param(name, *more, marks=pytest.mark.xdist_group(name))


@functools.cache
def found(ops, name: str, wanted: str) -> opcheck.Report:
    """What a check says of the op with the bug."""
    return check(ops, name, [wanted], buggy=True)


def check(ops, name: str, checks, buggy: bool = False) -> opcheck.Report:
    inputs, attrs = ops.SAMPLES[name]
    return opcheck.check(
        getattr(ops, f"buggy_{name}" if buggy else name),
        *inputs,
        reference=getattr(ops, f"{name}_reference", None),
        checks=checks,
        timeout=6 if name == "cycle_to" else 60,
        concurrency_seconds=10 if buggy else 1,  # time to meet the race
        **ops.OPTIONS.get(name, {}),
        **attrs,
    )


@pytest.mark.parametrize("name", [of_op(name) for name in CAUGHT])
def test_the_bug_is_caught(unseen_ops, name):
    wanted, words = CAUGHT[name]
    report = found(unseen_ops, name, wanted)
    assert report[wanted].verdict == "fail", str(report)
    assert report[wanted].line
    told = [one.explanation() for one in (report[wanted], *report[wanted].others)]
    assert any(words in " ".join(text.split()) for text in told), str(report)


@pytest.mark.parametrize(("name", "wanted"), [of_op(*line) for line in LINES])
def test_the_line_shows_the_failure(unseen_ops, name, wanted):
    result = found(unseen_ops, name, wanted)[wanted]
    assert missing(result.check, result.seen, result.line) == ""


@pytest.mark.parametrize("name", NOTED)
def test_the_bug_is_noted(unseen_ops, name):
    wanted, words = NOTED[name]
    report = check(unseen_ops, name, [wanted], buggy=True)
    assert words in report[wanted].detail


@pytest.mark.parametrize("name", [*CAUGHT, *NOTED])
def test_the_twin_is_not_blamed(unseen_ops, name):
    wanted, _ = (CAUGHT | NOTED)[name]
    result = check(unseen_ops, name, [wanted])[wanted]
    assert result.verdict != "fail", result.explanation()
    assert name not in NOTED or result.verdict == "pass"


def test_what_is_kept_is_told_once(unseen_ops):
    checks = ["reference", "determinism", "concurrency"]
    report = check(unseen_ops, "hann_window", checks, buggy=True)
    assert [one.check for one in report.failures] == checks
    assert str(report).count("  cause ") == 1


@pytest.mark.xdist_group("insert_axis")
def test_an_attr_that_the_call_leaves_out_is_varied(unseen_ops):
    [x], _ = unseen_ops.SAMPLES["insert_axis"]
    options = {"reference": unseen_ops.insert_axis_reference, "checks": "bad_input"}
    report = opcheck.check(unseen_ops.buggy_insert_axis, x, **options)
    assert report["bad_input"].detail == "axis = -1; 1 more: axis = -2"
    opcheck.check(unseen_ops.insert_axis, x, **options).assert_ok()
