"""Tests everything that a TensorFlow op promises.

import opcheck
report = opcheck.check(zero_out, [1.0, 2.0], reference=…)
print(report)
report.assert_ok()
"""

from opcheck.findings.compare import tolerance
from opcheck.findings.report import Findings, OpCheckError, Report, Result, Skip
from opcheck.findings.source import function_of
from opcheck.inputs.samples import Sample
from opcheck.registry import CHECKS, NAMES
from opcheck.run import check

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
