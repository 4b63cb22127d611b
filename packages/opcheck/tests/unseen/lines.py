"""Whether the line of a finding shows the failure in a fresh process."""

import re
import signal
import subprocess

import forked
import numpy as np

NUMBER = r"-?\d+\.?\d*(?:e[+-]?\d+)?|-?inf|-?nan|True|False"


def in_fork(line: str, timeout: float):
    """Runs a line in a process of its own: its exit status, None if it was ended, and what it printed."""
    try:
        run = forked.run(line, timeout=timeout)
    except subprocess.TimeoutExpired:
        return None, "", ""
    return run.returncode, run.stdout, run.stderr


def missing(check: str, seen: str, line: str, timeout: float = 120) -> str:
    """What of a failure the line does not show; nothing if it shows it all.

    Args:
      check: The check that has found it.
      seen: What it has seen.
      line: Python that is to show it.
      timeout: Seconds after which a call counts as hung.
    """
    code, out, err = in_fork(line, timeout)
    if code is None:
        return "" if "no answer within" in seen else "it hangs"
    if "no answer within" in seen:
        return "it ends"
    shown = out + err
    if "opcheck.check(" in line:  # a crash ends a process of the check's
        table = re.search(rf"^{check} +fail", out, re.MULTILINE)
        return "" if table else f"no failure of {check}: {shown[-300:]}"
    if died := re.match(r"the process died of (SIG\w+)", seen):
        wanted = -signal.Signals[died[1]]
        return "" if code == wanted else f"exit status {code}"
    if "past_the_end(" in line:
        return "" if re.search("[1-9]", out) else out
    if "import slope;" in line:
        told = seen.split()[0]
        return "" if out.startswith(f"{told} for ") else f"no {told}: {shown[-300:]}"
    if shapes := re.match(r"shape (\(.*\))", seen):
        return "" if f"shape={shapes[1]}" in out else shown[-300:]
    if errors := re.findall(r"\w+Error: ([^;]*)", seen):
        words = _bare(errors[0])[:60]
        return "" if words in _bare(shown) else f"no {words!r}: {shown[-300:]}"
    if shapes := re.match(
        r"output \d+ of inferred shape (.*) has shape \[(.*)\]", seen
    ):
        return "" if _shows_shapes(shapes, shown) else shown[-300:]
    if found := re.search(r" is (.*?) instead of (.*?) \(", seen):
        absent = [one for one in found.groups() if not _printed(one, out)]
        return f"no {', '.join(absent)}: {shown[-300:]}" if absent else ""
    if found := re.search(r"has shape \[(.*?)\] instead of", seen):
        return "" if f"shape=({found[1]}" in out else shown[-300:]
    if re.fullmatch(NUMBER, seen):
        return "" if _printed(seen, out) else f"no {seen}: {shown[-300:]}"
    return f"not judged: {seen}"


def _bare(text: str) -> str:
    return re.sub(r"\s+|\{\{.*?\}\}", "", text)


def _shows_shapes(shapes: re.Match, shown: str) -> bool:
    inferred, own = (re.findall(r"\d+|None|unknown", one) for one in shapes.groups())
    in_all = [
        re.findall(r"\d+|None|unknown", x) for x in re.findall(r"\([^()]*\)", shown)
    ]
    return inferred in in_all and own in in_all


def _printed(value: str, text: str) -> bool:
    """Whether a value stands among what is printed, which has fewer digits."""
    if not re.fullmatch(NUMBER, value):
        return value[:20] in text
    if value in ("True", "False"):
        return value in text
    numbers = [float(one) for one in re.findall(NUMBER, text) if one[-1] != "e"]
    relative = 1e-3 if "float16" in text else 1e-5
    return bool(np.isclose(float(value), numbers, relative, 1e-8, True).any())
