"""Tests everything that a TensorFlow op promises.

import opcheck
report = opcheck.check(zero_out, [1.0, 2.0], reference=…)
print(report)
report.assert_ok()
"""

from opcheck.compare import tolerance
from opcheck.registry import CHECKS, NAMES
from opcheck.report import Findings, OpCheckError, Report, Result, Skip
from opcheck.run import check
from opcheck.samples import Sample
from opcheck.source import function_of

__all__ = [
    "CHECKS",
    "NAMES",
    "Findings",
    "OpCheckError",
    "Report",
    "Result",
    "Sample",
    "Skip",
    "check",
    "function_of",
    "fuzz",
    "tolerance",
]


def fuzz(*arguments, **options):
    """See `opcheck.fuzzing.fuzz`. It alone needs Hypothesis."""
    import opcheck.strategies  # noqa: F401  says so where Hypothesis is missing
    from opcheck.fuzzing import fuzz as run

    return run(*arguments, **options)
