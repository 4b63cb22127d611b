"""An op's tests in a few lines of pytest.

    from opcheck.testing import op_test

    test_zero_out = op_test(zero_out, np.float32([3, 4]), reference=reference)

makes one test of each check.
"""

import functools
import importlib.util
from collections.abc import Callable

from opcheck.arguments import check_names, choose
from opcheck.run import check


def op_test(
    op: Callable, *inputs, checks=None, skip=None, extra=(), **options
) -> Callable:
    """A test function for pytest, with a parameter for each check.

    The checks of an op run together, when the first of its tests does; pytest-xdist keeps them
    in one process. Without a reference the test of `reference` fails, since no other one tests values:
    where there is none, `skip={"reference": "why"}` says so.

    Args:
      op: As for `opcheck.check`, and so are all others.
      *inputs: The sample.
      checks: The names of the checks to run; all if None.
      skip: From the names of those not to run to the reason.
      extra: Checks of one's own.
      **options: The options and the op's attrs.
    """
    import pytest

    from opcheck.plugin import DEFAULTS, NO_NOTES

    names = check_names(extra)
    chosen, reasons = choose(checks, skip, names)
    missing = "reference" in chosen and not options.get("reference")

    @functools.cache
    def report():
        given = {**DEFAULTS, **options}
        return check(op, *inputs, checks=checks, skip=skip, extra=extra, **given)

    @pytest.mark.parametrize(
        "check_name", [name for name in names if name in (*chosen, *reasons)]
    )
    def test(check_name: str) -> None:
        if missing and check_name == "reference":
            pytest.fail(
                f"{getattr(op, '__name__', op)} has no reference: give op_test reference=…, or "
                "skip={'reference': 'why there is none'}",
                pytrace=False,
            )
        try:
            result = report()[check_name]
        except ValueError as error:  # of the arguments, so each test has it
            pytest.fail(f"op_test: {error}", pytrace=False)
        if result.verdict == "skip":
            pytest.skip(result.detail)
        if result.verdict == "fail":
            pytest.fail(result.explanation(), pytrace=False)
        if result.verdict == "note" and check_name in NO_NOTES:
            pytest.fail(f"{check_name}: {result.detail}", pytrace=False)

    test.opcheck_report = report
    if importlib.util.find_spec("xdist"):
        group = f"{getattr(op, '__module__', '')}.{getattr(op, '__name__', '')}"
        test = pytest.mark.xdist_group(group)(test)
    return test
