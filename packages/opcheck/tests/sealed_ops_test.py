"""opcheck on 40 ops with one bug each, written by two authors who did not know it, before it met them.

`sealed/table.csv` has what came of the first run, with all checks and defaults, and the check that finds each bug now.
An op and its twin, the same code without the bug, end in `_bad` and `_good`; each has a process of its own.
"""

import csv
import json
from pathlib import Path

import forked
import pytest

pytestmark = pytest.mark.slow  # each check_*_test has its bugs
FOLDER = Path(__file__).with_name("sealed")
PROGRAM = """
import json, os, sys
folder, os.environ["SEALED_OPS"], name, kind, checks = sys.argv[1:]
sys.path.insert(0, folder)
import ops
import opcheck
report = opcheck.check(
    getattr(ops, f"{name}_{kind}"), *getattr(ops, f"{name}_args")(), attrs=ops.ATTRS.get(name, {}),
    reference=getattr(ops, f"{name}_reference", None), checks=checks.split(), raise_on_failure=False,
)
print(json.dumps([[one.check, one.verdict, one.explanation()] for one in report.results]))
"""


def rows() -> list[dict[str, str]]:
    lines = (FOLDER / "table.csv").read_text().splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


@pytest.fixture(scope="module")
def libraries(broken_ops) -> Path:
    """The folder of the libraries, built first where that is not done."""
    from build_broken_ops import BUILD, build

    return build(FOLDER, BUILD.with_name("sealed_ops"))


def checked(libraries: Path, row: dict[str, str], kind: str) -> list:
    """What the check that finds the bug says of the op or its twin: name, verdict and explanation."""
    group, name = row["op"].split("/")
    run = forked.run(PROGRAM, FOLDER / group, libraries, name, kind, row["now"])
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout.splitlines()[-1])


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["op"])
def test_the_bug_is_found_and_its_twin_passes(libraries, row):
    if row["now"] == "none":
        pytest.skip("not found")
    [(check, verdict, told)] = checked(libraries, row, "bad")
    assert verdict == "fail", check
    assert row["words"] in " ".join(told.split()), told
    [(check, verdict, told)] = checked(libraries, row, "good")
    assert verdict != "fail", told
