"""What pytest learns from opcheck: `op_test` marks its tests, `--opcheck-html` collects the reports.

pytest -m opcheck                       # only these tests
pytest --opcheck-html=reports           # a page for each op, in this folder
pytest --opcheck-fast                   # with fast=True, where op_test does not say it
"""

from pathlib import Path

import pytest

# What op_test gives `opcheck.check` where it is not told.
DEFAULTS: dict[str, bool] = {}
# Checks of which a note, too, fails the test: the option opcheck_no_notes.
NO_NOTES: set[str] = set()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options."""
    group = parser.getgroup("opcheck")
    group.addoption("--opcheck-html", metavar="FOLDER", help="write opcheck's reports")
    group.addoption(
        "--opcheck-fast", action="store_true", help="op_test with fast=True"
    )
    help_text = "checks of which a note, too, is a failure"
    parser.addini("opcheck_no_notes", help_text, type="args")


def pytest_configure(config: pytest.Config) -> None:
    """The marker, which op_test gives its tests, and what fails them."""
    DEFAULTS["fast"] = config.getoption("--opcheck-fast")
    NO_NOTES.update(config.getini("opcheck_no_notes"))
    config.addinivalue_line("markers", "opcheck: one check of an op, by opcheck")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Finds the tests that op_test has made."""
    for item in items:
        if hasattr(getattr(item, "function", None), "opcheck_report"):
            item.add_marker("opcheck")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo):
    """Writes the report of an op beside the verdict of its first test."""
    yield
    folder = item.config.getoption("--opcheck-html")
    report = getattr(getattr(item, "function", None), "opcheck_report", None)
    if call.when != "call" or report is None or not report.cache_info().currsize:
        return
    done = report()
    for failure in done.failures:
        if failure.check == getattr(item, "callspec", None).params["check_name"]:
            # JUnit's file has what the item knows when it is torn down.
            item.user_properties.append(("opcheck reproduce", failure.shown_line()))
    if folder:
        path = Path(folder) / f"{item.module.__name__}.{item.originalname}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(done.page(), encoding="utf-8")
