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
from IPython.display import HTML, display
from measured import REPOSITORY, Row, grouped
from pictures.anchors import tables_beside
from pictures.filtered import filtered

KINDS = ["crash", "hang", "wrong", "disagrees", "error"]  # the worst first
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
    guessed = [one for one in true_ones() if one["call"] != "hand-written"]
    lines = []
    for row in rows("looked_at"):
        faults = [one for one in guessed if one["library"] == row["library"]]
        crashes = [one for one in faults if one["kind"] == "crash"]
        name = f"{row['library']} {row['version']}"
        report = WILD / "reports" / f"{row['library']}.md"
        if report.exists():
            name = f"[{name}]({REPOSITORY}/packages/opcheck/wild/reports/{report.name})"
        counts = (len({one["op"] for one in some}) for some in (faults, crashes))
        lines.append([name, row["TensorFlow"], row["called"], *counts])
    header = ["Library", "TensorFlow", "Ops called", "With a fault"]
    return [*header, "Of these, crashes"], lines


def mistakes() -> tuple[list[str], list[list[object]]]:
    """What the kernels do not check: how many faults come of it, and what prevents them, from the text beside."""
    header = ["Mistake", "Faults", "Of these, crashes", "What prevents it"]
    found, lines = grouped(true_ones(), "mistake"), []
    for mistake, told, cure in tables_beside(__file__)["mistakes"]:
        faults = found.pop((mistake,))
        crashes = sum(one["kind"] == "crash" for one in faults)
        lines.append([told, len(faults), crashes, cure])
    if found:
        raise ValueError(f"found_by_opcheck.txt does not tell of {[*found]}")
    return header, sorted(lines, key=lambda line: -line[1])


def findings() -> HTML:
    """The faults, to be filtered: TensorFlow's first, and of each library the worst first.

    How a call ends is seen here if its library is installed, or was when it was found.
    """
    found = true_ones()
    here = endings([row["line"] for row in found if _installed(row)])
    places = list(dict.fromkeys(row["library"] for row in found))
    places.sort(key=lambda library: library != "tensorflow-cpu")
    found.sort(key=lambda row: (places.index(row["library"]), KINDS.index(row["kind"])))
    lines = []
    for row in found:
        ends = re.match("SIG[A-Z]+", here.get(row["line"], row["ends with"]))
        by_signal = f" ({ends[0]})" if ends and row["kind"] == "crash" else ""
        told = f"{row['library']}: {row['finding']}{by_signal}"
        lines.append((row["op"], told, row["line"]))
    header, label = ["Op", "What happens", "Call"], "Filter by op, library or words"
    table = filtered(header, lines, label).data
    summary = "<summary>Every fault, with its call</summary>"
    return HTML(f"<details>{summary}{table}</details>")


def show(op: str) -> None:
    """Shows the call of a finding and how it ends.

    It ends here, if its library is installed, or else ended so when it was found.
    """
    (row,) = (one for one in true_ones() if one["op"] == op)
    ends = row["ends with"]
    if _installed(row):
        ends = endings([row["line"]])[row["line"]]
    call = row["line"].replace("; ", "\n")
    _markdown(f"```python\n{call}\n```\n\n```text\n{ends}\n```")


def fix(library: str) -> None:
    """Shows the first C++ of the report to a library's maintainers."""
    report = (WILD / "reports" / f"{library}.md").read_text()
    _markdown(re.search(r"```c\+\+\n.*?\n```", report, re.DOTALL)[0])


def endings(lines: Sequence[str]) -> dict[str, str]:
    """From lines of Python to what each prints, or how its process ends."""
    at = f'library("{sysconfig.get_path("purelib")}/'
    placed = (line.replace('library("', at) for line in lines)
    return {line: _told(forked.run(_LINE, here)) for line, here in zip(lines, placed)}


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
