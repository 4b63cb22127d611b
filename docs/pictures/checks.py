"""The tables of the page on the checks and options of opcheck, made of its own code."""

import ast
import inspect
import re
from collections.abc import Callable

from pictures.anchors import Table, marked, tables_beside

import opcheck
from opcheck import CHECKS, fuzzing, strategies

# Of each check a bug that somebody has reported: where, and what. Then from what somebody wants to the options of
# `opcheck.check`, and to what is none of these.
TEXTS = tables_beside(__file__)
GROUPS = {
    "values": "reference eager_vs_graph dtypes vectorize xla devices",
    "shapes": "static_shape gradient",
    "errors": "empty bad_input bounds large_tensors",
    "calls": "concurrency determinism immutability leaks",
    "models": "saved_model schema",
}
CHECK_OPTIONS = {
    "which": "checks skip expected_failures fast raise_on_failure",
    "what": "attrs samples",
    "right": "reference tolerances nondeterministic special_values gradient gradient_tolerance delta old_op_def",
    "how": "repeats concurrency_seconds timeout memory gpu isolate",
    "own": "op_types extra",
}
FUZZ_OPTIONS = "examples seconds variations thorough seed reference skip progress"
AS_FOR_CHECK = "tolerances nondeterministic timeout memory gpu"
SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
REPORT = "ok failures summary() assert_ok()"


def report() -> Table:
    """What a report has."""
    members = [getattr(opcheck.Report, call.strip("()")) for call in REPORT.split()]
    docs = map(inspect.getdoc, members)
    rows = [(f"`{call}`", doc) for call, doc in zip(REPORT.split(), docs)]
    rows.append(("`line`, after `fuzz`", inspect.getdoc(fuzzing.FuzzReport.line)))
    return ["Of a report", "What it is or does"], rows


def recipes() -> Table:
    """What to write for an op of some kind, with a link to what it is.

    Raises:
      TypeError: `opcheck.check` has no such option.
    """
    rows = []
    for want, options in TEXTS["recipes"]:
        call = ast.parse(f"check(op, {options})", mode="eval").body
        names = [keyword.arg for keyword in call.keywords]
        if unknown := set(names) - inspect.signature(opcheck.check).parameters.keys():
            raise TypeError(f"opcheck.check has no option {unknown}")
        anchor = f"option-{names[0].replace('_', '-')}"
        rows.append((want, f'<a href="#{anchor}">`{options}`</a>'))
    return ["When", "Write"], [*rows, *map(tuple, TEXTS["elsewhere"])]


def checks(group: str) -> Table:
    """The checks of a group, with a bug of the kind where one is known.

    Raises:
      ValueError: A check is in no group.
    """
    if CHECKS.keys() != set(" ".join(GROUPS.values()).split()):
        raise ValueError(f"GROUPS has other checks than opcheck: {' '.join(CHECKS)}")
    rows, bugs = [], {name: bug for name, *bug in TEXTS["bugs"]}
    for name in GROUPS[group].split():
        says = folded(CHECKS[name].summary)
        if name in bugs:
            address, what = bugs[name]
            owner, repository, _, number = address.split("/")
            where = "" if repository == "tensorflow" else f"{owner}/{repository} "
            link = f"[{where}#{number}](https://github.com/{address})"
            says += f"{'' if says.endswith('>') else '<br>'}A bug of this kind: {what} ({link})"
        rows.append((marked(f"check-{name}", f"`{name}`"), says))
    return ["Check", "What it does"], rows


def folded(text: str) -> str:
    """The first sentence, with a list of the others to be unfolded if the text is long."""
    text = re.sub(r"\*\*(\d+)", lambda power: power[1].translate(SUPERSCRIPT), text)
    if "**" in text:
        raise ValueError(f"Markdown takes the ** for bold: {text}")
    if len(text) < 240:
        return text
    first, *rest = re.split(r"(?<=[.)]) (?=[A-Z`(])", text)
    items = "".join(f"<li>{sentence}</li>" for sentence in rest)
    return f"{first}<details><summary>More</summary><ul>{items}</ul></details>"


def check_options(group: str) -> Table:
    known = " ".join(CHECK_OPTIONS.values())
    return options(opcheck.check, CHECK_OPTIONS[group], known)


def fuzz_options() -> Table:
    return options(fuzzing.fuzz, FUZZ_OPTIONS, f"{FUZZ_OPTIONS} {AS_FOR_CHECK}")


def options(function: Callable, shown: str, known: str) -> Table:
    """The options of a function to show, from its signature and docstring; the page has to show all that are known."""
    parameters = inspect.signature(function).parameters.values()
    defaults = {x.name: x.default for x in parameters if x.default is not x.empty}
    if defaults.keys() != set(known.split()):
        raise ValueError(f"not on the page: {defaults.keys() ^ set(known.split())}")
    _, _, said = inspect.getdoc(function).partition("Args:\n")
    said = re.split(r"\n\n\w+:\n", said)[0]
    purposes = dict(re.findall(r"^  \*?(\w+): (.*(?:\n    .*)*)", said, re.M))
    gigabytes = {number << 30: f"{number} << 30" for number in range(1, 9)}
    kind, rows = "fuzz" if function is fuzzing.fuzz else "option", []
    for name in shown.split():
        default = gigabytes.get(defaults[name], repr(defaults[name]))
        option = marked(f"{kind}-{name}", f"`{name}={default}`")
        rows.append((option, folded(" ".join(purposes[name].split()))))
    return ["Option", "For"], rows


def strategies_of_opcheck() -> Table:
    rows = []
    for name in ("calls", "tensors", "texts", "shapes", "mostly"):
        function = getattr(strategies, name)
        parameters = inspect.signature(function).parameters.values()
        texts = (str(x.replace(annotation=x.empty)) for x in parameters)
        purpose = inspect.getdoc(function).partition("\n")[0].rstrip(".")
        rows.append((f"`{name}({', '.join(texts)})`", purpose))
    return ["Strategy", "For"], rows
