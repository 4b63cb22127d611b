"""Tests of KeepFirst and of the versions before it: `pytest examples/opcheck`."""

import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import strategies as st
from keep_first import keep_first
from solution_shift_right import shift_right_repaired
from wrong_keep_first import (
    keep_first_bounded,
    keep_first_draft,
    keep_first_local,
    keep_first_shaped,
    keep_first_sloped,
)
from wrong_shift_right import shift_right

import opcheck
from opcheck.strategies import calls, tensors
from opcheck.testing import op_test


def reference(values, count=1):
    kept = np.zeros_like(values)
    kept.flat[:count] = values.flat[:count]
    return kept


SAMPLE = np.float32([[5, 4, 3], [2, 1, 6]])
SAMPLES = {"inputs": [SAMPLE], "count": 2, "reference": reference}
test_keep_first = op_test(keep_first, SAMPLE, count=2, reference=reference)


def test_keep_first_survives_generated_calls():
    some = calls(tensors("float32"), count=st.integers(0, 9))
    opcheck.fuzz(keep_first, some, examples=1000, reference=reference).assert_ok()


def test_a_negative_count_is_refused(mode):
    with pytest.raises(
        (tf.errors.InvalidArgumentError, ValueError),
        match=r"(?i)attr 'count' of .*-1 (must be at least|less than) minimum 0",
    ):
        mode(keep_first)(SAMPLE, count=-1)


def failing(op, checks, **options):
    report = opcheck.check(op, SAMPLE, checks=checks, **options)
    return {result.check for result in report.failures}


def shifted(values, places):
    padded = np.concatenate([np.zeros(places, values.dtype), values.reshape(-1)])
    return padded[: values.size].reshape(values.shape)


test_the_solution_of_the_exercise = op_test(
    shift_right_repaired, SAMPLE, places=2, reference=shifted
)


class TestWrongOnPurpose:
    """Ops that write where they must not: `make asan` and `make tsan` leave them out."""

    @pytest.mark.parametrize(
        ("op", "bugs"),
        [
            (keep_first_draft, "static_shape empty gradient bad_input schema"),
            (keep_first_shaped, "empty gradient bad_input schema"),
            (keep_first_bounded, "gradient bad_input schema"),
            (keep_first_sloped, "bad_input schema"),
            (keep_first_local, ""),
        ],
    )
    def test_each_draft_has_one_bug_less(self, op, bugs):
        checks = ["static_shape", "empty", "gradient", "bad_input", "schema"]
        assert failing(op, checks, count=2, reference=reference) == set(bugs.split())

    def test_a_pointer_that_calls_share_is_caught(self):
        options = {"count": 2, "concurrency_seconds": 3}
        checks = ["concurrency"]
        assert any(failing(keep_first_sloped, checks, **options) for _ in range(3))

    def test_the_line_that_reproduces_the_crash_of_the_draft(self):
        report = opcheck.check(keep_first_draft, SAMPLE, count=2, checks=["empty"])
        line = [sys.executable, "-c", report["empty"].line]
        run = subprocess.run(line, capture_output=True)
        assert run.returncode == -11  # SIGSEGV

    def test_fuzzing_finds_the_bug_of_the_last_draft(self):
        some = calls(tensors("float32"), count=st.integers(0, 9))
        report = opcheck.fuzz(keep_first_local, some, examples=300, reference=reference)
        assert not report.ok
        assert report.line.endswith(
            'keep_first_local(tf.constant(1.0, "float32"), count=0))'
        )

    def test_the_bugs_of_the_exercise(self):
        checks = ["reference", "static_shape", "empty", "gradient", "bad_input"]
        found = failing(shift_right, checks, places=2, reference=shifted)
        assert found == {"empty", "gradient", "bad_input"}
