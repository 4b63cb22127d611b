"""opcheck on 40 ops with one bug each, written by two authors who did not know it, before it met them.

`sealed/table.csv` has what came of the first run, with all checks and defaults, and the check that finds each bug now.
An op and its twin, the same code without the bug, are registered under one name: each has a process of its own.
"""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # each check_*_test has its bugs
FOLDER = Path(__file__).with_name("sealed")
PROGRAM = """
import importlib, json, sys
import opcheck
name, checks = sys.argv[1:]
module = importlib.import_module(name)
inputs, attrs = module.sample()
report = opcheck.check(
    module.op, *inputs, attrs=attrs, reference=getattr(module, "reference", None), checks=checks.split(),
    raise_on_failure=False,
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


def checked(libraries: Path, folder: Path, row: dict[str, str], kind: str) -> list:
    """What the check that finds the bug says of the op or its twin: name, verdict and explanation."""
    group, name = row["op"].split("/")
    library = libraries / f"lib{group}_{name}_{kind}.so"
    module = f"{name}_{kind}"
    source = (FOLDER / group / f"{name}.py").read_text()
    (folder / f"{module}.py").write_text(f"{source}\n\nop = load({str(library)!r})\n")
    paths = [folder, *sys.path]
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, module, row["now"]],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout.splitlines()[-1])


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["op"])
def test_the_bug_is_found_and_its_twin_passes(libraries, tmp_path, row):
    if row["now"] == "none":
        pytest.skip("not found")
    [(check, verdict, told)] = checked(libraries, tmp_path, row, "bug")
    assert verdict == "fail", check
    assert row["words"] in " ".join(told.split()), told
    [(check, verdict, told)] = checked(libraries, tmp_path, row, "twin")
    assert verdict != "fail", told
