"""Reads mangled C++ names: for which TensorFlow a library was compiled that asks for one.

docs/_static/explain.js does the same on the page docs/errors.md.
"""

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from opcheck.errors import tomllib

MANGLED = r"_Z(?=\w*(?:10tensorflow|4absl|3tsl|3xla))\w{4,}"
_SPECIAL = {"TV": "vtable for ", "TI": "typeinfo for ", "TS": "typeinfo name for "}


@dataclass(frozen=True)
class Reading:
    """What a mangled name says of the library that holds it.

    Attributes:
      symbol: The name.
      name: The function or the class, without the types of arguments.
      abi: _GLIBCXX_USE_CXX11_ABI, or None where the name does not tell.
      absl: The date of Abseil, for example "20250814", or "".
      fits: The releases of TensorFlow whose wheels agree with all that the name says, if it says anything.
      says: The same in sentences.
    """

    symbol: str
    name: str
    abi: int | None
    absl: str
    fits: tuple[str, ...]
    says: tuple[str, ...]


def read(symbol: str) -> Reading:
    """Reads a mangled name."""
    table = releases()
    name, plain = _parts(symbol)
    abi = None
    if re.search(r"7__cxx11|B5cxx11", symbol):
        abi = 1
    elif "Ss" in plain or _untagged(symbol, table["tagged"]):
        abi = 0
    found = re.search(r"12lts_(\d{8})|14lts_(\d{4}_\d\d_\d\d)", symbol)
    absl = (found[1] or found[2]).replace("_", "") if found else ""
    rows = table["release"]
    dated = [row for row in rows if row["absl"] == absl]
    same = [row for row in rows if row["abi"] == abi]
    space = _status(symbol)
    classes = [row for row in rows if row["status"] == space]
    told = {"abi": abi, "absl": absl or None, "status": space or None}
    known = [row for row in rows if all(v in (None, row[k]) for k, v in told.items())]
    says = []
    if absl:
        date = f"{absl[:4]}-{absl[4:6]}-{absl[6:]}"
        says.append(f"Abseil of {date}: {_dated(dated, absl, rows)}.")
    if abi is not None:
        wheels = _wheels(same, rows)
        says.append(f"Compiled with _GLIBCXX_USE_CXX11_ABI={abi}, {wheels}.")
    if space:
        wheels = _wheels(classes, rows)
        says.append(f"tensorflow::Status is {space}::Status, {wheels}.")
    if says:
        what = listed(known) if known else f"no wheel from {_span(rows)}"
        says.append(f"To judge by this name, the library was compiled for {what}.")
    else:
        says.append(
            "Neither Abseil nor std::string is in this name: it does not tell for which TensorFlow it is."
        )
    fits = tuple(_minor(row) for row in known) if says[1:] else ()
    return Reading(symbol, name, abi, absl, fits, tuple(says))


@functools.cache
def releases() -> dict:
    """The table that tools/releases.py makes."""
    path = Path(__file__).with_name("releases.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))


def listed(some: Sequence[dict]) -> str:
    """For example "TensorFlow 2.12", "TensorFlow 2.12 and 2.13", "TensorFlow 2.16 to 2.19"; the rows are neighbours."""
    if len(some) < 3:
        return f"TensorFlow {' and '.join(map(_minor, some))}"
    return f"TensorFlow {_minor(some[0])} to {_minor(some[-1])}"


def _wheels(some: Sequence[dict], rows: Sequence[dict]) -> str:
    if some:
        return f"as in the wheels of {listed(some)}"
    return f"as in no wheel from {_span(rows)}"


def _span(rows: Sequence[dict]) -> str:
    return f"TensorFlow {_minor(rows[0])} to {_minor(rows[-1])}"


def _minor(row: dict) -> str:
    return ".".join(row["version"].split(".")[:2])


def _dated(dated: Sequence[dict], absl: str, rows: Sequence[dict]) -> str:
    if dated:
        return f"that of {listed(dated)}"
    later = [row for row in rows if row["absl"] > absl]
    if len(later) == len(rows):
        return f"older than that of TensorFlow {_minor(rows[0])}"
    if not later:
        return f"newer than that of TensorFlow {_minor(rows[-1])}"
    return f"that of no wheel from {_span(rows)}"


def _status(symbol: str) -> str:
    """The namespace of the class Status in a name, or ""; S_ stands for the namespace with which a name begins."""
    absl = r"10tensorflow\w*4absl(?:12lts_\d{8}|14lts_\d{4}_\d\d_\d\d)?"
    for space, mangled in {
        "tensorflow": "10tensorflow",
        "tsl": "3tsl",
        "absl": absl,
    }.items():
        if re.search(rf"{mangled}6Status\D|^_ZNK?{mangled}\w*NS_6Status\D", symbol):
            return space
    return ""


def _untagged(symbol: str, tagged: Sequence[str]) -> bool:
    """Whether a name is that of a function which returns a std::string, without the tag of the new one."""
    return any(symbol.startswith(f"{name}E") for name in tagged)


def _parts(symbol: str) -> tuple[str, str]:
    """The name that a mangled one begins with, and the mangled one without all names of length and text."""
    special = re.match(r"_ZT[VIS]", symbol)
    names, plain, leading = [], "", True
    at = 4 if special else 2
    while at < len(symbol):
        token = re.match(
            r"B?(\d+)|S[0-9A-Z]*_|S[absiod]|T\d*_|L[a-z]n?\d+E|A\d+_|[CD]\d|.",
            symbol[at:],
        )
        at += len(token[0])
        if token[1]:
            length = int(token[1])
            if leading and token[0][0] != "B":
                names.append(symbol[at : at + length])
            at += length
            plain += "#"
            continue
        if leading and token[0] in ("C1", "C2", "C3") and names:
            names.append(names[-1])
        elif leading and token[0] in ("D0", "D1", "D2") and names:
            names.append(f"~{names[-1]}")
        elif token[0] not in ("N", "K"):
            leading = False
        plain += token[0]
    name = "::".join(name for name in names if not name.startswith("lts_"))
    return (_SPECIAL[special[0][2:]] if special else "") + name, plain
