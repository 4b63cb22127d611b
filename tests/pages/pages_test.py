"""What a page can say beyond Markdown, and how the build says what is wrong with a page."""

import re
import socket
from pathlib import Path

import nbformat
import pytest
from book import listed_parts, proven_tensorflow
from bs4 import BeautifulSoup
from small_pages import beginning, build, cell

FRONT = beginning()
# Its tests share one build of a small book.
pytestmark = pytest.mark.xdist_group("small pages")
GOOD = (
    """\
:::{dropdown} A solution
Text.
:::

It is {value}`small:.1f` or {value}`small`, {value}`many:,` times, for {value}`reason`.

| Times |
|---|
| {value}`many:.1e` |

:::{note}
An op, and another op with a `kernel`. Two Kernels.
:::

"""
    + cell(
        """\
import numpy as np

record(small=np.float64(1.26), many=123456, reason="a reason")
table(["Name", "*Value*"], [["`x|y`", 2], ["[this](good.md)", None]])""",
        "varies",
    )
    + cell(
        """\
for _ in range(2):
    print("Dimensions must be\\n    equal, but are 2 and 3")""",
        "varies",
    )
)
GLOSSARY = """\
# Glossary

```{glossary}
op
  A step of a graph.

  See [a page](good.md).

kernel
kernels
  What computes it.

  See [a page](good.md).
```
"""


# From a page's text to what the build says, with the line in that text.
WRONG = {
    "value": ("Of these, {value}`unknown`.", 1, "'unknown'"),
    "fold": (
        ":::{dropdown} More\nOf {value}`unknown:d`.\n:::",
        2,
        "'unknown'",
    ),
    "directive": ("Text.\n\n```{mystery} x\n```", 3, "'mystery'"),
    "role": ("Text.\n\nA {mystery}`x`.", 3, '"mystery"'),
    "link": ("[x](gone.md)", 1, "'gone.md'"),
    "section": (
        "```{snippet} zero_out/zero_out.cc#no\n```",
        1,
        r"examples/zero_out/zero_out.cc has no section \[no\]",
    ),
    "drawing": ("```{drawing} gone.svg\nText.\n```", 1, "no drawing gone.svg"),
    "broken_drawing": (
        "Text.\n\n```{raw} html\n<div><svg viewBox='0 0 1 1'></div>\n```\n\n"
        + cell("x = 1"),
        3,
        "a drawing is no XML: mismatched tag",
    ),
    "options_of_a_cell": (
        "```{code-cell} ipython3\n:tags: [remove-cell\n\n1\n```",
        None,
        "cannot be read: MystMetadataParsingError: Code cell.* line 12",
    ),
    "nothing_like_it_in_notebooks": (
        "Text.\n\n```{figure} https://example.org/x.png\n```\n\n" + cell("x = 1"),
        3,
        "a notebook has nothing for <image>",
    ),
    "guard": (
        cell("1 + 1") + cell("x = 1\nassert x == 2", "remove-cell"),
        9,
        "code cell 2 fails at `assert x == 2`: AssertionError",
    ),
    "removed_cell": (
        cell("x = 3\nprint('out', x)", "remove-cell"),
        4,
        "code cell 1 is removed, and so is what it shows: out 3",
    ),
    "dead_kernel": (
        cell("# The end.\nimport os\n\nos._exit(1)"),
        2,
        "code cell 1 fails at `# The end.`: the kernel died",
    ),
    "changed_output": (
        cell("1 + 1"),
        2,
        "code cell 1 shows `2`, not `nothing`: if that is right, make page PAGE=changed_output ACCEPT=1",
    ),
    "failing_test": (
        cell(
            "%%bash -e -o pipefail\n"
            "echo 'def test_it(): assert list(range(9)) == [3]' > $TMPDIR/book_test.py\n"
            "COLUMNS=200 python -m pytest --rootdir $TMPDIR $TMPDIR/book_test.py | sed s/x/x/"
        ),
        2,
        "code cell 1 fails at .*: FAILED .*book_test.py::test_it - as",
    ),
    "digits": (
        "Of these, {value}`word:0`.\n\n" + cell("record(word=1.5)", "varies"),
        1,
        "word:0: two digits, :2, or a format such as :.0f",
    ),
    "format": (
        "{value}`word:.1f`\n\n" + cell("record(word='x')", "varies"),
        1,
        "could not convert string to float",
    ),
}


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> tuple[Path, list[str]]:
    """A small book, built with the settings of the book: where it is, and what the build said."""
    root = tmp_path_factory.mktemp("book")
    pages = {"good": FRONT + GOOD, "errors": FRONT, "glossary": GLOSSARY}
    pages |= {name: FRONT + text for name, (text, _, _) in WRONG.items()}
    pages["front_matter"] = "---\nops: [X\n---\n# A page"
    pages["kernel"] = FRONT.replace("name: python3", "name: nope") + cell("1")
    listed = "\n- ".join(pages)
    pages["index"] = f"# Index\n\n```{{chapters}}\nPart:\n- {listed}\n```\n"
    run = build(root, pages)
    assert run.returncode
    return root, run.stderr.splitlines()


@pytest.mark.slow
def test_notebooks_are_offered_of_what_is_right(built):
    folder = built[0] / "html" / "notebooks"
    names = {path.name for path in folder.glob("*.ipynb")}
    assert names == {"good.ipynb"}, "the page errors has no cell"
    notebook = nbformat.read(folder / "good.ipynb", as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    # The set-up, which has not run; the table; what was printed.
    shown = [[output.output_type for output in cell.outputs] for cell in code]
    assert shown == [[], ["display_data"], ["stream"]]
    assert "papermill" not in str(code) and "record(" not in str(code)
    assert any("> **A solution**" in cell.source for cell in notebook.cells)


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


def test_a_message_leads_to_its_entry(built):
    page = BeautifulSoup((built[0] / "html" / "good.html").read_text(), "html.parser")
    links = page.select(".cell_output .error-links a")
    assert [link["href"] for link in links] == ["errors/dimensions-must-be-equal.html"]


def test_the_first_use_of_a_term_is_a_link_with_its_meaning(built):
    page = BeautifulSoup((built[0] / "html" / "good.html").read_text(), "html.parser")
    links = [(x.string, x["href"], x["data-meaning"]) for x in page.select("a.term")]
    assert links == [
        ("op", "glossary.html#term-op", "A step of a graph."),
        ("Kernels", "glossary.html#term-kernel", "What computes it."),
    ]


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_one_line_with_page_and_line(built, name):
    _, line, what = WRONG[name]
    if name == "changed_output" and not proven_tensorflow():
        pytest.skip("outputs are compared with the proven TensorFlow alone")
    said = [each for each in built[1] if f"/{name}.md" in each]
    assert len(said) == 1
    place = f":{FRONT.count(chr(10)) + line}" if line else ""
    assert re.search(rf"{name}\.md{place}: .*{what}", said[0])


def test_a_kernel_starts_though_its_port_is_taken(monkeypatch):
    from cells import KernelClient
    from jupyter_client.provisioning.local_provisioner import LocalPortCache

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 + 1")])
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr(LocalPortCache, "find_available_port", lambda *_: port)
        KernelClient(notebook, kernel_name="python3").execute()
    assert notebook.cells[0].outputs[0].data["text/plain"] == "2"


@pytest.mark.parametrize(
    "name, what", [("front_matter", "Malformed YAML"), ("kernel", "NoSuchKernel")]
)
def test_a_page_that_cannot_be_read_is_one_line(built, name, what):
    assert not any("Traceback" in line for line in built[1])
    said = [line for line in built[1] if f"/{name}.md" in line]
    assert len(said) == 1 and what in said[0]


def test_a_part_without_pages_is_not_shown():
    lines = ["First steps:", "- one", "- two", "", "Later:", "Tools:", "- three"]
    parts = {"First steps": ["one", "two"], "Tools": ["three"]}
    assert listed_parts(lines) == parts
