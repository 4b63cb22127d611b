"""Drafts of MaskedMean and of ShiftRight, with their bugs: `pytest examples/opcheck`."""

import forked
import numpy as np
from keep_first_reference import shift_right_reference
from wrong_masked_mean import masked_mean_draft
from wrong_shift_right import shift_right

import opcheck

VALUES = np.float32([[5, 4, 3], [2, 1, 6]])
MASK = VALUES > 2


class TestWrongOnPurpose:
    """Ops that write where they must not: `make asan` and `make tsan` leave them out.

    The page finds the bugs of the drafts, one by one.
    """

    def test_the_line_that_reproduces_the_crash_of_the_draft(self):
        report = opcheck.check(masked_mean_draft, VALUES, MASK, checks=["empty"])
        run = forked.run(report["empty"].line)
        assert run.returncode == -6  # SIGABRT

    def test_the_bugs_of_the_exercise(self):
        checks = ["reference", "static_shape", "empty", "gradient", "bad_input"]
        options = {"places": 2, "reference": shift_right_reference}
        report = opcheck.check(shift_right, VALUES, checks=checks, **options)
        found = {result.check for result in report.failures}
        assert found == {"reference", "empty", "gradient", "bad_input"}
