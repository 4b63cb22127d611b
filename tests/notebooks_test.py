"""The notebooks say what the pages say, without what only Sphinx knows, and run where the book is not."""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))

import book as files  # noqa: E402
import notebooks  # noqa: E402
import set_up  # noqa: E402

CHAPTERS = files.chapters()
SITE, REPOSITORY = notebooks._urls()
OTHER = f"{SITE}other.html"
FILES = f"{REPOSITORY}/blob/main/examples"
TINY = f"[`examples/tiny/tiny.cc`]({FILES}/tiny/tiny.cc)\n\n"

FRONT = """\
---
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

"""
START = """
```{code-cell} ipython3
:tags: [remove-cell]

%run start.py
```

"""
BEFORE = f"{FRONT}# A page\n{START}".count("\n")


def cell(source: str) -> str:
    return f"\n```{{code-cell}} ipython3\n{source}\n```\n"


@pytest.fixture
def book(tmp_path):
    """A small book with one other page, one example and two pictures."""
    root = tmp_path / "the book"
    (root / "docs").mkdir(parents=True)
    (root / "docs" / "other.md").write_text(
        "(a-label)=\n# Another `page`\n\n## Call it: now\n\n(here)=\n### Deeper\n"
    )
    (root / "docs" / "dot.png").write_bytes(b"\x89PNG not really")
    (root / "docs" / "drawing.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 30 20"><path stroke="currentColor" d="M0 0 9 9"/></svg>'
    )
    tiny = root / "examples" / "tiny"
    tiny.mkdir(parents=True)
    (tiny / "CMakeLists.txt").write_text("project(tiny)\n")
    (tiny / "tiny.cc").write_text(
        "// [interface] What.\nint one;\n\n// [kernel] How.\nint two;  // ```\n"
    )
    (tiny / "tiny.py").write_text(
        "import os\n\n\ndef first():\n    return 1\n\n\ndef second():\n    return 2\n"
    )
    return root


def page(book: Path, markdown: str, name: str = "page") -> Path:
    path = book / "docs" / f"{name}.md"
    path.write_text(f"{FRONT}# A page\n{START}{markdown}")
    return path


def converted(book: Path, markdown: str) -> str:
    return notebooks.export(page(book, markdown), local=False).cells[2].source


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        (
            "```{snippet} tiny/tiny.cc#interface\n```",
            f"{TINY}```c++\n// [interface] What.\nint one;\n```",
        ),
        (
            "```{snippet} tiny/tiny.cc#kernel\n```",
            f"{TINY}````c++\n// [kernel] How.\nint two;  // ```\n````",
        ),
        (
            "```{literalinclude} ../examples/tiny/tiny.py\n:language: python\n:pyobject: second\n```",
            f"[`examples/tiny/tiny.py`]({FILES}/tiny/tiny.py)\n\n```python\ndef second():\n    return 2\n```",
        ),
        (
            "```{literalinclude} /../examples/tiny/CMakeLists.txt\n```",
            f"[`examples/tiny/CMakeLists.txt`]({FILES}/tiny/CMakeLists.txt)\n\n```cmake\nproject(tiny)\n```",
        ),
        (
            "```{code-block} console\n:caption: Try\n\n$ ls\n```",
            "`Try`\n\n```console\n$ ls\n```",
        ),
        ("```{note}\nOne\n\ntwo.\n```", "> **Note**\n>\n> One\n>\n> two."),
        ("```{tip} All on one line.\n```", "> **Tip**\n>\n> All on one line."),
        (
            ":::{admonition} A *title*\n:class: tip\nText.\n:::",
            "> **A *title***\n>\n> Text.",
        ),
        (
            "::::{dropdown} A solution\n:::{warning}\nNo.\n:::\n```{snippet} tiny/tiny.cc#interface\n```\n::::",
            "> **A solution**\n>\n> > **Warning**\n> >\n> > No.\n>\n> "
            + TINY.replace("\n\n", "\n>\n")
            + "> ```c++\n> // [interface] What.\n> int one;\n> ```",
        ),
        (
            "Before\n:::{note}\nText.\n:::\nafter.",
            "Before\n\n> **Note**\n>\n> Text.\n\nafter.",
        ),
        (
            "1. One\n\n   ```{note}\n   Text.\n   ```\n2. Two",
            "1. One\n\n   > **Note**\n   >\n   > Text.\n\n2. Two",
        ),
        (
            "> ```{note}\n> Text.\n> ```\n> More.",
            "> > **Note**\n> >\n> > Text.\n>\n> More.",
        ),
        (
            "::::{grid} 2\n:::{grid-item-card} One\nText.\n:::\n::::",
            "> **One**\n>\n> Text.",
        ),
        ("```{math}\nx^2\n```", "$$\nx^2\n$$"),
        (
            "```{toctree}\nother\n```\n\n% a comment\n\n(target)=\n\n```{raw} html\n<b>\n```\n\nText.",
            "Text.",
        ),
        (
            "Term\n: What it *is*.\n\nOther\n: This.\n: Or that.",
            "- **Term**:\n  What it *is*.\n\n- **Other**:\n  This.\n\n  Or that.",
        ),
        (
            "See [it](other.md), or\n[`two`](other.md#call-it-now).",
            f"See [it]({OTHER}), or\n[`two`]({OTHER}#call-it-now).",
        ),
        (
            "[](other.md) [](other.md#here) [](#here)",
            f"[Another page]({OTHER}) [Deeper]({OTHER}#here) [Deeper]({OTHER}#here)",
        ),
        (
            "## On *this* page\n\n[up](#on-this-page)",
            f"## On *this* page\n\n[up]({SITE}page.html#on-this-page)",
        ),
        ("> [a](other.md\n> 'A \"title\"') b", f'> [a]({OTHER} "A \\"title\\"") b'),
        (
            "| [a](other.md) | [a](other.md) |\n|---|---|\n| {sub}`1` | `x` |",
            f"| [a]({OTHER}) | [a]({OTHER}) |\n|---|---|\n| <sub>1</sub> | `x` |",
        ),
        (
            "[one][o] and [o], [T](https://tensorflow.org)\n\n[o]: other.md",
            f"[one]({OTHER}) and [o]({OTHER}), [T](https://tensorflow.org)",
        ),
        (
            "[f](../examples/tiny/tiny.cc) [d](../examples)",
            f"[f]({FILES}/tiny/tiny.cc) [d]({REPOSITORY}/tree/main/examples)",
        ),
        (
            "{doc}`other` {doc}`it <other>` {ref}`here`",
            f"[Another page]({OTHER}) [it]({OTHER}) [Deeper]({OTHER}#here)",
        ),
        (
            "A {term}`kernel`, two {term}`kernels <kernel>`; {kbd}`Ctrl`, {math}`x^2`",
            "A kernel, two kernels; <kbd>Ctrl</kbd>, $x^2$",
        ),
        (
            "{lines}`tiny` lines, {download}`all <../examples/tiny/tiny.cc>`",
            f"10 lines, [all]({FILES}/tiny/tiny.cc)",
        ),
        (
            "Some [text]{.small}, [a link](https://a.b){.c} and `code`{l=cpp}.",
            "Some text, [a link](https://a.b) and `code`.",
        ),
        *(
            (literal, literal)
            for literal in (
                "Not `{doc}` nor `[](x.md)` nor \\{doc}`x`.",
                "Text.\n\n    ```{note}\n    ```",
                "```text\n[](x.md)\n:::{note}\n```",
            )
        ),
        (
            "```{figure} dot.png\n:alt: A dot\n\nThe *caption*.\n```",
            "![A dot](data:image/png;base64,iVBORyBub3QgcmVhbGx5)\n\nThe *caption*.",
        ),
        (
            "![A *dot*](dot.png)",
            "![A *dot*](data:image/png;base64,iVBORyBub3QgcmVhbGx5)",
        ),
    ],
)
def test_constructs(book, markdown, expected):
    assert converted(book, markdown) == expected


def test_drawings_are_readable_on_any_ground(book):
    source = converted(book, "```{drawing} drawing.svg\nFrom [a]\nto b.\n```")
    alternative, data = re.fullmatch(
        r"!\[(.*)\]\(data:image/svg\+xml;base64,(.*)\)", source
    ).groups()
    assert alternative == r"From \[a\] to b."
    svg = notebooks.ElementTree.fromstring(notebooks.base64.b64decode(data))
    assert svg.tag == "{http://www.w3.org/2000/svg}svg" and svg.get("width") == "30"
    style = dict(part.split(":") for part in svg.get("style").split(";") if part)
    assert style == {
        "color": "#1f2328",
        "background": "#fff",
        "font-family": "sans-serif",
    }


@pytest.mark.parametrize(
    ("markdown", "line", "message"),
    [
        ("Text.\n\n```{mystery} x\n```", 3, "unknown directive {mystery}"),
        (
            ":::{note}\nText.\n\n```{mystery}\n```\n:::",
            4,
            "unknown directive {mystery}",
        ),
        (":::{note}\n:class: x\n\nAn\n{mystery}`x`.\n:::", 5, "unknown role {mystery}"),
        ("- One\n- {mystery}`x`", 2, "unknown role {mystery}"),
        ("```{note}\n:colour: red\nText.\n```", 1, "Unknown option key: 'colour'"),
        (
            "```{snippet} tiny/tiny.cc#shape\n```",
            1,
            "examples/tiny/tiny.cc has no section [shape]",
        ),
        (
            "```{literalinclude} ../examples/tiny/tiny.py\n:pyobject: third\n```",
            1,
            "'third' not found",
        ),
        ("```{literalinclude} gone.py\n```", 1, "gone.py"),
        ("[x](gone.md)", 1, "no page or file gone.md"),
        ("A\n[x](other.md#gone)", 2, "other.md has no heading or label gone"),
        ("{ref}`gone`", 1, "no label gone"),
        ("![x](gone.png)", 1, "no image gone.png"),
        ("{lines}`gone`", 1, "no example gone"),
        ("Text.[^1]\n\n[^1]: A note.", 1, "no footnotes"),
    ],
)
def test_what_a_notebook_cannot_say_is_an_error(book, markdown, line, message):
    with pytest.raises(notebooks.PageError) as error:
        converted(book, markdown)
    assert str(error.value).startswith(
        f"docs/page.md:{BEFORE + line}: "
    ) and message in str(error.value)


def test_a_notebook_is_complete(book):
    path = page(
        book,
        "Text.\n\n```{code-cell} ipython3\n:tags: [hide-input]\n\n1 + tiny\n```\n\n% nothing more\n",
    )
    notebook = notebooks.export(path, local=False)
    assert (
        notebook.metadata["kernelspec"]["name"] == "python3"
        and notebook.metadata["language_info"]["name"] == "python"
    )
    assert [cell.cell_type for cell in notebook.cells] == [
        "markdown",
        "code",
        "markdown",
        "code",
    ]
    title, start, _, last = notebook.cells
    assert (
        title.source.startswith("# A page\n\n*This notebook is a chapter of")
        and f"({SITE}page.html)" in title.source
    )
    assert (
        "start.py" in start.source and REPOSITORY in start.source and not start.metadata
    )
    assert '["set_up"]("tiny")' in start.source, "the cells use the example"
    assert last.source == "1 + tiny" and last.metadata == {"tags": ["hide-input"]}
    assert len({cell.id for cell in notebook.cells}) == 4


@pytest.mark.parametrize("local", [False, True])
@pytest.mark.parametrize("name", CHAPTERS)
def test_every_chapter_reads_well_without_sphinx(name, local):
    notebook = notebooks.export(CHAPTERS[name], local)
    nbformat.validate(notebook)
    assert nbformat.writes(notebook) == nbformat.writes(
        notebooks.export(CHAPTERS[name], local)
    )
    reader = MarkdownIt("commonmark").enable("table")
    for cell in notebook.cells:
        if cell.cell_type != "markdown":
            continue
        assert not re.search(r"^ *(:::|\(.*\)=$|%|\+\+\+)", cell.source, re.M), (
            cell.source
        )
        for token in reader.parse(cell.source):
            assert not token.info.startswith("{"), f"a directive in {cell.source}"
            for part, following in zip(
                token.children or [], [*(token.children or [])[1:], None]
            ):
                role = (
                    following is not None
                    and following.type == "code_inline"
                    and part.content.endswith("}")
                )
                assert not role, f"a role in {cell.source}"
                url = part.attrs.get("href") or part.attrs.get("src") or "https:"
                assert re.match(r"https?:|data:image/|mailto:", url), (
                    f"{url} leads nowhere from a notebook"
                )


def test_the_exporter_knows_what_the_site_knows():
    conf = runpy.run_path(str(ROOT / "conf.py"))
    directives, roles = [], []
    conf["setup"](
        SimpleNamespace(
            add_directive=lambda name, *_: directives.append(name),
            add_role=lambda name, *_: roles.append(name),
            connect=lambda *_: None,
        )
    )
    assert directives and set(directives) <= notebooks.DIRECTIVES.keys()
    assert roles and set(roles) <= notebooks.ROLES.keys()
    assert set(conf["myst_enable_extensions"]) == notebooks.EXTENSIONS
    assert conf["myst_heading_anchors"] == notebooks.HEADING_ANCHORS
    assert conf["html_baseurl"] == SITE


@pytest.fixture
def checkout(book):
    """The small book with the real tools and start."""
    shutil.copytree(
        ROOT / "tools", book / "tools", ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copy(ROOT / "docs" / "start.py", book / "docs")
    shutil.copy(ROOT / "pyproject.toml", book)
    shutil.rmtree(book / "examples" / "tiny")
    return book


def test_a_failing_cell_fails_the_command_and_no_other_chapter(checkout):
    page(checkout, cell("1 + 1") + cell("# sum\nundefined + 1"), "broken")
    page(
        checkout,
        cell(
            "import os, sys\nprint(os.getcwd(), sys.prefix, os.path.expanduser('~/x'))"
        ),
        "fine",
    )
    out = checkout / "out put"
    out.mkdir()
    (out / "broken.ipynb").write_text("of an earlier run")
    command = [sys.executable, checkout / "tools" / "notebooks.py", "--execute", out]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 1, run.stderr
    message = "make notebooks: broken: code cell 3 (`# sum`) fails: NameError: name 'undefined' is not defined\n"
    assert run.stderr == message
    assert [path.name for path in out.iterdir()] == ["fine.ipynb"]
    notebook = nbformat.read(out / "fine.ipynb", as_version=4)
    nbformat.validate(notebook)
    assert notebook.cells[-1].outputs[0].text == ". $PREFIX ~/x\n"
    assert str(ROOT) not in json.dumps(notebook) and str(checkout) not in json.dumps(
        notebook
    )


def test_a_local_notebook_runs_and_can_start_twice(checkout):
    folder = checkout / "build" / "my lab"
    folder.mkdir(parents=True)
    notebook = notebooks.export(
        page(checkout, cell("print(sorted(__import__('os').listdir()))")), True, folder
    )
    notebook.cells.insert(2, nbformat.v4.new_code_cell(notebook.cells[1].source))
    notebooks.execute(notebook, folder, checkout)
    assert "'docs'" in notebook.cells[-1].outputs[0].text


def test_the_readers_notebook_survives(checkout, monkeypatch, capsys):
    monkeypatch.setattr(notebooks, "ROOT", checkout)
    lab = checkout / "lab"
    path = lab / "page.ipynb"

    def write() -> str:
        assert notebooks.main(["--local", str(lab)]) == 0
        return capsys.readouterr().out.removeprefix(f"{path}: ").strip()

    page(checkout, cell("1 + 1"))
    assert write() == "new"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[-1].outputs = [nbformat.v4.new_output("stream", text="only run")]
    nbformat.write(notebook, path)
    assert write() == "unchanged" and "only run" in path.read_text()

    page(checkout, cell("1 + 2"))
    assert (
        write() == "updated, as the chapter has changed" and "1 + 2" in path.read_text()
    )

    path.write_text(path.read_text().replace("1 + 2", "my own"))
    assert write() == "kept with your changes" and "my own" in path.read_text()
    page(checkout, cell("1 + 3"))
    said = write()
    assert said.startswith(
        "kept with your changes, though the chapter has changed since: delete or rename it"
    )
    assert "my own" in path.read_text()
    path.write_text("{")
    assert (
        write().startswith("kept, though it is no notebook") and path.read_text() == "{"
    )
    path.unlink()
    assert write() == "new" and "1 + 3" in path.read_text()


def test_a_killed_run_leaves_no_half_notebook(book, monkeypatch, tmp_path):
    path = tmp_path / "page.ipynb"
    path.write_text("the old one")

    def killed(notebook, to):
        Path(to).write_text("half of")
        raise KeyboardInterrupt

    monkeypatch.setattr(nbformat, "write", killed)
    with pytest.raises(KeyboardInterrupt):
        notebooks.write(notebooks.export(page(book, "Text."), local=False), path)
    assert path.read_text() == "the old one"


ALL = dict.fromkeys(set_up.TOOLS, "1.0")


@pytest.mark.parametrize(
    ("installed", "colab", "gpu", "expected"),
    [
        ({**ALL, "tensorflow-cpu": "2.21.0"}, False, False, []),
        ({**ALL, "tensorflow": "2.20.3"}, True, True, []),
        (ALL, False, False, ["install [cpu] -c"]),
        (ALL, False, True, ["install [gpu] -c"]),
        (
            {"tensorflow": "2.21.0", "numpy": "1"},
            False,
            True,
            ["install cmake ninja matplotlib pytest hypothesis"],
        ),
        (
            {**ALL, "tensorflow": "2.19.0"},
            True,
            True,
            ["uninstall tensorflow", "install [gpu]"],
        ),
        (
            {**ALL, "tensorflow": "2.19.0"},
            True,
            False,
            ["uninstall tensorflow", "install [cpu]"],
        ),
    ],
)
def test_set_up_installs_what_is_missing(installed, colab, gpu, expected):
    commands = [
        " ".join(command)
        for command in set_up.pip_commands(installed, ["2.20", "2.21"], colab, gpu)
    ]
    short = {
        f"--editable {ROOT}": "",
        f"--constraint {ROOT}/constraints.txt": "-c",
        "--yes ": "",
    }
    for long, brief in short.items():
        commands = [command.replace(long, brief) for command in commands]
    assert [re.sub(" +", " ", command) for command in commands] == expected


def test_set_up_leaves_a_readers_tensorflow_alone():
    with pytest.raises(
        SystemExit,
        match="TensorFlow 2.18.1 is installed here, the book needs 2.20 to 2.21",
    ):
        set_up.pip_commands(
            {**ALL, "tensorflow": "2.18.1"}, ["2.20", "2.21"], colab=False, gpu=False
        )


def test_a_downloaded_notebook_runs_from_an_empty_folder(tmp_path):
    """It clones the book, from a copy of this working tree, compiles the example there, and runs to its end."""
    source, folder = tmp_path / "source", tmp_path / "an empty folder"
    listed = subprocess.check_output(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, text=True
    )
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, source / name)
    git = ["git", "-c", "user.name=test", "-c", "user.email=test@localhost"]
    for arguments in (
        ["init", "-q"],
        ["add", "-A", "-f"],
        ["commit", "-qm", "The book"],
    ):
        subprocess.run([*git, *arguments], cwd=source, check=True)

    notebooks.write(
        notebooks.export(CHAPTERS["zero_out"], local=False), folder / "zero_out.ipynb"
    )
    environment = {
        key: value
        for key, value in os.environ.items()
        if key not in ("OP_BY_OP", "PYTHONPATH")
    }
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "nbconvert",
            "--to",
            "notebook",
            "--execute",
            "--inplace",
            "zero_out.ipynb",
        ],
        cwd=folder,
        env={**environment, "OP_BY_OP_REPOSITORY": source.as_uri()},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert (folder / "op-by-op" / "examples" / "zero_out" / "libzero_out.so").exists()
    code = [
        cell
        for cell in nbformat.read(folder / "zero_out.ipynb", as_version=4).cells
        if cell.cell_type == "code"
    ]
    outputs = [output for cell in code for output in cell.outputs]
    assert all(cell.execution_count for cell in code)
    assert "Compiled zero_out\n" in [output.get("text") for output in outputs[:2]]
    assert any("text/plain" in output.get("data", {}) for output in outputs)
    assert not [output for output in outputs if output.output_type == "error"]


def test_set_up_that_cannot_clone_says_so(tmp_path):
    page = tmp_path / "page.ipynb"
    notebook = notebooks.export(CHAPTERS["zero_out"], local=False)
    notebook.cells = notebook.cells[1:2]
    notebooks.write(notebook, page)
    environment = {key: value for key, value in os.environ.items() if key != "OP_BY_OP"}
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "nbconvert",
            "--to",
            "notebook",
            "--execute",
            "--inplace",
            page.name,
        ],
        cwd=tmp_path,
        env={**environment, "OP_BY_OP_REPOSITORY": (tmp_path / "gone").as_uri()},
        capture_output=True,
        text=True,
    )
    assert run.returncode and "Set-up: cannot clone file:" in run.stderr
