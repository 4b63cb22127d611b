"""opcheck finds the one bug of each broken op, and nothing in its correct twin."""

import importlib
import os
import re
import sys
from pathlib import Path
from types import ModuleType

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import pytest  # noqa: E402

import opcheck  # noqa: E402
from opcheck import function_of  # noqa: E402
from opcheck.strategies import calls, tensors  # noqa: E402

HERE = Path(__file__).parent / "broken_ops"
ROUND_TO_V1 = """
name: "{}"
input_arg {{ name: "values" type: DT_DOUBLE }}
output_arg {{ name: "rounded" type: DT_DOUBLE }}
"""
ROUND_TO_V2 = (
    ROUND_TO_V1 + 'attr {{ name: "digits" type: "int" default_value {{ i: 0 }} }}'
)

CHAPTERS = {page.stem for page in (Path(__file__).parents[3] / "docs").glob("*.md")}

# The check, the broken ops that it must find, and words of the explanation.
CAUGHT = {
    "reference": {
        "row_sum_tail": "the sample call",
        "floor_mean_truncates": "-3 instead of -4",
        "bin_max_empty_bins": "unwritten",
    },
    "eager_vs_graph": {
        "reverse_matrix_static_size": "unknown dimensions",
        "running_sum_keeps_total": "the second call",
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
        "take_rows_zeros": "None",
    },
    "determinism": {
        "erf_sum_per_thread": "thread",
        "erf_sum_atomic": "thread",
        "bin_max_empty_bins": "not written",
    },
    "concurrency": {
        "row_softmax_static": "static",
        "row_softmax_member": "member",
    },
    "immutability": {"sort_each_row_in_place": "input[0, 0]"},
    "saved_model": {"look_up_by_id": "indices must be in [0, 0)"},
    "devices": {"running_sum_other_on_gpu": "GPU"},
    "vectorize": {"unit_sum_vectorized": "pfor rule"},
    "xla": {"doubled_xla": "jit_compile=True"},
    "bad_input": {
        "reverse_last_rank_five": "rank",
        "take_rows_unchecked": "indices",
        "take_rows_unnamed": "value out of range",
        "take_rows_any_rank": "rows",
        "scale_rows_unchecked": "eager: a result; in a graph: ValueError",
        "repeat_flat_overflow": "times",
        "unit_histogram_nan": "NaN",
        "capitalize_fixed_buffer": "string",
    },
    "schema": {
        "round_to_undocumented": "digits",
        "round_to_camel_case": "numDigits",
        "round_to_new_attr": "digits",
        "round_to_new_default": "digits",
    },
}
# What is worth a note, and no more.
NOTED = {
    "static_shape": {"every_second_row_no_shape": "unknown"},
    "gradient": {"cube_first_order": "no second order is registered"},
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
    *("cube", "bin_max", "sort_each_row", "row_softmax", "erf_sum", "running_sum"),
    *("unit_sum", "look_up", "doubled", "take_rows", "scale_rows", "repeat_flat"),
    *("unit_histogram", "capitalize", "round_to"),
]


def pairs(table: dict) -> list:
    return [
        pytest.param(check, name, words, id=f"{check}-{name}")
        for check, names in table.items()
        for name, words in names.items()
    ]


@pytest.fixture(scope="session")
def ops() -> ModuleType:
    """The module of the ops, built first where that is not done."""
    sys.path.insert(0, str(HERE))
    importlib.import_module("build_broken_ops").build()
    return importlib.import_module("broken_ops")


def check(ops: ModuleType, twin: str, function: str, checks) -> opcheck.Report:
    inputs, attrs = ops.SAMPLES[twin]
    options = OPTIONS.get(function.removeprefix("broken_"), {})
    return opcheck.check(
        getattr(ops, function),
        *inputs,
        reference=getattr(ops, f"{twin}_reference", None),
        checks=checks,
        **options,
        **attrs,
    )


def test_no_op_has_the_name_of_an_examples(ops):
    """Tests of both may run in one process."""
    sources = (HERE.parents[3] / "examples").glob("*/*.cc")
    text = "\n".join(path.read_text() for path in sources)
    theirs = re.findall(r'REGISTER_\w+\(\s*"(\w+)"', text)
    assert len(theirs) > 50
    assert not {*ops.SAMPLES} & {*map(function_of, theirs)}


def twin_of(name: str) -> str:
    twin, *others = [twin for twin in TWINS if name.startswith(f"{twin}_")]
    assert not others
    return twin


@pytest.mark.parametrize(("name", "broken", "words"), pairs(CAUGHT))
def test_a_broken_op_is_caught(ops, name, broken, words):
    # What an op does not write holds by chance, at times, what was expected.
    for _ in range(5 if words == "unwritten" else 1):
        report = check(ops, twin_of(broken), f"broken_{broken}", [name])
        result = report[name]
        if result.verdict == "fail":
            break
    if name == "devices" and result.detail == "no GPU":
        pytest.skip("no GPU")
    assert result.verdict == "fail", str(report)
    assert result.expected and result.seen and result.cause
    assert result.chapter in CHAPTERS
    assert words in result.explanation(), result.explanation()
    with pytest.raises(opcheck.OpCheckError, match=name):
        report.assert_ok()


@pytest.mark.parametrize(("name", "broken", "words"), pairs(NOTED))
def test_what_is_not_wrong_is_noted(ops, name, broken, words):
    report = check(ops, twin_of(broken), f"broken_{broken}", [name])
    assert report.ok
    assert words in report[name].detail


@pytest.mark.parametrize("twin", TWINS)
def test_the_correct_twin_passes(ops, twin):
    """What its broken variants fail; the ops of the examples pass all checks."""
    tables = (*CAUGHT.items(), *NOTED.items())
    checks = {check for check, names in tables if twin in map(twin_of, names)}
    assert checks
    check(ops, twin, twin, checks).assert_ok()


def row_sum_calls():
    return calls(tensors("int32", min_rank=2, max_rank=2, max_side=6))


def take_rows_calls():
    rows = tensors("float64", min_rank=2, max_rank=2)
    return calls(rows, tensors("int32", min_rank=1, max_rank=1))


@pytest.mark.parametrize(
    ("broken", "strategy", "smallest"),
    [
        ("row_sum_tail", row_sum_calls(), 'tf.constant([1], "int32", shape=[1, 1])'),
        ("take_rows_unchecked", take_rows_calls(), "tf.constant("),
    ],
)
def test_fuzzing_finds_the_smallest_failing_call(ops, broken, strategy, smallest):
    twin = twin_of(broken)
    reference = getattr(ops, f"{twin}_reference")
    report = opcheck.fuzz(
        getattr(ops, f"broken_{broken}"),
        strategy,
        examples=200,
        seconds=200,
        reference=reference,
    )
    assert report["fuzz"].verdict == "fail"
    # Where a call does not end the process, the line compares it with the reference's.
    assert f"broken_{broken}" in report.line and smallest in report.line


@pytest.mark.parametrize(
    ("twin", "strategy"),
    [("row_sum", row_sum_calls()), ("take_rows", take_rows_calls())],
)
def test_fuzzing_a_correct_twin_finds_nothing(ops, twin, strategy):
    report = opcheck.fuzz(
        getattr(ops, twin),
        strategy,
        examples=30,
        seconds=200,
        reference=getattr(ops, f"{twin}_reference"),
    )
    report.assert_ok()
    assert report.calls > report.errors


def test_every_broken_op_has_a_check(ops):
    listed = {
        name for table in (CAUGHT, NOTED) for names in table.values() for name in names
    }
    broken = {
        name.removeprefix("broken_") for name in dir(ops) if name.startswith("broken_")
    }
    assert listed == broken
