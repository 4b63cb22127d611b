"""Finds the messages of the table in a log: `python -m opcheck explain build.log`, or through a pipe.

The page docs/errors.md does the same in docs/_static/explain.js, and a test compares the two. Either looks for the
fixed words of a pattern first, in the text without any white space, and for the pattern itself only around them: then
lines may be wrapped anywhere, and 100,000 of them take little time.
"""

import argparse
import bisect
import functools
import os
import re
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from opcheck.errors import Entry, entries
from opcheck.symbols import MANGLED, Reading, read, releases

SITE = "https://op-by-op.github.io/op-by-op/"
REPORT = "https://github.com/op-by-op/op-by-op/issues/new?title=An+error+that+is+not+in+the+list"
SHOWN = 5  # entries
_AROUND = 8  # lines before and after a pattern's fixed words, of its message
_TRIES = 300  # places to look at for one pattern
_LONGEST = 500  # characters of a line that belong together
_READ = 3  # mangled names
_WIDTH = 100

# What a terminal, a notebook, a test runner or a log of many machines puts into a line or before it.
ESCAPES = (
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b.|\[[0-9;]{1,9}m"
)
BROKEN = r"â€[˜™]|\xe2\x80[\x98\x99]|\\xe2\\x80\\x9[89]|\\(?=['\"])"  # quotes that were
BREAK = r"\\[nrt](?![\w.-]*[\\/])"  # as text, and not in a path of Windows
DIED = (
    "Segmentationfault|Buserror|Illegalinstruction|Floatingpointexception|coredumped"
    "|SIG(?:SEGV|BUS|ILL|FPE|ABRT)"
)
QUOTES, DOUBLE = "‘’‛´`", "“”"
BLANK = [
    range(10),
    range(11, 32),
    range(0x7F, 0x85),
    range(0x86, 0xA1),
    range(0x2000, 0x2010),
]
BLANK += [range(0x2028, 0x2030), range(0x205F, 0x2060), [0x3000], [0xFEFF]]
PREFIX = (
    r"^(?: ?(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,\d]*Z?:?|E(?=  )|>|\||#\d+ \d+\.\d+|[\w.-]{1,40} +\|(?! )"
    r"|[\w.-]{1,40} +\| |\[\d+,\d+\]<std\w+>:|(?:In|Out) ?\[\d*\]:|\.{3,6}:|-+> ?\d+))+ "
)
_PLAIN = {
    **dict.fromkeys(map(ord, QUOTES), "'"),
    **dict.fromkeys(map(ord, DOUBLE), '"'),
    **{code: " " for codes in BLANK for code in codes},
}


@dataclass(frozen=True)
class Found:
    """An entry of the table that a text holds.

    Attributes:
      entry: The entry.
      line: The number of the line, from 1, where its message first begins.
      text: The message as it is there, its lines joined.
      times: How often it is there, as far as one has looked.
      follows: The ids of the found entries of which it is a consequence.
    """

    entry: Entry
    line: int
    text: str
    times: int
    follows: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Explanation:
    """What a text holds that is known.

    Attributes:
      found: The entries: causes before what follows from them, else in the order of the text.
      read: The first mangled names of TensorFlow and Abseil.
      died: Whether nothing is found, and a process has died.
    """

    found: list[Found]
    read: list[Reading]
    died: bool


def explain(text: str) -> Explanation:
    """Finds the messages of the table in a text, and reads its mangled names.

    Of patterns that match in the same place, the one with the most fixed words counts.
    """
    log = _Log(text)
    found = _found(log)
    died = not found and re.search(DIED, log.solid) is not None
    return Explanation(found, [read(name) for name in log.mangled()], died)


def _found(log: "_Log") -> list[Found]:
    matches = sorted(
        (match for rule in rules() for match in log.matches(rule)),
        key=lambda match: (-match.rule["weight"], match.start),
    )
    taken: list[tuple[int, int]] = []
    first: dict[str, _Match] = {}
    times: dict[str, int] = {}
    for match in matches:
        at = bisect.bisect(taken, (match.start, match.end))
        before = taken[at - 1][1] > match.start if at else False
        if before or (at < len(taken) and taken[at][0] < match.end):
            continue
        taken.insert(at, (match.start, match.end))
        name = match.rule["id"]
        times[name] = times.get(name, 0) + 1
        if name not in first or match.start < first[name].start:
            first[name] = match
    causes = {name: _causes(first, name) for name in first}
    order = sorted(first, key=lambda name: (bool(causes[name]), first[name].start))
    return [
        Found(
            entries()[name],
            first[name].line,
            first[name].text,
            times[name],
            causes[name],
        )
        for name in order
    ]


def _causes(found: dict[str, "_Match"], name: str) -> tuple[str, ...]:
    """The found entries from which one follows; those that follow from anything are the cause of nothing."""
    rule = found[name].rule
    if "*" in rule["follows"]:
        named = [one for one in found if "*" not in found[one].rule["follows"]]
    else:
        named = [one for one in rule["follows"] if one in found]
    return tuple(sorted(set(named) - {name}, key=lambda one: found[one].start))


@dataclass(frozen=True)
class _Match:
    rule: dict
    start: int  # in the text without white space
    end: int
    line: int
    text: str


class _Log:
    """A text as its lines, cleaned, and as one string without white space."""

    def __init__(self, text: str):
        text = re.sub(ESCAPES, "", text.replace("\r\n", "\n"))
        if re.search(r"[\\â]", text):
            text = re.sub(BREAK, " ", re.sub(BROKEN, "'", text), flags=re.A)
        self.numbers, self.widths, self.lines = [], [], []
        for number, line in enumerate(text.split("\n"), 1):
            if "`" in line or not (line.isascii() and line.isprintable()):
                line = line.translate(_PLAIN)
            for at in range(0, max(len(line), 1), _LONGEST):
                piece = line[at : at + _LONGEST]
                self.numbers.append(number)
                self.widths.append(len(piece))
                if "  " in piece:
                    piece = re.sub("  +", " ", piece)
                self.lines.append(re.sub(PREFIX, "", piece, flags=re.A))
        solid = [line.replace(" ", "") for line in self.lines]
        self.starts = [0]
        for line in solid:
            self.starts.append(self.starts[-1] + len(line))
        self.solid = "".join(solid)

    def matches(self, rule: dict) -> Iterator[_Match]:
        """Where a pattern matches, wherever lines are wrapped."""
        seen = set()
        for needs in rule["needs"]:
            key = max(needs, key=len)
            at = -1
            tries = 0
            while tries < _TRIES and (at := self.solid.find(key, at + 1)) >= 0:
                line = bisect.bisect_right(self.starts, at) - 1
                first, last = (
                    max(0, line - _AROUND),
                    min(len(self.lines), line + _AROUND + 1),
                )
                near = self.starts[first], self.starts[last]
                if any(self.solid.find(need, *near) < 0 for need in needs):
                    continue
                tries += 1
                match = self._match(rule, first, last, at, at + len(key))
                if match and match.start not in seen:
                    seen.add(match.start)
                    yield match
                    at = max(at, match.end - 1)

    def _match(
        self, rule: dict, first: int, last: int, start: int, end: int
    ) -> _Match | None:
        """The match around some fixed words, with lines joined in one of three ways."""
        for way in ("\n", " ", ""):
            text = self._joined(first, last, way)
            for found in re.finditer(rule["pattern"], text, re.A):
                low = self.starts[first] + _solid(text[: found.start()])
                high = low + _solid(found[0])
                if low < end and start < high:
                    line = bisect.bisect_right(self.starts, low) - 1
                    upto = bisect.bisect_left(self.starts, high)
                    shown = " ".join(self._joined(line, upto, way).split())
                    return _Match(rule, low, high, self.numbers[line], shown)
        return None

    def mangled(self) -> list[str]:
        """The first mangled names of TensorFlow and Abseil."""
        names: dict[str, None] = {}
        for i, line in enumerate(self.lines):
            if len(names) < _READ and "_Z" in line:
                text = self._joined(i, min(i + _AROUND, len(self.lines)), "")
                found = re.finditer(MANGLED, text, re.A)
                names |= {one[0]: None for one in found if one.start() < len(line)}
        return list(names)[:_READ]

    def _joined(self, first: int, last: int, way: str) -> str:
        """Some lines as one, each break a `way`, which is nothing only where the terminal's last column was reached."""
        width = max(self.widths[first:last])
        parts = []
        for i in range(first, last):
            full = self.widths[i] == width >= 40
            parts.append(self.lines[i] + (way if way or full else " "))
        return re.sub("  +", " ", "".join(parts))


def _solid(text: str) -> int:
    """How many characters are not white space."""
    return len(text) - text.count(" ") - text.count("\n")


@functools.cache
def rules() -> tuple[dict, ...]:
    """The patterns of the table, with their fixed words, as Python and JavaScript use them."""
    found = []
    for entry in entries().values():
        if entry.pattern:
            pattern = _plain(entry.pattern)
            needs = fixed_words(pattern)
            found.append(
                {
                    "id": entry.id,
                    "pattern": pattern,
                    "needs": needs,
                    "weight": max(sum(map(len, words)) for words in needs),
                    "follows": list(entry.follows),
                }
            )
    return tuple(found)


def _plain(pattern: str) -> str:
    """A pattern for text in which all quotes are straight, and some may have been lost as Markdown."""
    pattern = re.sub(r"\[['\"‘’`]+\]", "['\"]?", pattern)
    return re.sub("[‘’`]", "'", pattern)


def fixed_words(pattern: str) -> list[list[str]]:
    """What a text without white space must hold for a pattern to match: all words of one of the lists.

    Raises:
      ValueError: There is nothing, or little, that it must hold.
    """
    tokens = re.findall(
        r"\\.|\[(?:\\.|[^\]\\])*\]|\(\?[:=!]|[(|)]|[*+?]\??|\{\d+(?:,\d*)?\}\??|.",
        pattern,
        re.S,
    )
    lists, runs, depth = [], [""], 0
    for i, token in enumerate([*tokens, "|"]):
        following = tokens[i + 1] if i + 1 < len(tokens) else ""
        if token[0] == "(":
            depth += 1
            runs.append("")
        elif token == ")":
            depth -= 1
        elif depth:
            continue
        elif token == "|":
            words = [run for run in runs if len(run) > 2]
            if sum(map(len, words)) < 8:
                raise ValueError(f"{pattern} has too few fixed words")
            lists.append(words)
            runs = [""]
        elif re.match(r"[*?]|\{0", following):
            runs.append("")
        elif token == " ":
            continue
        elif re.match(r"\\\W|[^\\\[*+?.^${]", token):
            runs[-1] += token[-1]
            if following[:1] in ("+", "{"):
                runs.append("")
        else:
            runs.append("")
    return lists


def for_the_page() -> dict[str, object]:
    """What docs/_static/explain.js needs, for JSON."""
    blank = "".join(rf"\u{codes[0]:04x}-\u{codes[-1]:04x}" for codes in BLANK)
    return {
        "clean": {
            "escapes": ESCAPES,
            "broken": BROKEN,
            "break": BREAK,
            "quotes": f"[{QUOTES}]",
            "double": f"[{DOUBLE}]",
            "blank": f"[{blank}]",
            "prefix": PREFIX,
        },
        "limits": {
            "around": _AROUND,
            "tries": _TRIES,
            "longest": _LONGEST,
            "symbols": _READ,
            "shown": SHOWN,
        },
        "rules": rules(),
        "releases": releases(),
        "mangled": MANGLED,
        "died": DIED,
    }


def address(name: str) -> str:
    """Where the entry of a name is on the site."""
    return f"{SITE}errors.html#{name}"


def main(arguments: list[str]) -> int:
    """Runs `explain`: 0 if something of the text is known, else 1."""
    parser = argparse.ArgumentParser("python -m opcheck explain")
    parser.add_argument(
        "log", nargs="?", default="-", help="a file, or - for what is piped in"
    )
    log = parser.parse_args(arguments).log
    if log == "-" and sys.stdin.isatty():
        return _say(
            "which log? Name a file, or pipe one in: make 2>&1 | python -m opcheck explain"
        )
    try:
        content = sys.stdin.buffer.read() if log == "-" else Path(log).read_bytes()
    except FileNotFoundError:
        return _say(f"there is no file {log}")
    except OSError as error:
        return _say(f"cannot read {log}: {error.strerror}")
    text = _decoded(content)
    explanation = explain(text)
    if not (explanation.found or explanation.read or explanation.died):
        count = len(entries())
        return _say(
            f"none of the {count} errors of {SITE}errors.html is in this text; report it: {REPORT}"
        )
    print(told(explanation, sys.stdout.isatty() and "NO_COLOR" not in os.environ))
    return 0


def _say(text: str) -> int:
    print(f"opcheck: {text}", file=sys.stderr)
    return 1


def _decoded(content: bytes) -> str:
    """Windows redirects to UTF-16."""
    wide = content[:2] in (b"\xff\xfe", b"\xfe\xff")
    return content.decode("utf-16" if wide else "utf-8", errors="replace")


def told(explanation: Explanation, colour: bool = False) -> str:
    """What was found as text: of each entry the line of the log, the cause, the cure and the address."""
    blocks = []
    for one in explanation.found[:SHOWN]:
        where = f"line {one.line}"
        if one.times > 1:
            where += f", {one.times} times" + " or more" * (one.times >= _TRIES)
        if one.follows:
            where += f", follows from {', '.join(one.follows)}"
        head = textwrap.shorten(one.text, 2 * _WIDTH, placeholder=" …")
        parts = {"cause": one.entry.cause, "cure": one.entry.cure}
        lines = [_bold(where, "36", colour), _wrapped("", head, _bold, "31", colour)]
        lines += [_wrapped(label, part) for label, part in parts.items() if part]
        blocks.append("\n".join([*lines, f"  read   {address(one.entry.id)}"]))
    if more := [one.entry.id for one in explanation.found[SHOWN:]]:
        blocks.append(_wrapped("and", ", ".join(more)))
    if explanation.died:
        said = "A process has died, and nothing tells why. What makes an op do so:"
        blocks.append(f"{_wrapped('', said)}\n  read   {address('nothing-is-printed')}")
    for one in explanation.read:
        lines = [
            _bold(one.name, "36", colour),
            *(_wrapped("", said) for said in one.says),
        ]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _bold(text: str, code: str, colour: bool) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if colour else text


def _wrapped(label: str, text: str, paint=None, *how) -> str:
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", " ".join(text.split()))  # links
    lines = textwrap.wrap(text, _WIDTH - 9, break_on_hyphens=False)
    lines = [paint(line, *how) if paint else line for line in lines]
    start = f"  {label:6} " if label else "  "
    return "\n".join(
        [start + lines[0], *(" " * len(start) + line for line in lines[1:])]
    )
