"""What a check found, and how it reads in a terminal and in a notebook."""

import functools
import html
import os
import re
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from opcheck.errors import SITE, entries
from opcheck.findings.expected import with_expected
from opcheck.findings.source import split

VERDICTS = ("pass", "note", "skip", "fail")
_COLOURS = {"pass": "32", "note": "36", "skip": "33", "fail": "31"}
_WIDTH = 88
_LONGEST = 600
LONGEST_LINE = 20_000
_IN_GRAPHS = (
    "Python code around the op wants a value, which a tensor of a graph does not have"
)
# What is done when several calls are made together, and what is wrong where they disturb each other.
AT_ONCE = "8 calls at a time"
SHARED = (
    "Compute() writes to a member, a static or a global variable, which all calls share"
)
MUCH_LARGER = "a much larger sample"  # whose calls are split among threads
SPLIT = "threads of one call write to one place, such as a member, or to memory that is not the kernel's"
KEPT = (
    "something is kept from one call to the next, in a member, a static or a global variable, and it depends on the "
    "earlier call's input"
)
ANY_SPECIAL = "if the op promises nothing for such numbers, pass special_values=False"
SHAPES = "the shape function and the kernel disagree"
ANSWERED = (
    "Compute does not check for this, or not exactly; a reference that merely has no answer here raises "
    "NotImplementedError"
)
UNTRACED = "no tf.function can be made of it: see eager_vs_graph"
GUARDED = "with inputs that end at an unreadable page"
READS_PAST = "a read past the end of an input"
UNNAMED = "the message of OP_REQUIRES does not say which input is wrong"
FORWARDED = (
    "the output has the memory of the input (forward_input), which the kernel overwrites before it has read all "
    "of it"
)
BY_RACE = "only with more than one thread, and not always the same: two threads that write to one place"
# What fails, too, where a value is changed under other calls, or kept from them.
_FOLLOWING = (
    "eager_vs_graph",
    "dtypes",
    "determinism",
    "concurrency",
    "vectorize",
)
NOT_ALONE = (
    "not this call alone, for it is fine in a fresh process: the kernel keeps something from one call to the next, "
    "reads or writes memory that is not its own, leaves outputs unwritten, or is meant to give what chance wants"
)
_GIVEN_AWAY = {
    r"Missing \d+-th output": "the kernel returns without having set that output",
    r"Check failed: IsAligned\(\)": "flat(), matrix() or the like of memory that is not aligned, such as a "
    "Tensor::Slice(): unaligned_flat() takes it",
    r"no answer within .*: it waits": "a lock that nobody frees, or a done() that is not called; a call that has to "
    "wait so long needs a longer timeout=",
    r"no answer within .*: it computes": "a loop that does not end for this input; a call that has to compute so long "
    "needs a longer timeout=",
    r"no answer within": "a loop that does not end for this input, or a lock that nobody frees",
    r"(free|\w*alloc\w*|munmap_chunk)\(\): |double free|corrupted (size|double)": "the kernel writes to memory that is "
    "not its own: past the end of an output or of its scratch, or where an index leads",
    r"std::bad_alloc": "an allocation beyond the limit, which is the option memory",
    r"Cannot convert a symbolic tf\.Tensor": _IN_GRAPHS,
    r"Using a symbolic `?tf\.Tensor`? as a Python `?bool`?": _IN_GRAPHS,
    r"object has no attribute 'numpy'": _IN_GRAPHS,
}
_STYLE = """
.opcheck { border-collapse: collapse; width: auto; margin: 0; font-size: 0.875rem; }
.opcheck caption {
  caption-side: top; color: inherit; text-align: left; font-weight: bold; padding: 0.3em 0;
}
.opcheck tr { background: none; }
.opcheck th, .opcheck td {
  text-align: left; vertical-align: top; padding: 0.3em 0.7em; white-space: normal;
  overflow-wrap: anywhere;
  border-bottom: 1px solid color-mix(in srgb, currentColor 30%, transparent);
}
.opcheck th, .opcheck td:nth-child(2) { white-space: nowrap; }
.opcheck .opcheck-fail th:first-child { box-shadow: inset 0.25em 0 currentColor; }
.opcheck .opcheck-fail td:nth-child(2) { font-weight: bold; }
.opcheck dl {
  display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0.1em 0.8em; margin: 0.3em 0 0;
}
.opcheck dt { font-weight: normal; font-style: italic; }
.opcheck dd { margin: 0; white-space: pre-wrap; }
@media (max-width: 40em) {
  .opcheck, .opcheck caption, .opcheck tbody { display: block; }
  .opcheck thead { display: none; }
  .opcheck tr { display: grid; grid-template-columns: 1fr auto; }
  .opcheck th, .opcheck td { border-bottom: 0; padding-bottom: 0; }
  .opcheck td:last-child {
    grid-column: 1 / 3; padding-bottom: 0.3em;
    border-bottom: 1px solid color-mix(in srgb, currentColor 30%, transparent);
  }
}
"""


class OpCheckError(AssertionError):
    """An op broke a promise; the message explains each failing check."""


@dataclass(frozen=True)
class Result:
    """The outcome of one check.

    Attributes:
      check: Its name.
      verdict: "pass", "fail", "skip", or "note": passes, with something to know.
      detail: One line: what was tried, or why it was skipped, or what failed.
      expected: For a failure, what should have happened.
      seen: For a failure, what happened.
      cause: For a failure, the likely cause.
      chapter: The page of Op by Op that explains it, or page#section: `docs/PAGE.md`.
      line: Python that makes the failing call in a fresh process.
      message: For a failure, all that was seen, of which `seen` is the essence.
      others: The other failures of the check.
    """

    check: str
    verdict: str
    detail: str = ""
    expected: str = ""
    seen: str = ""
    cause: str = ""
    chapter: str = ""
    line: str = ""
    message: str = ""
    others: "tuple[Result, ...]" = ()

    @functools.cached_property
    def error(self) -> str:
        """The entry of the page on errors that explains the message, or "".

        The process that tells it reads the dictionary, once, and not each worker that met a failure.
        """
        # Not above: `python -m opcheck.explain` warns of a module that the package has imported.
        from opcheck.explain import explain

        found = explain(self.message).found if self.message else []
        return found[0].entry.id if found else ""

    @property
    def address(self) -> str:
        """That of the chapter."""
        page, *section = self.chapter.partition("#")
        return f"{SITE}{page}.html{''.join(section)}"

    def without(self, words: str) -> "Result":
        """What is left when a failure with these words is expected."""
        if self.verdict == "skip":
            return self
        failures = [self, *self.others] if self.verdict == "fail" else []
        left = [one for one in failures if words not in one.explanation()]
        if len(left) < len(failures):
            if left:
                return joined(left)
            detail = f"fails as expected: {self.detail}"
            return Result(self.check, "note", detail)
        if failures:
            return self
        return replace(
            self,
            verdict="fail",
            detail="does not fail",
            expected=f"the failure {words!r} of expected_failures"
            if words
            else "a failure: expected_failures names this check",
            seen=self.detail,
            cause="the bug is gone, and its entry in expected_failures can go, too",
        )

    def explanation(self, names: str = "", call_only: bool = False) -> str:
        """Some lines on a failure: what was expected, what was seen, why, where to read.

        Args:
          names: Of all checks that failed in this way, if there are more.
          call_only: Whether the line to copy begins after its imports.
        """
        what, _, more = self.detail.partition("; ")
        if not re.match(r"\d+ (more|other calls)\b", more):
            what, more = self.detail, ""
        lines = [
            textwrap.fill(
                f"{names or self.check}: {what}",
                _WIDTH,
                subsequent_indent="  ",
                break_on_hyphens=False,
            )
        ]
        labelled = [*self.labelled(), *([("and", more)] if more else [])]
        lines += [
            textwrap.fill(
                f"{label:9} {line}",
                _WIDTH,
                initial_indent="  ",
                subsequent_indent=" " * 12,
                break_on_hyphens=False,
            )
            for label, text in labelled
            for line in [" ".join(text.split())]
        ]
        if self.chapter:
            lines.append(f"  read      {self.address}")
        if self.error:
            lines.append(f"  see       {entries()[self.error].address}")
        if self.line:  # whole, to be copied
            lines.append(f"  reproduce {self.shown_line(call_only)}")
        return "\n".join(lines)

    def shown_line(self, call_only: bool = False) -> str:
        """The line, or, if it holds more values than anybody would copy, its beginning and where the rest is."""
        if len(self.line) <= LONGEST_LINE:
            return split(self.line)[1] if call_only else self.line
        size = f"{len(self.line):,}"
        return f'{self.line[:_LONGEST]}… ({size} characters: report["{self.check}"].line has them)'

    def short_detail(self) -> str:
        """The detail, with the number of further failures in place of their names."""
        return re.sub(r"(; \d+ more): .*", r"\1", self.detail)

    def words(self) -> tuple[str, str, str, str]:
        """What failures of one cause have in common."""
        return self.detail, self.expected, self.seen, self.cause

    def root(self) -> tuple:
        """What failures share that have one reason: the words, how the process died, that something is kept."""
        if re.search("^the process (died|ended)", self.seen):
            return ("died", self.seen)
        if self.seen.startswith("no answer within"):
            return ("hangs",)
        if self.cause in (KEPT, FORWARDED):
            return (self.cause,)
        if self.cause.startswith(SHAPES):
            return ("shapes",)
        if "unused memory" in self.cause or self.cause == BY_RACE:
            return ("unrepeated",)
        # An error may show the tensor, which is another one in a graph.
        return tuple(re.sub(r"<tf\.Tensor[^>]*>?", "", one) for one in self.words())

    def labelled(self) -> list[tuple[str, str]]:
        """What there is of the words on a failure, with their labels."""
        parts = {
            "expected": self.expected,
            "seen": self.seen,
            "cause": self.cause,
        }
        return [(label, text) for label, text in parts.items() if text]


@dataclass
class Worker:
    """A process in which the op ran.

    Attributes:
      checks: The names of those that it was for.
      death: How it died, if it did.
    """

    checks: tuple[str, ...]
    death: str = ""


class Report:
    """The results of all checks of an op.

    Attributes:
      subject: The op's name.
      results: In the order of the checks.
      workers: The processes that they took.
    """

    def __init__(
        self, subject: str, results: Sequence[Result], workers: Sequence[Worker] = ()
    ):
        self.subject = subject
        self.results = list(results)
        self.workers = list(workers)

    @classmethod
    def worst_of(cls, reports: "Sequence[Report]") -> "Report":
        """One report on several samples: of each check the worst result."""
        if len(reports) == 1:
            return reports[0]
        results = []
        for some in zip(*(report.results for report in reports)):
            numbered = [
                replace(one, detail=f"sample {number}: {one.detail}")
                for number, one in enumerate(some)
                if one.verdict in ("fail", "note")
            ]
            failures = [one for one in numbered if one.verdict == "fail"]
            failures.sort(key=is_garbled)
            if failures:
                results.append(
                    joined([x for one in failures for x in (one, *one.others)])
                )
            elif numbered:
                results.append(numbered[0])
            else:
                passed = [one for one in some if one.verdict == "pass"]
                results.append((passed or some)[0])
        workers = [worker for report in reports for worker in report.workers]
        return cls(reports[0].subject, results, workers)

    def without(self, known: Mapping[str, str]) -> "Report":
        """The report where failures are expected: from names of checks to words of each."""
        results = [
            one.without(known[one.check]) if one.check in known else one
            for one in self.results
        ]
        return Report(self.subject, results, self.workers)

    def __getitem__(self, check: str) -> Result:
        for result in self.results:
            if result.check == check:
                return result
        raise KeyError(check)

    @property
    def failures(self) -> list[Result]:
        """The results of the checks that failed."""
        return [result for result in self.results if result.verdict == "fail"]

    @property
    def ok(self) -> bool:
        """Whether a check ran, and none failed: where all are skipped, nothing is known of the op."""
        return not self.failures and any(x.verdict != "skip" for x in self.results)

    def assert_ok(self) -> "Report":
        """Returns the report, or raises OpCheckError: with the explanation of every failing check, or that none ran."""
        if not self.ok:
            explanations = "\n".join(self.explanations())
            raise OpCheckError(f"{self.summary()}\n{explanations}")
        return self

    def explanations(self) -> list[str]:
        """The explanation of each failure; of failures with the same words or the same root, one.

        What their lines begin with comes last, and once. Where no check ran, one line says why.
        """
        if not self.failures and not self.ok:
            reasons = [f"{one.check} ({one.detail})" for one in self.results]
            return [f"no check ran: {', '.join(reasons) or 'none was chosen'}"]
        texts = []
        imports = self._imports()
        for first, *others in self._groups().values():
            same = [one.check for one in others if one.words() == first.words()]
            text = first.explanation(", ".join([first.check, *same]), bool(imports))
            if rest := [one.check for one in others if one.check not in same]:
                text += (
                    f"\n  follows   {', '.join(rest)}: most likely for the same reason"
                )
            texts.append(text)
        if imports:
            texts.append(f"Before you reproduce one of them: {imports}")
        return texts

    def _imports(self) -> str:
        """What the lines of several explanations begin with, which is told once."""
        lines = [first.line for first, *_ in self._groups().values()]
        lines = [line for line in lines if line and len(line) <= LONGEST_LINE]
        if len(lines) < 2:
            return ""
        return "; ".join(dict.fromkeys(x for line in lines for x in split(line)[0]))

    def _groups(self) -> dict[tuple, list[Result]]:
        """Failures by their root, the one that tells most of it first."""
        groups: dict[tuple, list[Result]] = {}
        for one in self.failures:
            groups.setdefault(self._root(one), []).append(one)
        for some in groups.values():
            some.sort(
                key=lambda one: (one != self._changing, one.check != "determinism")
            )
        return groups

    @functools.cached_property
    def _changing(self) -> Result | None:
        """The failure of an op that overwrites its inputs, keeps something from call to call, or races by itself."""
        some = [one for one in self.failures if _differs(one)]
        told = [one for one in some if one.check == "immutability"]
        for cause in (FORWARDED, KEPT, BY_RACE):
            told += [one for one in some if one.cause == cause]
        return next(iter(told), None)

    def _root(self, one: Result) -> tuple:
        """Of a failure; where inputs are overwritten, or something is kept, other values elsewhere have that root."""
        follows = self._changing and one.check in _FOLLOWING and _differs(one)
        return (self._changing if follows else one).root()

    def summary(self) -> str:
        """One line: how many checks passed, failed, were skipped. A note counts as passed."""
        counts = {
            verdict: sum(result.verdict == verdict for result in self.results)
            for verdict in VERDICTS
        }
        passed = counts["pass"] + counts["note"]
        parts = [f"{passed} passed"]
        if counts["note"]:
            parts[0] += f" ({counts['note']} with a note)"
        parts += [f"{counts['fail']} failed", f"{counts['skip']} skipped"]
        return f"{self.subject}: {', '.join(parts)}"

    def table(self, colour: bool = False) -> str:
        """The report as plain text, in at most 88 columns but for the lines to copy.

        Args:
          colour: Whether to colour the verdicts with ANSI escape sequences.
        """
        wide = max([len(result.check) for result in self.results] + [5])
        room = _WIDTH - wide - 11
        lines = [self.summary(), "", f"{'check':{wide}}  verdict  detail"]
        details = [result.short_detail() for result in self.results]
        used = min(room, max([len(detail) for detail in details] + [6]))
        lines.append(f"{'-' * wide}  -------  {'-' * used}")
        for result, detail in zip(self.results, details):
            verdict = f"{result.verdict:7}"
            if colour:
                verdict = f"\x1b[{_COLOURS[result.verdict]}m{verdict}\x1b[0m"
            first, *rest = textwrap.wrap(detail, room) or [""]
            lines.append(f"{result.check:{wide}}  {verdict}  {first}".rstrip())
            lines += [" " * (wide + 11) + line for line in rest]
        for text in self.explanations():
            lines += ["", text]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.table(colour=sys.stdout.isatty() and "NO_COLOR" not in os.environ)

    __repr__ = __str__

    def page(self) -> str:
        """The report as a page of HTML."""
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width">'
            f"<title>opcheck: {self.subject}</title>"
            "<style>:root { color-scheme: light dark; font-family: sans-serif }</style>"
            f"</head><body>\n{self._repr_html_()}\n</body></html>\n"
        )

    def _repr_html_(self) -> str:
        """The report for a notebook; its colours are those of the page around it."""
        groups = self._groups()

        def cell(result: Result) -> str:
            first = groups.get(self._root(result), [result])[0]
            if result.verdict == "fail" and first is not result:
                return html.escape(f"{result.detail}: as for {first.check}")
            parts = [(label, html.escape(text)) for label, text in result.labelled()]
            if result.chapter:
                link = f'<a href="{result.address}">{result.address}</a>'
                parts.append(("read", link))
            if error := result.error:
                link = f'<a href="{entries()[error].address}">{error}</a>'
                parts.append(("see", link))
            if result.line:
                shown = html.escape(result.shown_line())
                parts.append(("reproduce", f"<code>{shown}</code>"))
            items = "".join(f"<dt>{label}</dt><dd>{part}</dd>" for label, part in parts)
            return html.escape(result.detail) + (f"<dl>{items}</dl>" if items else "")

        rows = "\n".join(
            f'<tr class="opcheck-{result.verdict}">'
            f'<th scope="row">{result.check}</th>'
            f"<td>{result.verdict}</td><td>{cell(result)}</td></tr>"
            for result in self.results
        )
        return (
            f"<style>{_STYLE}</style>\n"
            f'<table class="opcheck"><caption>{html.escape(self.summary())}</caption>\n'
            '<thead><tr><th scope="col">Check</th><th scope="col">Verdict</th>'
            f'<th scope="col">Detail</th></tr></thead>\n<tbody>\n{rows}\n</tbody></table>'
        )


def joined(failures: Sequence[Result], untried: int = 0) -> Result:
    """One result of several failures: the first is told in full, the others by name."""
    first, *others = (
        replace(one, detail=re.sub(r"; \d+ more(: .*)?$", "", one.detail), others=())
        for one in failures
    )
    names = [one.detail for one in others]
    names = [name for name in dict.fromkeys(names) if name != first.detail]
    more = f"; {len(others)} more" if others else ""
    if names:
        more += f": {'; '.join(names[:4])}{'; …' if len(names) > 4 else ''}"
    if untried:
        more += f"; {untried} other calls not tried"
    return replace(first, detail=first.detail + more, others=tuple(others))


def _differs(result: Result) -> bool:
    """Whether what is seen is another value."""
    return " instead of " in result.seen


def is_garbled(result: Result) -> bool:
    """Whether all that is wrong is a message that Python cannot read."""
    return result.seen.startswith("UnicodeDecodeError")


class Skip(Exception):
    """Raised by a check that cannot run, with the reason."""


class Findings:
    """What one check collects while it runs.

    One failure is explained in full, the first crash or else the first of all; of the others the
    report gives the number and some names.
    """

    def __init__(self, check: str, chapter: str):
        self.check = check
        self._result = Result(check, "pass", chapter=chapter)
        self.failures: list[Result] = []
        self.notes: list[str] = []
        self.passed: list[str] = []
        self.untried = 0  # calls, after failures that make more of them pointless

    def fail(
        self,
        what: str,
        expected: str,
        seen: str,
        cause: str = "",
        chapter: str = "",
        line: str = "",
    ):
        """Records a failure: `what` was tried, what came of it, Python that does it again."""
        self.failures.append(
            replace(
                self._result,
                verdict="fail",
                detail=what,
                expected=expected,
                seen=essence(seen),
                cause=cause if cause == NOT_ALONE else likely_cause(seen) or cause,
                chapter=chapter or self._result.chapter,
                line=with_expected(line, seen, expected),
                message=seen,
            )
        )

    def note(self, text: str):
        """Records something to know that is no failure."""
        if text not in self.notes:
            self.notes.append(text)

    def result(self, summary: str = "") -> Result:
        """What the report shows; `summary` is the detail if all is well."""
        if self.failures:
            # What ends the process is the worst; then come values, and what a line shows.
            died = re.compile("the process (died|ended)|no answer within|SIG")
            ordered = sorted(
                self.failures,
                key=lambda one: (
                    bool(died.search(one.seen)),
                    not is_garbled(one),
                    one.cause != UNNAMED,
                    bool(one.line),
                ),
                reverse=True,
            )
            return joined(ordered, self.untried)
        if self.notes:
            detail = "; ".join(filter(None, [summary, *self.notes]))
            return replace(self._result, verdict="note", detail=detail, chapter="")
        return replace(self._result, detail=summary, chapter="")


def describe_error(error: BaseException) -> str:
    """The type of an exception and its message, which may begin with a long list of frames."""
    return f"{type(error).__name__}: {getattr(error, 'message', None) or error}"[:9000]


def essence(text: str) -> str:
    """An error's message without what TensorFlow puts around it: nodes, and frames of Python."""
    text = re.sub(r"\{\{function_node [^}]*\}\} *", "", text)
    text = re.sub(
        r"Graph execution error:\s+Detected at node (\S+) defined at .*?\n"
        r"(\s*(File |<stack traces unavailable>).*?\n)+\s*",
        r"at node \1: ",
        text,
    )
    text = re.sub(r"in user code:\s+(?:File .*\n.*\n\s*)+", "", text)
    text = re.sub(r"^(\w+: )\1", r"\1", text)
    text = re.sub(r"\s*\[\[\{\{node [^}]*\}\}\]\]", "", text)
    text = re.sub(r"\s*\[Op:[^\]]*\]( name:[^;\n]*)?", "", text)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def by_signal(seen: str, doing: object = "", flat: Sequence = ()) -> str:
    """What a signal that has ended a process says of the reason, and the mode and the flat inputs of the call."""
    if "SIGFPE" in seen:
        return "an integer is divided by 0, or the least one by -1"
    if "SIGSEGV" in seen or "SIGBUS" in seen:
        if doing == "guarded":
            return READS_PAST
        told = "memory that is not its own is read or written: an index or a size that is not checked"
        if any(x.dtype == object for x in flat):
            told += "; or a C++ exception that Compute() does not catch, as std::stoi throws one"
        return told
    return ""


def likely_cause(seen: str) -> str:
    """What an error's message itself gives away, whichever check met it."""
    for words, cause in _GIVEN_AWAY.items():
        if re.search(words, seen):
            return cause
    return ""
