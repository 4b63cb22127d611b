"""Tests of KeepFirst and of the versions before it: `pytest examples/opcheck`."""

import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import strategies as st
from keep_first import keep_first
from keep_first_reference import keep_first_reference, shift_right_reference
from solution_shift_right import shift_right_repaired
from wrong_keep_first import keep_first_draft
from wrong_shift_right import shift_right

import opcheck
from opcheck.strategies import calls, tensors
from opcheck.testing import op_test

SAMPLE = np.float32([[5, 4, 3], [2, 1, 6]])
SAMPLES = {"inputs": [SAMPLE], "count": 2, "reference": keep_first_reference}
test_keep_first = op_test(keep_first, SAMPLE, count=2, reference=keep_first_reference)


def test_keep_first_survives_generated_calls():
    some = calls(tensors("float32"), count=st.integers(0, 9))
    opcheck.fuzz(
        keep_first, some, examples=1000, reference=keep_first_reference
    ).assert_ok()


def test_a_negative_count_is_refused(mode):
    with pytest.raises(
        (tf.errors.InvalidArgumentError, ValueError),
        match=r"(?i)attr 'count' of .*-1 (must be at least|less than) minimum 0",
    ):
        mode(keep_first)(SAMPLE, count=-1)


def failing(op, checks, **options):
    report = opcheck.check(op, SAMPLE, checks=checks, **options)
    return {result.check for result in report.failures}


test_the_solution_of_the_exercise = op_test(
    shift_right_repaired, SAMPLE, places=2, reference=shift_right_reference
)


class TestWrongOnPurpose:
    """Ops that write where they must not: `make asan` and `make tsan` leave them out.

    The page finds the bugs of the drafts, one by one.
    """

    def test_the_line_that_reproduces_the_crash_of_the_draft(self):
        report = opcheck.check(keep_first_draft, SAMPLE, count=2, checks=["empty"])
        line = [sys.executable, "-c", report["empty"].line]
        run = subprocess.run(line, capture_output=True)
        assert run.returncode == -11  # SIGSEGV

    def test_the_bugs_of_the_exercise(self):
        checks = ["reference", "static_shape", "empty", "gradient", "bad_input"]
        found = failing(shift_right, checks, places=2, reference=shift_right_reference)
        assert found == {"empty", "gradient", "bad_input"}
