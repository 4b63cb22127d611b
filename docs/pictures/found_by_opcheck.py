"""The tables of the page on what opcheck found, and its calls, in processes that may die."""

import csv
import importlib.metadata
import re
import signal
import subprocess
import sysconfig
from collections.abc import Sequence
from pathlib import Path

import forked
from IPython.display import display
from measured import REPOSITORY, Row

WILD = Path(__file__).parents[2] / "packages" / "opcheck" / "wild"


def rows(name: str) -> list[Row]:
    """The rows of a table of `wild/`, without its first lines."""
    lines = (WILD / f"{name}.csv").read_text().splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def true_ones() -> list[Row]:
    """The findings that are faults of their library."""
    return [row for row in rows("findings") if row["true"] == "yes"]


def looked_at() -> tuple[list[str], list[list[object]]]:
    """Each library with what opcheck found in it by guesses or samples."""
    header = ["Library", "TensorFlow", "Ops called", "Accepted", "Checked"]
    header += ["With a fault", "Of these, crashes"]
    guessed = [one for one in true_ones() if one["call"] != "hand-written"]
    lines = []
    for row in rows("looked_at"):
        faults = [one for one in guessed if one["library"] == row["library"]]
        name = f"{row['library']} {row['version']}"
        report = WILD / "reports" / f"{row['library']}.md"
        if report.exists():
            name = f"[{name}]({REPOSITORY}/packages/opcheck/wild/reports/{report.name})"
        counts = (
            row["called"],
            row["accepted"],
            row["checked"],
            len({one["op"] for one in faults}),
            len({one["op"] for one in faults if one["kind"] == "crash"}),
        )
        lines.append([name, row["TensorFlow"], *counts])
    return header, lines


def findings() -> tuple[list[str], list[list[str]]]:
    """The faults, with what their calls give here, or gave when they were found if the library is not installed.

    Ops of a library whose calls end alike, for the same reason, share a row.
    """
    header = ["Library", "Ops", "Call", "What happens", "The call ends with"]
    found = true_ones()
    here = endings([row["line"] for row in found if _installed(row)])
    ops = {}
    for row in found:
        told = here.get(row["line"], row["ends with"]).splitlines()
        ends = "; then ".join(told[-2 if row["kind"] == "disagrees" else -1 :])
        shown = f"`{ends if len(ends) < 72 else ends[:69] + '…'}`"
        alike = (row["library"], row["call"], row["finding"], shown)
        ops.setdefault(alike, []).append(f"`{row['op']}`")
    return header, [
        [library, ", ".join(names), *rest] for (library, *rest), names in ops.items()
    ]


def show(op: str, output: bool = True) -> None:
    """Shows the call of a finding and, with `output`, how it ends.

    It ends here, if its library is installed, or else ended so when it was found.
    """
    (row,) = (one for one in true_ones() if one["op"] == op)
    ends = row["ends with"]
    if _installed(row):
        ends = endings([row["line"]])[row["line"]]
    call = row["line"].replace("; ", "\n")
    told = f"\n\n```text\n{ends}\n```" if output else ""
    _markdown(f"```python\n{call}\n```{told}")


def fix(library: str) -> None:
    """Shows the first C++ of the report to a library's maintainers."""
    report = (WILD / "reports" / f"{library}.md").read_text()
    _markdown(re.search(r"```c\+\+\n.*?\n```", report, re.DOTALL)[0])


def endings(lines: Sequence[str]) -> dict[str, str]:
    """From lines of Python to what each prints, or how its process ends."""
    at = f'library("{sysconfig.get_path("purelib")}/'
    return {
        line: _told(forked.run(_LINE, line.replace('library("', at))) for line in lines
    }


_LINE = """
import sys
import tensorflow as tf
try:
    exec(sys.argv[1], {"tf": tf})
except Exception as error:
    print(f"{type(error).__name__}: {error}".splitlines()[0])
"""


def _told(run: subprocess.CompletedProcess) -> str:
    if run.returncode >= 0:
        return run.stdout.strip()
    said = re.findall("Check failed: .*", run.stderr)
    return ": ".join([signal.Signals(-run.returncode).name, *said[-1:]])


def _installed(row: Row) -> bool:
    try:
        importlib.metadata.version(row["library"])
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _markdown(text: str) -> None:
    display({"text/markdown": text, "text/plain": text}, raw=True)
