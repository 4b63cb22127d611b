"""The cells of a page: none passes that fails, and readers see all that the visible ones use."""

import json
import re
import subprocess
import sys

import nbformat
from page_source import Block, Page, pages, report

TAGS = {"guard", "hide-input", "remove-cell", "remove-input", "varies"}
TIMERS = re.compile(r"%time\w*|\b(?:perf_counter\w*|timeit|time\.time|monotonic)\b")
SWALLOWED = re.compile(r"\|\|\s*(?:true\b|:(?=\s|$))|\bset \+e\b|;\s*true\b")
# What docs/support/start.py and IPython give to all cells.
GIVEN = "record table printed see_gpus display get_ipython _".split()
# Checks that cannot fail, and comparisons that nobody looks at.
RULES = "B011,B015,B017,B018,F5,F6,F7,PLE,PLR0124,PT011,PT014,PT015,SIM22"


def problems_of(cell: Block) -> list[str]:
    """What makes a failing cell pass, or another one on another machine."""
    text, found = cell.text, []
    if command := re.search(r"^\s*!.*", text, re.M):
        found.append(
            f"`{command[0].strip()}` passes when it fails: use a cell of %%bash -e"
        )
    for magic in re.findall(r"^%%(?:bash|sh)\b.*", text, re.M):
        if not re.search(r" -\w*e", magic):
            found.append(f"only the last command of {magic} counts: add -e")
        if "pipefail" not in magic and re.search(r"(?<!\|)\|(?!\|)", text):
            found.append("what fails before a bar passes: add -o pipefail to %%bash -e")
        if swallowed := SWALLOWED.search(text):
            found.append(f"`{swallowed[0]}` makes a failing command pass: leave it out")
    for tag in sorted({*cell.tags} - TAGS):
        cure = "pytest.raises" if tag == "raises-exception" else f"one of {TAGS}"
        found.append(f"the tag {tag} lets a cell fail or skips it: use {cure}")
    if cell.text.startswith("---"):
        found.append("options between dashes: write them as `:tags: […]`")
    if timer := TIMERS.search(text):
        what = f"{timer[0]} gives another number in each run"
        found.append(f"{what}: measure in bench/ and show the table")
    return found


@pages
def test_a_cell_that_fails_fails_the_page(page):
    if "mystnb" in page.front:
        report([f"{page.at(1)}: mystnb: in the front matter skips cells: leave it out"])
    report(
        f"{page.at(cell.line)}: {problem}"
        for cell in page.cells
        for problem in problems_of(cell)
    )


def ruff(page: Page, cells: list[Block], rules: str) -> list[str]:
    """What ruff says of cells, which it reads as a notebook, with their places on the page."""
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(cell.text) for cell in cells]
    )
    options = ["--isolated", f"--select={rules}", "--output-format=json"]
    options += ["--config", f"builtins = {GIVEN}"]
    run = subprocess.run(
        [sys.executable, "-m", "ruff", "check", *options, "--stdin-filename=x.ipynb"],
        input=nbformat.writes(notebook),
        capture_output=True,
        text=True,
    )
    assert run.returncode < 2, run.stderr
    found = {
        (cells[each["cell"] - 1].line, each["message"])
        for each in json.loads(run.stdout)
    }
    return [f"{page.at(line)}: {message}" for line, message in sorted(found)]


@pages
def test_a_check_of_a_cell_can_fail(page):
    report(ruff(page, page.cells, RULES))


@pages
def test_readers_see_where_a_name_comes_from(page):
    visible = [
        cell
        for cell in page.cells
        if not {"remove-cell", "remove-input"} & {*cell.tags}
    ]
    report(
        f"{problem}: import or define it in a cell that readers see"
        for problem in ruff(page, visible, "F821")
    )
