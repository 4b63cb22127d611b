"""What a page can say beyond Markdown, and how the build says what is wrong with a page."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

ROOT = Path(__file__).parents[1]
FRONT = """\
---
file_format: mystnb
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

# A page

```{code-cell} ipython3
:tags: [remove-cell]

%run start.py
```

"""
GOOD = """\
It is {value}`small:.1f` or {value}`small`, {value}`many:,` times, for {value}`reason`.

| Times |
|---|
| {value}`many:.1e` |

```{code-cell} ipython3
import numpy as np

record(small=np.float64(1.26), many=123456, reason="a reason")
table(["Name", "*Value*"], [["`x|y`", 2], ["[this](good.md)", None]])
```
"""
# From a page's text to what the build says, with the line in that text.
WRONG = {
    "value": ("Of these, {value}`unknown`.", 1, "'unknown'"),
    "value_in_a_note": (":::{note}\nOf {value}`unknown:d`.\n:::", 2, "'unknown'"),
    "format": (
        "{value}`word:.1f`\n\n```{code-cell} ipython3\nrecord(word='x')\n```",
        1,
        "could not convert string to float",
    ),
}


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> tuple[Path, list[str]]:
    """A small book, built with the settings of the book: where it is, and what the build said."""
    root = tmp_path_factory.mktemp("book")
    docs = root / "docs"
    docs.mkdir()
    pages = {"good": GOOD} | {name: text for name, (text, _, _) in WRONG.items()}
    for name, text in pages.items():
        (docs / f"{name}.md").write_text(FRONT + text)
    (docs / "start.py").write_text((ROOT / "docs" / "start.py").read_text())
    (docs / "index.md").write_text(
        "# Index\n\n```{toctree}\n" + "\n".join(pages) + "\n```\n"
    )
    sphinx = [sys.executable, "-m", "sphinx", "-nWq", "--keep-going", "-j", "auto"]
    run = subprocess.run(
        [*sphinx, "-c", ROOT, "-d", root / "doctrees", docs, root / "html"],
        capture_output=True,
        text=True,
    )
    assert run.returncode
    return root, run.stderr.splitlines()


def test_values_and_tables_come_from_the_cells(built):
    root, said = built
    assert not [line for line in said if "good.md" in line]
    page = BeautifulSoup((root / "html" / "good.html").read_text(), "html.parser")
    text = " ".join(page.article.get_text().split())
    assert "It is 1.3 or 1.26, 123,456 times, for a reason. Times 1.2e+05" in text
    cells = [
        [cell.get_text(strip=True) for cell in row.select("th, td")]
        for row in page.select(".cell_output tr")
    ]
    assert cells == [["Name", "Value"], ["x|y", "2"], ["this", "None"]]
    assert page.select_one(".cell_output td a[href='#']") is not None


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_one_line_with_page_and_line(built, name):
    _, line, what = WRONG[name]
    said = [each for each in built[1] if f"{name}.md" in each]
    assert len(said) == 1
    assert re.search(rf"{name}\.md:{FRONT.count(chr(10)) + line}: .*{what}", said[0])
