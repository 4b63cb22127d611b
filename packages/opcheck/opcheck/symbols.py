"""Reads mangled C++ names: for which TensorFlow a library was compiled that asks for one.

explain.js does the same by the same rules.toml.
"""

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from opcheck.errors import table


@dataclass(frozen=True)
class Reading:
    """What a mangled name says of the library that holds it.

    Attributes:
      symbol: The mangled name.
      name: The function or the class, without the types of arguments.
      told: What is known: "absl", the date of Abseil; "abi", _GLIBCXX_USE_CXX11_ABI; "status", the namespace of Status.
      fits: The releases of TensorFlow whose wheels agree with all that is told, if anything is.
      says: The same in sentences.
    """

    symbol: str
    name: str
    told: dict[str, str]
    fits: tuple[str, ...]
    says: tuple[str, ...]


@functools.cache
def rules() -> dict:
    """The rules for mangled names, with the releases by which they are judged."""
    releases = table("releases")
    symbols = table("rules")["symbols"]
    tagged = "|".join(releases["tagged"])
    facts = [
        fact
        | {
            "values": [
                one | {"pattern": one["pattern"].replace("{tagged}", tagged)}
                for one in fact["values"]
            ]
        }
        for fact in symbols["facts"]
    ]
    rows = [
        {
            "minor": ".".join(row["version"].split(".")[:2]),
            **{fact["field"]: str(row.get(fact["field"], "")) for fact in facts},
        }
        for row in releases["release"]
    ]
    return symbols | {"facts": facts, "releases": rows}


def read(symbol: str, mac: bool = False) -> Reading:
    """Reads a mangled name, of macOS or of Linux."""
    name, plain = _parts(symbol)
    known, told, says = rules()["releases"], {}, []
    for fact in rules()["facts"]:
        if mac and fact.get("linux"):
            continue
        field = fact["field"]
        one, value = _value(fact, symbol, plain)
        if value:
            told[field] = value
            known = [row for row in known if row[field] == value]
            says.append(
                rules()[one["says"]] if "says" in one else _sentence(fact, value)
            )
    if not told:
        return Reading(symbol, name, told, (), (rules()["silent"],))
    if not all(fact.get("alone") for fact in rules()["facts"] if fact["field"] in told):
        if mac:
            says.append(rules()["on_mac"])
        else:
            says.append(rules()["fits"].format(releases=_listed(known)))
        if known[:1] == rules()["releases"][:1]:
            oldest = known[0]["minor"]
            says.append(rules()["earlier"].format(oldest=oldest))
    return Reading(symbol, name, told, tuple(x["minor"] for x in known), tuple(says))


def _value(fact: dict, symbol: str, plain: str) -> tuple[dict, str]:
    """The first way that finds a value, and the value."""
    for one in fact["values"]:
        if found := re.search(one["pattern"], plain if "plain" in one else symbol):
            return one, one.get("value") or found[1].replace("_", "")
    return {}, ""


def _sentence(fact: dict, value: str) -> str:
    releases, field = rules()["releases"], fact["field"]
    template = fact["says"]
    some = [row for row in releases if row[field] == value]
    if not some and "older" in fact:
        if value < releases[0][field]:
            template, some = fact["older"], releases[:1]
        elif value > releases[-1][field]:
            template, some = fact["newer"], releases[-1:]
    return template.format(value=value, releases=_listed(some))


def _listed(some: Sequence[dict]) -> str:
    """Neighbouring releases in words."""
    template = rules()[("none", "one", "two", "more")[min(len(some), 3)]]
    first, *_, last = [*some, *some] or rules()["releases"]
    return template.format(first=first["minor"], last=last["minor"])


def _parts(symbol: str) -> tuple[str, str]:
    """The name that a mangled one begins with, and the mangled one without all names of length and text."""
    special = rules()["special"].get(symbol[:4], "")
    token = re.compile(rules()["token"], re.ASCII)
    names, plain, leading = [], "", True
    at = 4 if special else 2
    while at < len(symbol):
        found = token.match(symbol, at)
        at = found.end()
        if found[1]:
            end = at + int(found[1])
            if leading and found[0] == found[1]:
                names.append(symbol[at:end])
            at, plain = end, f"{plain}#"
            continue
        if leading and names and re.match("C[123]|D[012]", found[0]):
            names.append(f"~{names[-1]}" if found[0][0] == "D" else names[-1])
        elif found[0] not in "NK":
            leading = False
        plain += found[0]
    shown = [name for name in names if not re.search(rules()["unnamed"], name)]
    return special + "::".join(shown), plain
