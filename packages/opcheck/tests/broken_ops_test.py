"""Each check has ops that it must find, and finds nothing in their correct twins."""

import importlib

import pytest
from broken_twins import TWINS, check, twin_of

import opcheck
from opcheck.strategies import calls, tensors

# Each check has its file, with the ops that it finds and those that it notes.
FILES = [importlib.import_module(f"check_{name}_test") for name in opcheck.NAMES]
TABLES = [
    (name, table)
    for name, file in zip(opcheck.NAMES, FILES)
    for table in (file.CAUGHT, getattr(file, "NOTED", {}))
]


@pytest.mark.slow
@pytest.mark.parametrize("twin", TWINS)
def test_the_correct_twin_passes(broken_ops, twin):
    """What its broken variants fail; the ops of the examples pass all checks."""
    checks = {check for check, names in TABLES if twin in map(twin_of, names)}
    assert checks
    check(broken_ops, twin, checks).assert_ok()


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
    assert all(file.CAUGHT for file in FILES)
    listed = {name for _, table in TABLES for name in table}
    broken = {name for name in dir(broken_ops) if name.startswith("broken_")}
    parts = {name for name in broken if name.endswith(("_grad", "_store_table"))}
    # Of inputs that are too large for its sample: check_large_tensors_test has it.
    too_large = {"broken_each_nth_int_index"}
    assert {f"broken_{name}" for name in listed} == broken - parts - too_large
