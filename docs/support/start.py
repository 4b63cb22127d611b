"""Runs before the cells of every page.

The cells then work in the root of the book, find the examples, do without the log and without GPUs, and have `record`,
`table`, `printed` and `see_gpus`.
"""

import os
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from pathlib import Path

from IPython import get_ipython
from IPython.display import display

root = Path(__file__).resolve().parents[2]
folders = [
    str(root / "docs" / "support"),
    str(root / "docs"),  # where pictures are
    str(root / "examples" / "common"),
    *(str(p.parent) for p in root.glob("examples/*/CMakeLists.txt")),
    str(root / "packages" / "opcheck"),
]

os.chdir(root)
# What a page shows of pytest and pip depends on the page alone.
os.environ.pop("PYTEST_ADDOPTS", None)
os.environ["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
sys.path[:0] = folders
# What chapters show of TensorFlow's own ops is of the CPU.
os.environ.setdefault("OP_BY_OP_GPUS", os.environ.get("CUDA_VISIBLE_DEVICES", "all"))
os.environ |= {
    "CUDA_VISIBLE_DEVICES": "-1",
    "PATH": os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]]),
    "VIRTUAL_ENV": sys.prefix,
    "PYTHONPATH": os.pathsep.join(folders),
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "TF_ENABLE_ONEDNN_OPTS": "0",
    # Several notebooks share a GPU: each takes no more of its memory than it needs.
    "TF_FORCE_GPU_ALLOW_GROWTH": "true",
    "NO_COLOR": "1",
}


def see_gpus() -> None:
    """Lets the cells see the GPUs that this machine has. TensorFlow looks for them once, at its first op."""
    if (own := os.environ["OP_BY_OP_GPUS"]) == "all":
        os.environ.pop("CUDA_VISIBLE_DEVICES", None)
    else:
        os.environ["CUDA_VISIBLE_DEVICES"] = own


def record(**values: object) -> None:
    """Keeps values for the text around the cells, where the role `value` shows them.

    A reader of a notebook sees nothing of it: MyST-NB takes what is displayed under this type.
    """
    for name, value in values.items():
        item = getattr(value, "item", lambda value=value: value)()
        display(
            {"application/papermill.record/text/plain": repr(item)},
            metadata={
                "scrapbook": {
                    "name": name,
                    "mime_prefix": "application/papermill.record/",
                }
            },
            raw=True,
        )


def table(
    header: Sequence[object], rows: Iterable[Sequence[object]], folded: str = ""
) -> None:
    """Shows a table; its cells are Markdown. A long one can be folded, under a line of text."""
    lines = [
        "| " + " | ".join(str(cell).replace("|", r"\|") for cell in row) + " |"
        for row in [header, ["---"] * len(header), *rows]
    ]
    text = "\n".join(lines)
    if folded:
        summary = f"<summary>{folded}</summary>"
        text = f"<details>{summary}\n\n{text}\n\n</details>"
    display({"text/markdown": text, "text/plain": text}, raw=True)


class Keeping:
    """A stream that keeps what each cell writes to it."""

    def __init__(self, stream):
        self.stream, self.cells = stream, [[]]

    def write(self, text: str) -> int:
        self.cells[-1].append(text)
        return self.stream.write(text)

    def __getattr__(self, name: str):
        return getattr(self.stream, name)


def printed() -> str:
    """What the cell before this one printed, its words separated by one space."""
    return " ".join("".join(sys.stdout.cells[-2]).split())


sys.stdout = Keeping(sys.stdout)
get_ipython().events.register("pre_run_cell", lambda _: sys.stdout.cells.append([]))
