"""Pages that tests write: their cells do without TensorFlow, which a fork would have imported."""

import os
import subprocess
import sys
from pathlib import Path

from book import ROOT

FRONT = """\
---
file_format: mystnb
kernelspec:
  display_name: Python 3
  language: python
  name: python3
kernel: own
---

# {title}

"""


def beginning(title: str = "A page") -> str:
    """Front matter and title."""
    return FRONT.format(title=title)


def cell(source: str, tags: str = "") -> str:
    """A code cell. What one shows that does not vary is compared with docs/support/outputs."""
    options = f":tags: [{tags}]\n\n" if tags else ""
    return f"```{{code-cell}} ipython3\n{options}{source}\n```\n\n"


def build(root: Path, pages: dict[str, str]) -> subprocess.CompletedProcess:
    """Writes pages to docs, and builds a site of them in html, with the settings of the book."""
    docs = root / "docs"
    docs.mkdir()
    for name, text in pages.items():
        (docs / f"{name}.md").write_text(text)
    sphinx = [sys.executable, "-m", "sphinx", "-nWq", "--keep-going", "-j", "auto"]
    return subprocess.run(
        [*sphinx, "-c", ROOT, "-d", root / "doctrees", docs, root / "html"],
        capture_output=True,
        text=True,
        env={**os.environ, "TMPDIR": str(root)},
    )
