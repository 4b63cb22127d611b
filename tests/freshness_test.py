"""No page is stale: what has changed is executed again, what has not is not, and what is broken fails the build."""

import logging
import re
import subprocess
from pathlib import Path
from types import SimpleNamespace

import freshness
import pytest
from docutils import nodes

FRONT_MATTER = """---
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


small_book = pytest.mark.xdist_group("small book")


def executed(run: subprocess.CompletedProcess) -> set[str]:
    """The pages that a build of the site has executed."""
    assert run.returncode == 0, run.stdout + run.stderr
    return set(re.findall(r"/(\w+)\.md: Executing notebook", run.stdout + run.stderr))


@pytest.fixture(scope="module")
def book(scratch):
    """zero_out's example with small pages: one looks at its library, one at measurements, one at nothing."""
    root = scratch("zero_out")
    docs = root / "docs"
    (docs / "zero_out.md").write_text(
        FRONT_MATTER
        + "```{code-cell} ipython3\nfrom pathlib import Path\n"
        + 'len(Path("examples/zero_out/libzero_out.so").read_bytes())\n```\n'
    )
    (docs / "other.md").write_text(
        FRONT_MATTER + "```{code-cell} ipython3\n1 + 1\n```\n"
    )
    (docs / "tables.md").write_text(
        FRONT_MATTER + "```{code-cell} ipython3\nimport measured\n```\n"
    )
    (docs / "index.md").write_text(
        "# Book\n\n```{toctree}\nzero_out\nother\ntables\n```\n"
    )
    return root


@small_book
def test_exactly_the_pages_that_depend_on_a_change_are_executed(book, make):
    def docs():
        return executed(make(book, "docs", "SPHINXOPTS="))

    assert docs() == {"zero_out", "other", "tables"}
    assert docs() == set()

    for name in ("zero_out.cc", "zero_out.py", "CMakeLists.txt"):
        path = book / "examples" / "zero_out" / name
        path.write_text(path.read_text() + "\n")
        assert docs() == {"zero_out"}, name
        assert docs() == set(), name

    page = book / "docs" / "other.md"
    page.write_text(page.read_text() + "\nMore.\n")
    assert docs() == {"other"}

    (book / "bench" / "new.csv").touch()
    assert docs() == {"tables"}
    assert docs() == set()


@small_book
@pytest.mark.parametrize(
    ("new", "complaint"),
    [
        ("1 / 0", "ZeroDivisionError"),
        ("2\n```\n\n[A link](no.md)\n\n```text", "'no.md'"),
    ],
    ids=["cell", "link"],
)
def test_a_page_that_failed_fails_again(book, make, new, complaint):
    page = book / "docs" / "other.md"
    good = page.read_text()
    assert good.count("1 + 1") == 1
    page.write_text(good.replace("1 + 1", new))
    for _ in range(2):
        run = make(book, "docs")
        assert run.returncode
        assert complaint in run.stderr
    page.write_text(good)
    assert "other" in executed(make(book, "docs", "SPHINXOPTS="))


@small_book
def test_after_a_build_that_was_killed_every_page_is_executed(book, make):
    assert executed(make(book, "docs", "SPHINXOPTS=")) <= {
        "zero_out",
        "other",
        "tables",
    }
    (book / "build" / "doctrees" / "unfinished").touch()
    assert executed(make(book, "docs", "SPHINXOPTS=")) == {
        "zero_out",
        "other",
        "tables",
    }


def at_a_paragraph(source, line):
    node = nodes.paragraph()
    node.source, node.line = source, line
    return node


@pytest.mark.parametrize(
    ("location", "page"),
    [
        ("zero_out", "zero_out"),
        (("zero_out", 3), "zero_out"),
        ("docs/zero_out.md:3", "zero_out"),
        (at_a_paragraph("docs/zero_out.md", 3), "zero_out"),
        (at_a_paragraph("docs/zero_out.md", None), "zero_out"),
        (at_a_paragraph(None, None), None),
        (at_a_paragraph("elsewhere.py", 3), None),
        (None, None),
    ],
)
def test_a_warning_says_in_many_ways_which_page_it_is_about(location, page):
    env = SimpleNamespace(
        found_docs={"zero_out"}, path2doc=lambda path: Path(path).stem
    )
    complaints = freshness.Complaints(env)
    record = logging.makeLogRecord({"msg": "unknown page", "location": location})
    complaints.emit(record)
    assert complaints.pages == {page}


def replaced(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.xdist_group("drifting")
@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (
            "out(0) = in(0)",
            "out(0) = in(0) + T{1}",
            "assert first_elements_lost(zero_out) == 0",
        ),
        (
            ".TypeConstraint<float>",
            ".TypeConstraint<tensorflow::int16>",
            "NotFoundError",
        ),
        (
            "// [register]",
            "// [renamed]",
            "examples/zero_out/zero_out.cc has no section [register]",
        ),
    ],
    ids=["wrong value", "removed registration", "renamed section"],
)
def test_the_page_fails_when_its_example_is_broken(drifting, make, old, new, complaint):
    source = drifting / "examples" / "zero_out" / "zero_out.cc"
    good = source.read_text()
    replaced(source, old, new)
    try:
        run = make(drifting, "docs")
    finally:
        source.write_text(good)
    assert run.returncode
    assert complaint in run.stderr


@pytest.fixture(scope="module")
def drifting(scratch):
    return scratch("zero_out")
