"""Finds the messages of the dictionary in a log: `python -m opcheck explain build.log`, or through a pipe.

What decides is in errors.toml and rules.toml. explain.js, on the page of the book, interprets them too, and one list of
cases tests both. Either looks for the fixed words of a pattern first, in the text without any white space, and for the
pattern itself only around them: then lines may be wrapped anywhere, and 100,000 of them take little time.
"""

import bisect
import functools
import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from opcheck import symbols
from opcheck.errors import REPORT, SITE, Entry, entries, table

_WIDTH = 100
# What a rule has from its entry.
_FOR_RULES = "follows names harmless ours beside unless alone cut anyones".split()


@dataclass(frozen=True)
class Found:
    """An entry of the dictionary that a text holds.

    Attributes:
      entry: The entry.
      line: The number of the line, from 1, where its message first begins.
      text: The message as it is there, its lines joined.
      times: How often it is there, as far as one has looked.
      follows: The ids of the found entries of which it is a consequence.
      header: Of a name of TensorFlow's, where it is declared, as a sentence.
    """

    entry: Entry
    line: int
    text: str
    times: int
    follows: tuple[str, ...]
    header: str

    def where(self) -> str:
        """The line, how often, and what it follows from."""
        says = table("rules")["says"]
        where = says["line"].format(line=self.line)
        if self.times > 1:
            where += says["times"].format(times=self.times)
        if self.times >= table("rules")["limits"]["tries"]:
            where += says["or_more"]
        if self.follows:
            where += says["follows"].format(causes=", ".join(self.follows))
        return where


@dataclass(frozen=True)
class Explanation:
    """What a text holds that is known.

    Attributes:
      found: The entries: causes before what follows from them, else in the order of the text.
      read: The first mangled names of TensorFlow and Abseil, without sections' names that tell nothing.
      died: If nothing is found, and a process has died, what is said of it.
      stranger: Whose message this is, if it is none of TensorFlow's.
      first: The number and the text of a compiler's first error if no entry is about it; where nothing is found, of the
        first line that looks like an error.
      unsure: Whether something is found, and nothing in the text names TensorFlow.
    """

    found: list[Found]
    read: list[symbols.Reading]
    died: str
    stranger: str
    first: tuple[int, str] | None
    unsure: bool


def explain(text: str) -> Explanation:
    """Finds the messages of the dictionary in a text, and reads its mangled names.

    Of patterns that match in the same place, the one with the most fixed words counts.
    """
    log = _Log(text)
    owner = _owner(log)
    found, stranger, unknown_first = _found(log, owner)
    dead = bool(re.search(table("rules")["died"], log.solid))
    signs = table("rules")["says"]["errors"]
    if found and all(one.entry.harmless for one in found):
        if dead or log.first(signs[:2]):
            found = []  # what harms nothing is not why it failed
    died = _death(log) if dead and not (found or stranger) else ""
    mac = bool(re.search(symbols.rules()["mac"], log.solid, re.ASCII))
    names = [] if owner else [symbols.read(name, mac) for name in log.mangled()]
    names = [one for one in names if one.told or log.asks_for(one.symbol)]
    if found:
        first = unknown_first
    else:
        first = None if died else log.first(signs)
    unsure = bool(found) and not log.ours
    return Explanation(found, names, died, stranger, first, unsure)


def _death(log: "_Log") -> str:
    """What the signal tells of why a process has died."""
    rules = table("rules")
    signals = [(one["says"], one["sign"]) for one in rules["signals"]]
    told = (says for says, sign in signals if re.search(sign, log.solid, re.ASCII))
    return next(told, rules["says"]["died"])


def _found(log: "_Log", owner: str) -> tuple[list[Found], str, tuple[int, str] | None]:
    """The entries, of a text of another library those that are anyone's, whose it is else, and what none is about.

    That is a compiler's first error, from which the others may follow.
    """
    told = [rule for rule in rules() if rule["anyones"] or not owner]
    told = [rule for rule in told if log.allows(rule)]
    matches = [match for rule in told for match in log.matches(rule)]
    taken: list[tuple[int, int]] = []
    each: dict[str, list[_Match]] = {}
    for match in sorted(matches, key=lambda one: (-one.rule["weight"], one.start)):
        at = bisect.bisect(taken, (match.start, match.end))
        if all(
            match.end <= a or b <= match.start
            for a, b in taken[max(at - 1, 0) : at + 1]
        ):
            taken.insert(at, (match.start, match.end))
            each.setdefault(match.rule["id"], []).append(match)
    of = {one["id"]: one["of"] for one in rules() if one["of"]}
    stranger = next((of[name] for name in each if name in of), "")
    first = {
        name: min(some, key=lambda one: one.start)
        for name, some in each.items()
        if name not in of
    }
    surer = [
        one for one in first.values() if not (one.rule["alone"] or one.rule["harmless"])
    ]
    place = log.of_compiler()
    unknown = place and all(one.start >= place[1] for one in surer)
    about = [
        name
        for name, one in first.items()
        if unknown and one.rule["alone"] and place[0] <= one.start < place[1]
    ]
    if surer or unknown:
        first = {
            name: one
            for name, one in first.items()
            if name in about or not one.rule["alone"]
        }
    unknown = unknown and all(one.start >= place[1] for one in first.values())
    signs = table("rules")["says"]["errors"][:2]
    first = {
        name: one
        for name, one in first.items()
        if not (one.rule["cut"] and log.first(signs, _compiled(one.rule["pattern"])))
    }
    names = sorted(first, key=lambda name: first[name].start)
    anything = [name for name in names if "*" in first[name].rule["follows"]]
    causes = {
        name: tuple(
            one
            for one in names
            if one != name and not first[name].rule["harmless"]
            if one in first[name].rule["follows"]
            or (name in anything and one not in anything)
        )
        for name in names
    }
    found = []
    for name in sorted(
        names, key=lambda name: bool(causes[name] or first[name].rule["harmless"])
    ):
        one, entry = first[name], entries()[name]
        header = header_of(one.text) if entry.names else ""
        told = one.line, one.text, len(each[name]), causes[name]
        found.append(Found(entry, *told, header))
    line = log.at(place[0]) if unknown and not (stranger or owner) else None
    return found, stranger or ("" if found else owner), line


def _owner(log: "_Log") -> str:
    """Whose text it is, if there is nothing of TensorFlow's in it."""
    if log.ours:
        return ""
    signs = [(one["of"], one["sign"]) for one in table("rules")["strangers"]]
    found = (of for of, sign in signs if re.search(sign, log.solid, re.ASCII))
    return next(found, "")


def header_of(message: str) -> str:
    """Where the first name of a message that headers.toml has is declared."""
    says, names = table("rules")["headers"], table("headers")["names"]
    known = re.search(says["known"], message, re.ASCII)
    for before, name in re.findall(says["name"], message, re.ASCII):
        if name in names and re.search(says["roots"], before):
            if known or name not in says["ordinary"]:
                header, space = names[name]
                way = says["qualified" if space else "macro"]
                return way.format(name=name, header=header, space=space)
    return ""


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
        self.limits = table("rules")["limits"]
        longest = self.limits["longest"]
        self.numbers, self.widths, self.lines, self.starts = [], [], [], [0]
        for number, line in enumerate(_clean(text, "clean").split("\n"), 1):
            for at in range(0, max(len(line), 1), longest):
                piece = line[at : at + longest]
                self.numbers.append(number)
                self.widths.append(len(piece))
                self.lines.append(_clean(piece, "clean_line"))
                self.starts.append(self.starts[-1] + len(_solid(self.lines[-1])))
        self.solid = _solid("".join(self.lines))

    @functools.cached_property
    def ours(self) -> bool:
        """Whether there is something of TensorFlow's in it."""
        return bool(re.search(table("rules")["ours"], self.solid, re.ASCII))

    def allows(self, rule: dict) -> bool:
        """Whether the text as a whole is one in which a pattern is looked for."""
        if rule["ours"] and not self.ours:
            return False
        if rule["beside"] and not re.search(rule["beside"], self.solid, re.ASCII):
            return False
        return not (rule["unless"] and re.search(rule["unless"], self.solid, re.ASCII))

    def matches(self, rule: dict) -> Iterator[_Match]:
        """Where a pattern matches, wherever lines are wrapped."""
        seen = set()
        around = self.limits["around"]
        for needs in rule["needs"]:
            key = max(needs, key=len)
            at, tries = -1, 0
            while (
                tries < self.limits["tries"]
                and (at := self.solid.find(key, at + 1)) >= 0
            ):
                line = bisect.bisect_right(self.starts, at) - 1
                lines = max(0, line - around), min(len(self.lines), line + around + 1)
                near = self.starts[lines[0]], self.starts[lines[1]]
                if any(self.solid.find(need, *near) < 0 for need in needs):
                    continue
                tries += 1
                match = self._match(rule, lines, at, at + len(key))
                if match and match.start not in seen:
                    seen.add(match.start)
                    yield match
                    at = max(at, match.end - 1)

    def _match(self, rule: dict, lines: tuple, start: int, end: int) -> _Match | None:
        """The match around some fixed words."""
        for way in self.limits["joins"]:
            text = self._joined(*lines, way)
            for found in _compiled(rule["pattern"]).finditer(text):
                low = self.starts[lines[0]] + len(_solid(text[: found.start()]))
                high = low + len(_solid(found[0]))
                if rule["names"] and not header_of(found[0]):
                    continue
                if low < end and start < high:
                    line = bisect.bisect_right(self.starts, low) - 1
                    upto, broken = self._upto(high, lines)
                    shown = self._joined(line, upto, "" if broken else way)
                    shown = " ".join(shown.split())
                    return _Match(rule, low, high, self.numbers[line], shown)
        return None

    def _upto(self, high: int, lines: tuple) -> tuple[int, bool]:
        """The line behind a match, and whether a terminal has broken the match's last word, which then is whole."""
        end = upto = bisect.bisect_left(self.starts, high)
        width = max(self.widths[lines[0] : lines[1]])
        while (
            (self.starts[upto] == high or upto > end)
            and upto < lines[1]
            and self.widths[upto - 1] == width >= self.limits["terminal"]
            and (upto == end or " " not in self.lines[upto - 1])
            and re.match(r"\w \w", self.lines[upto - 1][-1:] + " " + self.lines[upto])
        ):
            upto += 1
        return upto, upto > end

    def first(
        self, signs: Sequence[str], but: re.Pattern | None = None
    ) -> tuple[int, str] | None:
        """The number and the text of the first line that looks like an error, by the surest sign that any line has.

        Lines in which `but` finds something do not count.
        """
        for pattern in signs:
            sign = re.compile(pattern, re.ASCII)
            for number, line in zip(self.numbers, self.lines):
                if sign.search(line) and not (but and but.search(line)):
                    return number, line.strip()
        return None

    def of_compiler(self) -> tuple[int, int] | None:
        """Where a compiler's first error begins in the text without white space, and where the next one does."""
        sign = re.compile(table("rules")["says"]["compiler"], re.ASCII)
        places = [one.start() for one, _ in zip(sign.finditer(self.solid), range(2))]
        return (*places, len(self.solid))[:2] if places else None

    def at(self, start: int) -> tuple[int, str]:
        """The number and the text of a line in which something of the text without white space is."""
        line = bisect.bisect_right(self.starts, start) - 1
        return self.numbers[line], self.lines[line].strip()

    def mangled(self) -> list[str]:
        """The first mangled names of TensorFlow and Abseil."""
        names: dict[str, None] = {}
        for i, line in enumerate(self.lines):
            if len(names) < self.limits["names"] and "_Z" in line:
                upto = min(i + self.limits["around"], len(self.lines))
                text = self._joined(i, upto, "")
                found = re.finditer(symbols.rules()["pattern"], text, re.ASCII)
                names |= {one[0]: None for one in found if one.start() < len(line)}
        return list(names)[: self.limits["names"]]

    def asks_for(self, symbol: str) -> bool:
        """Whether a mangled name is more than that of a section, in which the linker has found something."""
        return bool(re.search(symbols.rules()["outside"] + symbol, self.solid))

    def _joined(self, first: int, last: int, way: str) -> str:
        """Some lines as one, each break a `way`, which is nothing only where the terminal's last column was reached."""
        width = max(self.widths[first:last])
        return re.sub(
            "  +",
            " ",
            "".join(
                self.lines[i] + self._break(i, last, way, width)
                for i in range(first, last)
            ),
        )

    def _break(self, i: int, last: int, way: str, width: int) -> str:
        """What is between a line and the next: nothing between two pieces of a line."""
        if i + 1 < last and self.numbers[i] == self.numbers[i + 1]:
            return ""
        full = self.widths[i] == width >= self.limits["terminal"]
        return way or ("" if full else " ")


def _clean(text: str, steps: str) -> str:
    for pattern, replacement in table("rules")[steps]:
        text = re.sub(pattern, replacement, text, flags=re.ASCII)
    return text


def _solid(text: str) -> str:
    return text.replace(" ", "").replace("\n", "")


@functools.cache
def rules() -> tuple[dict, ...]:
    """The patterns of strangers and of the dictionary, with their fixed words, of which more weigh more."""
    empty = dict.fromkeys(("phase", "message", "cause", "cure", "source"), "")
    found = [
        _rule(Entry(f"stranger {i}", pattern=one["pattern"], **empty), one["of"])
        for i, one in enumerate(table("rules")["strangers"])
        if "pattern" in one
    ]
    return (*found, *(_rule(entry) for entry in entries().values() if entry.pattern))


def _rule(entry: Entry, of: str = "") -> dict:
    pattern = _plain(entry.pattern)
    needs = fixed_words(pattern)
    weight = max(sum(map(len, words)) for words in needs)
    # A stranger's message has no other meaning, a special case is not the general one, and what is only told where
    # there is nothing else takes no other's place.
    weight += 1000 * bool(of) + 500 * entry.special - 1000 * entry.alone
    own = {"id": entry.id, "pattern": pattern, "needs": needs, "weight": weight}
    return own | {"of": of, **{name: getattr(entry, name) for name in _FOR_RULES}}


@functools.cache
def _compiled(pattern: str) -> re.Pattern:
    """A pattern, once the fixed words are found: to compile all of them takes a second."""
    return re.compile(pattern, re.ASCII)


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
    for token, following in zip([*tokens, "|"], [*tokens[1:], "", ""]):
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


def for_javascript() -> dict[str, object]:
    """What explain.js interprets, for JSON."""
    more = {"symbols": symbols.rules(), "patterns": rules()}
    return table("rules") | more | {"names": table("headers")["names"]}


def unknown(explanation: Explanation) -> str:
    """What is said where nothing is known: whose message it is, or the first error, and where to report it."""
    says = table("rules")["says"]
    lines = [
        f"none of the {len(entries())} errors of {SITE}errors.html is in this text; "
        f"if it comes from an op, report it: {REPORT}"
    ]
    if explanation.stranger:
        lines[0] = lines[0].partition(";")[0]
        lines.append(f"  {says['stranger'].format(of=explanation.stranger)}")
    elif explanation.first:
        line, text = explanation.first
        shown = textwrap.shorten(text, 2 * _WIDTH, placeholder=" …")
        lines.append(f"  {says['first'].format(line=line)}: {shown}")
    return "\n".join(lines)


def told(explanation: Explanation, colour: bool = False) -> str:
    """What was found as text: of each entry the line of the log, the cause, the cure and the address."""
    most, says = table("rules")["limits"]["shown"], table("rules")["says"]
    blocks = ["\n".join(_wrapped("", says["unsure"]))] if explanation.unsure else []
    if explanation.found and explanation.first:
        line, text = explanation.first
        head = textwrap.shorten(text, 2 * _WIDTH, placeholder=" …")
        lines = [
            _painted(says["line"].format(line=line), 36, colour),
            *_wrapped("", head, 31 if colour else 0),
            *_wrapped("", says["before"]),
        ]
        blocks.append("\n".join(lines))
    for one in explanation.found[:most]:
        head = textwrap.shorten(one.text, 2 * _WIDTH, placeholder=" …")
        lines = [
            _painted(one.where(), 36, colour),
            *_wrapped("", head, 31 if colour else 0),
            *(_wrapped("header", one.header) if one.header else ()),
            *_wrapped("cause", one.entry.cause),
            *_wrapped("cure", one.entry.cure),
            f"  read   {one.entry.address}",
        ]
        blocks.append("\n".join(lines))
    if more := [one.entry.id for one in explanation.found[most:]]:
        blocks.append("\n".join(_wrapped("and", ", ".join(more))))
    if explanation.died:
        lines = _wrapped("", f"{explanation.died} {says['died_why']}:")
        address = f"{SITE}errors.html#nothing-is-printed"
        blocks.append("\n".join([*lines, f"  read   {address}"]))
    for one in explanation.read:
        said = [line for text in one.says for line in _wrapped("", text)]
        blocks.append("\n".join([_painted(one.name, 36, colour), *said]))
    return "\n\n".join(blocks)


def _painted(text: str, colour: int, wanted: bool = True) -> str:
    return f"\x1b[{colour}m{text}\x1b[0m" if wanted else text


def _wrapped(label: str, text: str, colour: int = 0) -> list[str]:
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", " ".join(text.split()))  # links
    start = f"  {label:6} " if label else "  "
    lines = textwrap.wrap(text, _WIDTH - 9, break_on_hyphens=False)
    return [
        (" " * len(start) if i else start) + _painted(line, colour, bool(colour))
        for i, line in enumerate(lines)
    ]


if __name__ == "__main__":  # `python -m opcheck.explain` is another way to call it
    from opcheck.command import main as run

    sys.exit(run(["explain", *sys.argv[1:]]))
