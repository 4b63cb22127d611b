"""The tables of the chapter on the stable ABI: from versions.csv and arm64.csv of bench/, and from the libraries."""

import shutil
import subprocess
import textwrap
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from measured import Row, grouped, number, read, text_of

EXAMPLES = Path(__file__).parents[2] / "examples"


def minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def carried(row: Row) -> bool:
    """Whether what was tried had been compiled for another version."""
    return minor(row["tensorflow"]) != minor(row["compiled_for"])


def outcome(row: Row | None) -> str:
    """In a few words."""
    if row is None:
        return "not run"
    passed, failed = int(row["passed"]), int(row["failed"])
    if failed:
        return f"{failed} of {passed + failed} fail"
    if passed:
        return "✓"
    if row["says"].startswith("needs "):
        return row["says"]
    return "does not load" if carried(row) else "does not build"


def tried() -> list[str]:
    """The examples of the table."""
    return sorted({row["example"] for row in read("versions").rows})


def minors() -> list[str]:
    """The versions of the table, the oldest first."""
    found = {minor(row["tensorflow"]) for row in read("versions").rows}
    return sorted(found, key=lambda name: int(name[2:]))


def names() -> list[str]:
    """The same as a heading shows them: a release candidate by its whole name."""
    whole = [row["tensorflow"] for row in read("versions").rows]
    candidates = {minor(name): name.replace("-", "") for name in whole if "rc" in name}
    return [candidates.get(name, name) for name in minors()]


def pythons() -> str:
    """Which Python each version ran on: the commonest, and the exceptions."""
    rows = [row for row in read("versions").rows if not carried(row)]
    found = {minor(row["tensorflow"]): minor(row["python"]) for row in rows}
    (usual, _), *_ = Counter(found.values()).most_common()
    others = [f"{name} on {found[name]}" for name in minors() if found[name] != usual]
    return ", ".join([f"Python {usual}", *others])


def compiled_for() -> str:
    """The version that libraries were compiled for before they were carried to others."""
    rows = filter(carried, read("versions").rows)
    [name] = {minor(row["compiled_for"]) for row in rows}
    return name


def matrix(examples: Sequence[str], here: bool) -> list[list[str]]:
    """The outcome of each example on each version: compiled here, or carried there from the newest one."""
    found = {
        (row["example"], minor(row["tensorflow"]), carried(row)): row
        for row in reversed(read("versions").rows)
    }
    there = {version: not here and version != compiled_for() for version in minors()}
    return [
        [f"`{name}`", *(outcome(found.get((name, *each))) for each in there.items())]
        for name in examples
    ]


def on_arm64() -> dict[str, int]:
    """How many examples compile for arm64, and of how many the tests were run and pass there."""
    rows = read("arm64").rows
    tested = [row for row in rows if row["passed"]]
    return {
        "compiled": sum(row["compiled"] == "yes" for row in rows),
        "tested": sum(row["failed"] == "0" for row in tested),
    }


def loader_says(example: str, version: str) -> str:
    """The loader's error about what was compiled for another version."""
    rows = filter(carried, read("versions").where(example=example))
    [row] = [each for each in rows if minor(each["tensorflow"]) == version]
    return textwrap.fill(row["says"].rpartition("Error: ")[2], 80)


def taken(library: str, part: str = "") -> str:
    """What a library, by its path in the book, takes from TensorFlow: the names with a part, as C++ spells them."""
    program = shutil.which("nm") or "nm"
    command = [program, "-D", "-C", "--undefined-only", EXAMPLES.parent / library]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    names = [line.strip().removeprefix("U ") for line in run.stdout.splitlines()]
    ours = "TF_", "tensorflow::", "absl::"
    shown = (name for name in names if part in name and name.startswith(ours))
    return textwrap.fill(", ".join(shown), 80)


WAYS = ["C++", "C API by hand", "stable_op.h"]


def price() -> list[list[str]]:
    """For each size: the microseconds of a node, by how its op is written."""
    sizes = grouped(read("stable_abi").rows, "elements")
    return [
        [f"{int(size):,}", *(text_of(row, "microseconds") for row in rows)]
        for (size,), rows in sizes.items()
    ]


def thread() -> str:
    """How many microseconds more a node takes that starts a thread and waits for it."""
    took = partial(read("stable_parallel").number, "milliseconds")
    return number((took(way="2 parts") - took(way="1 parts")) * 1e3)


def more(way: str) -> str:
    """How many microseconds more than in C++ a node of one element takes."""
    took = partial(read("stable_abi").number, "microseconds", elements="1")
    return number(took(way=way) - took(way="C++"))
