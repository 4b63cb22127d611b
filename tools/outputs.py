"""What the cells of a page show, held to what they showed when somebody last looked at it.

docs/support/outputs/PAGE.txt has the outputs of a page. Where the build sees another one, it fails and says which;
`make page PAGE=x ACCEPT=1` takes what there is now. Numbers with a point may differ in the fourth digit, as they do
from processor to processor. A cell with the tag `varies` is not compared: it shows what is another on each machine.
"""

import html
import math
import os
import re
from itertools import zip_longest
from pathlib import Path

from book import proven_tensorflow
from nbformat import NotebookNode

NUMBER = re.compile(r"(-?\d+\.\d*(?:e[+-]?\d+)?|-?\d+e[+-]?\d+)")
# What is another in each run or on each machine: addresses, temporary folders, how long a test took, the name of the
# machine; and what counts all that came before.
VOLATILE = [
    (re.compile(r"\b0x[0-9a-f]{6,}\b"), "0x…"),
    (re.compile(r"(/tmp|/var/folders)/[\w./-]+"), "/tmp/…"),
    (re.compile(r"\bin \d+\.\d+s\b( \(\d+:\d\d:\d\d\))?"), "in …s"),
    (re.compile(r"(\bport |127\.0\.0\.1:)\d{4,5}\b"), r"\1…"),
    (re.compile(r"'_\d+_"), "'_…_"),  # a resource of a graph, by number
    (re.compile(r"\brunning\s+on\s+[\w-]+(\.[\w-]+)*"), "running on …"),
    (re.compile(r"\bgoo\.gle/debug\w+"), "goo.gle/debug…"),  # one of three, by chance
    (re.compile(r"\b(__inference_\w+?|pyfunc)_\d+\b"), r"\1_…"),
]


def shown(notebook: NotebookNode) -> list[tuple[int, str]]:
    """The index of each cell that shows or records something, and what, as text."""
    found = []
    for index, cell in enumerate(notebook.cells):
        tags = cell.metadata.get("tags", ())
        if cell.cell_type != "code" or "varies" in tags:
            continue
        texts = [text_of(output, "remove-cell" in tags) for output in cell.outputs]
        if text := "\n".join(filter(None, texts)):
            found.append((index, text))
    return found


def text_of(output: NotebookNode, removed: bool) -> str:
    """An output as text: of a picture its alternative, of a recorded value its name and value."""
    if book := output.get("metadata", {}).get("scrapbook"):
        value = output.data["application/papermill.record/text/plain"]
        return f"{book['name']} = {value}"
    if removed or output.output_type == "error":
        return ""
    if output.output_type == "stream":
        return output.text.strip()
    if page := output.data.get("text/html"):
        return html.unescape("\n".join(re.findall(r'aria-label="([^"]*)"', page)))
    return output.data.get("text/plain", "").strip()


def steady(text: str) -> str:
    for pattern, replacement in VOLATILE:
        text = pattern.sub(replacement, text)
    return "\n".join(line.rstrip() for line in text.splitlines())


def same(expected: str, seen: str) -> bool:
    """Whether two texts agree, but for the last digits of their numbers and for white space."""
    one, other = (NUMBER.split(" ".join(text.split())) for text in (expected, seen))
    return len(one) == len(other) and all(
        math.isclose(float(a), float(b), rel_tol=1e-3, abs_tol=1e-6)
        if place % 2
        else a.split() == b.split()
        for place, (a, b) in enumerate(zip(one, other))
    )


def written(outputs: list[str]) -> str:
    """The file of a page: its outputs, a line of dashes before each."""
    return "".join(f"{'-' * 20}\n{text}\n" for text in outputs)


def difference(page: Path, notebook: NotebookNode) -> tuple[int, str] | None:
    """The first cell that shows something else than before, and a sentence on it; None if there is none.

    With ACCEPT in the environment it writes what there is. Other releases of TensorFlow say and compute some things
    otherwise: compared is with the one of constraints.txt.
    """
    if not proven_tensorflow():
        return None
    now = [(index, steady(text)) for index, text in shown(notebook)]
    path = page.parent / "support" / "outputs" / f"{page.stem}.txt"
    if os.environ.get("ACCEPT"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(written([text for _, text in now]))
        if not now:
            path.unlink()
        return None
    kept = path.read_text() if path.exists() else ""
    before = re.split(r"^-{20}\n", kept, flags=re.M)[1:]
    before = [steady(text.strip("\n")) for text in before]
    for expected, seen in zip_longest(before, now):
        index, text = seen or (len(notebook.cells) - 1, "nothing")
        if expected is None or not same(expected, text):
            what = f"shows `{text}`, not `{expected or 'nothing'}`"
            return (
                index,
                f"{what}: if that is right, make page PAGE={page.stem} ACCEPT=1",
            )
    return None
