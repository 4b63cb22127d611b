"""opcheck finds the one bug of each broken op, and nothing in its correct twin."""

import numpy as np
import pytest

import opcheck
from opcheck.strategies import calls, tensors

ROUND_TO_V1 = """
name: "{}"
input_arg {{ name: "values" type: DT_DOUBLE }}
output_arg {{ name: "rounded" type: DT_DOUBLE }}
"""
ROUND_TO_V2 = (
    ROUND_TO_V1 + 'attr {{ name: "digits" type: "int" default_value {{ i: 0 }} }}'
)

# The check, the broken ops that it must find, and words of the explanation.
CAUGHT = {
    "reference": {
        "row_sum_tail": "the sample call",
        "floor_mean_truncates": "-3 instead of -4",
        "bin_max_empty_bins": "not written",
        "distinct_count_bits": "0.0 and -0.0",
        "rank_order_unstable": "std::stable_sort",
        "log_of_one_and_tiny": "log1p",
    },
    "eager_vs_graph": {
        "reverse_matrix_static_size": "unknown rank",
        "prefix_sum_keeps_total": "the second call",
        "difference_forwarded": "owns its inputs",
    },
    "static_shape": {
        "every_second_row_rounding": "(2, 3)",
        "every_second_row_unknown_dim": "(0, 3)",
    },
    "dtypes": {
        "row_sum_single_precision": "float64",
        "row_sum_copied_line": "int64",
        "row_sum_no_kernel": "missing REGISTER_KERNEL_BUILDER",
    },
    "empty": {
        "reverse_last_scalar": "scalar",
        "floor_mean_no_columns": "SIGFPE",
    },
    "gradient": {
        "cube_factor": "first order",
        "cube_eager_only": "numpy",
        "cube_second_order": "second order",
        "take_rows_no_none": "None",
        "cube_rows": "tf.IndexedSlices",
        "cube_one_dtype": "a cast to one dtype",
        "squared_conjugate": "complex",
        "take_rows_zeros": "None",
    },
    "determinism": {
        "erf_sum_per_thread": "thread",
        "erf_sum_atomic": "thread",
        "bin_max_empty_bins": "not written",
        "next_sum_random": "SetIsStateful",
    },
    "bounds": {"next_sum_past_end": "a read past the end of an input"},
    "leaks": {
        "next_sum_open_file": "1 more after each call",
        "next_sum_leak": "bytes more after each call",
        "next_sum_leak_of_large": "bytes more after each call",
    },
    "concurrency": {
        "row_softmax_static": "static",
        "row_softmax_member": "member",
        "delayed_not_cancelled": "RegisterCallback",
        "prime_count_no_lock": "a global variable",
    },
    "immutability": {
        "sort_each_row_in_place": "input[0, 0]",
        "add_to_variable_in_place": "input 0[0, 0]",
    },
    "saved_model": {"look_up_by_id": "indices must be in [0, 0)"},
    "devices": {"prefix_sum_other_on_gpu": "GPU"},
    "vectorize": {"unit_sum_vectorized": "pfor rule"},
    "xla": {"doubled_xla": "jit_compile=True"},
    "bad_input": {
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
    },
    "schema": {
        "round_to_new_attr": "digits",
        "round_to_new_default": "digits",
    },
}
BY_CHANCE = {"bin_max_empty_bins", "prime_count_no_lock"}
# What is worth a note, and no more.
NOTED = {
    "static_shape": {"every_second_row_no_shape": "unknown"},
    "gradient": {"cube_first_order": "no second order is registered"},
    "schema": {"round_to_undocumented": "digits", "round_to_camel_case": "numDigits"},
}
OPTIONS = {
    "round_to": {"old_op_def": ROUND_TO_V1.format("RoundTo")},
    "round_to_new_attr": {"old_op_def": ROUND_TO_V1.format("BrokenRoundToNewAttr")},
    "round_to_new_default": {
        "old_op_def": ROUND_TO_V2.format("BrokenRoundToNewDefault")
    },
}
TWINS = [
    *("every_second_row", "reverse_last", "reverse_matrix", "row_sum", "floor_mean"),
    *("cube", "bin_max", "sort_each_row", "row_softmax", "erf_sum", "prefix_sum"),
    *("unit_sum", "look_up", "doubled", "take_rows", "scale_rows", "repeat_flat"),
    *("unit_histogram", "capitalize", "round_to", "next_sum", "difference"),
    *("row_arg_min", "twice", "axis_size", "each_nth", "delayed"),
    *("prime_count", "distinct_count", "rank_order", "log_of_one_and", "initials"),
    *("nesting", "group_max", "quotients", "dequantized", "squared"),
    *("boxed", "add_to_variable"),
]


def pairs(table: dict) -> list:
    """Each op with the check that it fails; all but the first of a check are slow."""
    return [
        pytest.param(
            *(check, name, words),
            id=f"{check}-{name}",
            marks=[pytest.mark.slow] * bool(number)
            + [pytest.mark.gpu] * (check == "devices"),
        )
        for check, names in table.items()
        for number, (name, words) in enumerate(names.items())
    ]


def twin_of(name: str) -> str:
    twin, *others = [twin for twin in TWINS if f"{name}_".startswith(f"{twin}_")]
    assert not others
    return twin


def check(ops, name: str, checks) -> opcheck.Report:
    """The report on a twin or on one of its broken variants."""
    twin = twin_of(name)
    inputs, attrs = ops.SAMPLES[twin]
    return opcheck.check(
        getattr(ops, name if name == twin else f"broken_{name}"),
        *inputs,
        reference=getattr(ops, f"{twin}_reference", None),
        checks=checks,
        **OPTIONS.get(name, {}),
        **attrs,
    )


@pytest.mark.parametrize(("name", "broken", "words"), pairs(CAUGHT))
def test_a_broken_op_is_caught(broken_ops, name, broken, words):
    # What an op does not write holds by chance, at times, what was expected, and a race may be lost.
    for _ in range(5 if broken in BY_CHANCE else 1):
        report = check(broken_ops, broken, [name])
        result = report[name]
        if result.verdict == "fail":
            break
    if name == "devices" and result.detail == "no GPU":
        pytest.skip("no GPU")
    assert result.verdict == "fail", str(report)
    assert result.expected and result.seen
    assert result.chapter
    assert words in result.explanation(), result.explanation()
    with pytest.raises(opcheck.OpCheckError, match=name):
        report.assert_ok()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "broken", "words"), pairs(NOTED))
def test_what_is_not_wrong_is_noted(broken_ops, name, broken, words):
    report = check(broken_ops, broken, [name])
    assert report.ok
    assert words in report[name].detail


@pytest.mark.slow
@pytest.mark.parametrize("twin", TWINS)
def test_the_correct_twin_passes(broken_ops, twin):
    """What its broken variants fail; the ops of the examples pass all checks."""
    tables = (*CAUGHT.items(), *NOTED.items())
    checks = {check for check, names in tables if twin in map(twin_of, names)}
    assert checks
    check(broken_ops, twin, checks).assert_ok()


def test_a_write_to_an_input_does_not_reach_the_sample(broken_ops):
    checks = ["eager_vs_graph", "immutability"]
    report = check(broken_ops, "sort_each_row_in_place", checks)
    detail = report["immutability"].detail
    assert detail.startswith("tensors of an eager call"), str(report)


def test_a_wait_of_a_moment_is_made_longer_and_cancelled(broken_ops):
    for name, verdict in (
        ("broken_delayed_not_cancelled", "fail"),
        ("delayed", "pass"),
    ):
        op = getattr(broken_ops, name)
        options = {"checks": "concurrency", "milliseconds": 20}
        found = opcheck.check(op, np.float32([1]), **options)["concurrency"]
        assert found.verdict == verdict, found.explanation()
        assert verdict == "pass" or "with milliseconds = " in found.detail


def test_to_wait_as_long_as_was_asked_for_is_not_to_hang(broken_ops):
    options = {"checks": "bad_input", "milliseconds": 20}
    found = opcheck.check(broken_ops.delayed, np.float32([1]), **options)["bad_input"]
    assert found.verdict == "note", found.explanation()
    assert "milliseconds = 65536: the larger it is" in found.detail


rows = tensors("float64", min_rank=2, max_rank=2)
STRATEGIES = {
    "row_sum": calls(tensors("int32", min_rank=2, max_rank=2, max_side=6)),
    "take_rows": calls(rows, tensors("int32", min_rank=1, max_rank=1)),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "smallest"),
    [
        ("row_sum_tail", 'tf.constant([1], "int32", shape=[1, 1])'),
        ("take_rows_unchecked", "tf.constant("),
    ],
)
def test_fuzzing_finds_the_smallest_failing_call(broken_ops, name, smallest):
    twin = twin_of(name)
    options = {
        "reference": getattr(broken_ops, f"{twin}_reference"),
        "seconds": 200,
    }
    broken = getattr(broken_ops, f"broken_{name}")
    report = opcheck.fuzz(broken, STRATEGIES[twin], examples=200, **options)
    assert report["fuzz"].verdict == "fail"
    # Where a call does not end the process, the line compares it with the reference's.
    assert f"broken_{name}" in report.line and smallest in report.line
    right = getattr(broken_ops, twin)
    report = opcheck.fuzz(right, STRATEGIES[twin], examples=30, **options)
    assert report.assert_ok().calls > report.errors


def test_every_broken_op_has_a_check(broken_ops):
    listed = {
        name for table in (CAUGHT, NOTED) for names in table.values() for name in names
    }
    broken = {name for name in dir(broken_ops) if name.startswith("broken_")}
    parts = {name for name in broken if name.endswith(("_grad", "_store_table"))}
    assert {f"broken_{name}" for name in listed} == broken - parts
