"""What changes from one step of the guided project to the next."""

import difflib
import re
from pathlib import Path

from IPython.display import Markdown

HERE = Path("examples/sliding_max")


def _lines(step: int) -> list[str]:
    code = (HERE / f"steps/step_{step}.cc").read_text()
    code = re.sub(r"SlidingMax\d", "SlidingMax", code)
    code = re.sub(r" +\\$", r" \\", code, flags=re.M)
    return code.splitlines()


def difference(old: int, new: int) -> Markdown:
    """The lines that go and come, with one line around them; neither `#include` lines nor the first comment."""
    rows = []
    for row in difflib.unified_diff(_lines(old), _lines(new), n=1, lineterm=""):
        if (
            row.startswith(("---", "+++"))
            or "#include" in row
            or "// SlidingMax" in row
        ):
            continue
        if row.startswith("@@"):
            row = " …"
        if row.strip() or (rows and rows[-1].strip() != "…"):
            rows.append(row)
    text = "\n".join(rows)
    text = re.sub(r"(?: …\n\s*)+( …\n)", r"\1", text).rstrip().removeprefix(" …\n")
    return Markdown(f"```diff\n{text}\n```")
