"""Tests everything that a TensorFlow op promises.

import opcheck
report = opcheck.check(zero_out, [1.0, 2.0], reference=…)
print(report)
report.assert_ok()
"""

from opcheck.report import OpCheckError, Report, Result
from opcheck.run import NAMES, check
from opcheck.samples import Sample

__all__ = ["NAMES", "OpCheckError", "Report", "Result", "Sample", "check", "fuzz"]


def fuzz(*arguments, **options):
    """See `opcheck.fuzzing.fuzz`. It alone needs Hypothesis."""
    from opcheck.fuzzing import fuzz as run

    return run(*arguments, **options)
