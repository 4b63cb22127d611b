"""The notebooks say what the pages say, without what only Sphinx knows, and run where the book is not."""

import base64
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import book
import nbformat
import pytest
import set_up
from small_pages import beginning

ROOT = Path(__file__).parents[2]
URLS = book.urls()
SITE, FILES = URLS["Documentation"], f"{URLS['Repository']}/blob/main/examples"
PAGE = (
    beginning("A `page`").replace("kernelspec:", "accelerator: GPU\nkernelspec:")
    + """\
See [the *other*](other.md), [](other.md#call-it), [here](#a-page) and <https://tensorflow.org>.
Two_words, _one_, `` `code` ``, 5$ \\* 6$, [x] and tf.Tensor<2>.

```{code-cell} ipython3
:tags: [remove-cell, varies]

record(many=12)
```

There are {value}`many:.1f`.

```{code-cell} ipython3
:tags: [hide-input, varies]

import os
import sys

import tiny

table(["File"], [["[here](other.md#call-it)"]])
print(os.getcwd(), sys.prefix, os.path.expanduser("~/x"))
```

## Below

| `a\\|b` | Number |
|---|--:|
| one `*` | 1.50 |

:::{dropdown} More
Text with

* a list

  ````text
  ```of code
  ````

* and more.
:::

:::{dropdown} A *solution*
```{snippet} tiny/tiny.cc#kernel
```
:::

:::{note}
With `code`.
:::

:::{admonition} Mind *this*
1. One
2. Two
:::

> Said by
> others.

1. One

   ```{literalinclude} ../examples/tiny/tiny.py
   :language: python
   :pyobject: second
   ```
2. Two

```{literalinclude} ../examples/tiny/tiny.py
:language: python
:caption: Shorter
:end-at: one
```

```{drawing} drawing.svg
From [a]
to "b".
```

```{code-cell} ipython3
:tags: [remove-input, varies]

"The end"
```
"""
)
TINY = f"[`examples/tiny/tiny.cc`]({FILES}/tiny/tiny.cc)"
TEXTS = [
    f"""\
# A `page`

*This notebook is a chapter of the book [Op by Op]({SITE}): [the chapter on the site]({SITE}page.html). \
Run its cells in order: the first one fetches the book and compiles the chapter's code.*""",
    f"""\
See [the *other*]({SITE}other.html), [Call it]({SITE}other.html#call-it), [here]({SITE}page.html#a-page) \
and [https://tensorflow.org](https://tensorflow.org).
Two_words, *one*, `` `code` ``, 5\\$ \\* 6\\$, \\[x\\] and tf.Tensor\\<2>.""",
    "There are 12.0.",
    f"""\
## Below

| `a\\|b` | Number |
| --- | --: |
| one `*` | 1.50 |

> **More**
>
> Text with
>
> * a list
>
>   ````text
>   ```of code
>   ````
> * and more.

> **A *solution***
>
> {TINY}
>
> ```c++
> // How.
> int two;
> ```

> **Note**
>
> With `code`.

> **Mind *this***
>
> 1. One
> 2. Two

> Said by
> others.

1. One

   [`examples/tiny/tiny.py`]({FILES}/tiny/tiny.py)

   ```python
   def second():
       return 2
   ```
2. Two

Shorter

```python
one = 1
```

![From \\[a\\] to "b".]""",
]


FOLDERS = "docs/_static", "docs/pictures", "docs/support"

# Each needs a small book, which one worker makes.
of_a_checkout = pytest.mark.xdist_group("checkout")
of_zero_out = pytest.mark.xdist_group("notebook of zero_out")


@pytest.fixture
def notebooks() -> ModuleType:
    import notebooks  # and with it Sphinx

    return notebooks


def run_all(notebook: nbformat.NotebookNode, folder: Path, **options) -> None:
    """Runs the cells of a notebook in a folder."""
    from cells import KernelClient

    resources = {"metadata": {"path": str(folder)}}
    client = KernelClient(notebook, kernel_name="python3", resources=resources)
    client.execute(**options)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Path:
    """A small book with the real tools."""
    root = tmp_path_factory.mktemp("books") / "the book"
    (root / "docs").mkdir(parents=True)
    for name in ("tools", "packages", *FOLDERS):
        shutil.copytree(ROOT / name, root / name)
    for name in ("conf.py", "constraints.txt", "copier.yml", "pyproject.toml"):
        shutil.copy(ROOT / name, root / name)
    (root / "docs" / "page.md").write_text(PAGE)
    (root / "docs" / "other.md").write_text("# Another page\n\n## Call it\n")
    (root / "docs" / "index.md").write_text(
        "# Book\n\n```{toctree}\npage\nother\n```\n"
    )
    (root / "docs" / "drawing.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 30 20"><path stroke="currentColor" d="M0 0 9 9"/></svg>'
    )
    (root / "examples" / "prefix").mkdir(parents=True)  # a word of the cells
    (root / "examples" / "prefix" / "CMakeLists.txt").touch()
    tiny = root / "examples" / "tiny"
    tiny.mkdir()
    (tiny / "CMakeLists.txt").write_text("project(tiny)\n")
    (tiny / "tiny.cc").write_text(
        "// [interface] What.\nint one;\n\n// [kernel] How.\nint two;\n"
    )
    (tiny / "tiny.py").write_text("one = 1\n\n\ndef second():\n    return 2\n")
    return root


def write(book: Path, folder: str, *options: str) -> Path:
    """Writes the notebooks of a book; returns their folder."""
    out = book / "build" / folder
    sphinx = [sys.executable, "-m", "sphinx", "-nWq", "-b", "notebook", "-c", book]
    doctrees = ["-d", book / "build" / f"{folder}-doctrees"]
    command = [*sphinx, *doctrees, *options, book / "docs", out]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return out


def local(book: Path) -> Path:
    return write(book, "my lab", "-Dnotebooks=local", "-Dnb_execution_mode=off")


def read(path: Path) -> nbformat.NotebookNode:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    return notebook


@pytest.fixture(scope="module")
def executed(checkout) -> nbformat.NotebookNode:
    folder = write(checkout, "executed")
    assert [path.name for path in folder.glob("*.ipynb")] == ["page.ipynb"]
    return read(folder / "page.ipynb")


@of_a_checkout
def test_a_notebook_says_what_its_page_says(executed):
    texts = [c.source for c in executed.cells if c.cell_type == "markdown"]
    texts[-1], data = re.fullmatch(
        r"(.*)\(data:image/svg\+xml;base64,(.*)\)", texts[-1], re.S
    ).groups()
    assert texts == TEXTS
    svg = ElementTree.fromstring(base64.b64decode(data))
    assert svg.tag == "{http://www.w3.org/2000/svg}svg" and svg.get("width") == "30"
    style = dict(part.split(":") for part in svg.get("style").split(";") if part)
    assert style["color"] == "#1f2328" and style["background"] == "#fff"


@of_a_checkout
def test_all_cells_are_there_at_their_places_with_outputs(executed, checkout):
    kinds = [cell.cell_type[0] for cell in executed.cells]
    assert "".join(kinds) == "mcmcmcmc"
    start, record, shown, last = (c for c in executed.cells if c.cell_type == "code")
    assert '["set_up"]("tiny")' in start.source, "the cells use the example"
    assert start.source.endswith('start.py"\nsee_gpus()'), "the page wants a GPU"
    assert start.source.startswith("# @title "), "what Colab shows of a folded cell"
    assert executed.metadata["accelerator"] == "GPU"
    assert executed.metadata["colab"]["gpuType"] == "T4"
    assert URLS["Repository"] in start.source and "start.py" in start.source
    assert record.source.startswith("record(") and not record.outputs
    assert shown.metadata["tags"] == ["hide-input", "varies"]
    table, paths = shown.outputs
    assert f"| [here]({SITE}other.html#call-it) |" in table.data["text/markdown"]
    assert paths.text == ". $PREFIX ~/x\n"
    assert last.outputs[0].data["text/plain"] == "'The end'"
    assert len({cell.id for cell in executed.cells}) == len(kinds)
    for folder in (ROOT, checkout, sys.prefix):
        assert str(folder) not in json.dumps(executed)


@of_a_checkout
def test_a_local_notebook_runs_and_can_start_twice(checkout):
    notebook = read(local(checkout) / "page.ipynb")
    assert notebook.cells[3].source == "There are `many`."
    assert not any(cell.get("outputs") for cell in notebook.cells)
    notebook.cells.insert(2, notebook.cells[1])
    notebook.cells[-1].source = "sorted(os.listdir())"
    run_all(notebook, checkout / "build" / "my lab")
    assert "'docs'" in notebook.cells[-1].outputs[0].data["text/plain"]


def test_a_page_needs_the_examples_of_its_pictures_too(tmp_path, monkeypatch):
    """Of those that its pictures import, too; a word that is an example's name says nothing."""
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
        for file in ("CMakeLists.txt", f"{name}_op.py"):
            (tmp_path / name / file).touch()
    for name, code in {
        "lists": "from pictures import drawn\n",
        "drawn": "from pictures.lists import two_op\nload('examples/three/libthree.so')",
    }.items():
        (tmp_path / "pictures").mkdir(exist_ok=True)
        (tmp_path / "pictures" / f"{name}.py").write_text(code)
    monkeypatch.setattr(book, "EXAMPLES", tmp_path)
    monkeypatch.setattr(book, "DOCS", tmp_path)
    code = "from pictures.lists import two_op"
    assert book.examples_of(code) == ["three"]
    assert book.examples_of(f"{code}\nimport one_op\ntwo = 2") == ["one", "three"]


def test_the_readers_notebook_survives(notebooks, tmp_path):
    path = tmp_path / "page.ipynb"

    def write(source: str) -> str:
        cell = nbformat.v4.new_code_cell(source)
        return notebooks.write_for_lab(nbformat.v4.new_notebook(cells=[cell]), path)

    assert write("1 + 1") == "written"
    notebook = read(path)
    notebook.cells[0].outputs = [nbformat.v4.new_output("stream", text="only run")]
    nbformat.write(notebook, path)
    assert write("1 + 1") == "unchanged" and "only run" in path.read_text()
    assert write("1 + 2") == "written" and "1 + 2" in path.read_text()

    path.write_text(path.read_text().replace("1 + 2", "my own"))
    assert write("1 + 3").startswith("kept with your changes: delete or rename it")
    assert "my own" in path.read_text()
    path.write_text("{")
    assert write("1 + 3").startswith("kept, though it is no notebook")
    assert path.read_text() == "{"


def test_a_killed_run_leaves_no_half_notebook(notebooks, monkeypatch, tmp_path):
    path = tmp_path / "page.ipynb"
    path.write_text("the old one")

    def killed(notebook, to):
        Path(to).write_text("half of")
        raise KeyboardInterrupt

    monkeypatch.setattr(nbformat, "write", killed)
    with pytest.raises(KeyboardInterrupt):
        notebooks.write(nbformat.v4.new_notebook(), path)
    assert path.read_text() == "the old one"


ALL = dict.fromkeys(set_up.TOOLS, "1.0")
SOME = {"tensorflow": "2.21.0", "numpy": "1"}
OLD = {**ALL, "tensorflow": "2.19.0"}


@pytest.mark.parametrize(
    "installed, colab, gpu, expected",
    [
        ({**ALL, "tensorflow-cpu": "2.21.0"}, False, False, []),
        ({**ALL, "tensorflow": "2.20.3"}, True, True, []),
        (ALL, False, False, ["install [cpu] -c"]),
        (ALL, False, True, ["install [gpu] -c"]),
        (SOME, False, True, ["install cmake ninja matplotlib pytest hypothesis"]),
        (OLD, True, True, ["uninstall tensorflow", "install [gpu]"]),
        (OLD, True, False, ["uninstall tensorflow", "install [cpu]"]),
    ],
)
def test_set_up_installs_what_is_missing(installed, colab, gpu, expected):
    found = set_up.pip_commands(installed, ["2.20", "2.21"], colab, gpu)
    commands = "\n".join(map(" ".join, found))
    for long, brief in {
        f"--editable {ROOT}/packages/opcheck ": "",
        f"--editable {ROOT}": "",
        f"--constraint {ROOT}/constraints.txt": "-c",
        "--yes ": "",
    }.items():
        commands = commands.replace(long, brief)
    assert re.sub(" +", " ", commands).splitlines() == expected


def test_set_up_leaves_a_readers_tensorflow_alone():
    said = "TensorFlow 2.18.1 is installed here, the book needs 2.20 to 2.21"
    older = {**ALL, "tensorflow": "2.18.1"}
    with pytest.raises(SystemExit, match=said):
        set_up.pip_commands(older, ["2.20", "2.21"], colab=False, gpu=False)


CHAPTER = (
    beginning("Zero out")
    + """\
```{code-cell} ipython3
from zero_out import zero_out

zero_out([5, 4, 3])
```

```{code-cell} ipython3
%%bash -e
python -c "import opcheck" && ls examples/zero_out
```
"""
)


@pytest.fixture(scope="module")
def zero_out(scratch) -> Path:
    """A copy of the book with one short chapter, and with its notebook to download.

    After the notebook comes a commit of a book that the notebook does not fit.
    """
    book = scratch("zero_out", whole=False)
    (book / "docs" / "zero_out.md").write_text(CHAPTER)
    commit(book)
    write(book, "downloads", "-Dnotebooks=download", "-Dnb_execution_mode=off")
    shutil.rmtree(book / "examples" / "zero_out")
    commit(book)
    return book


def commit(book: Path) -> None:
    git = ["git", "-c", "user.name=test", "-c", "user.email=test@localhost"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "The book"]):
        subprocess.run([*git, *command], cwd=book, check=True)


@of_zero_out
def test_a_downloaded_notebook_runs_from_an_empty_folder(zero_out, tmp_path):
    """It clones the book as it was then, compiles the example there, and runs to its end."""
    folder = tmp_path / "an empty folder"
    folder.mkdir()
    notebook = read(zero_out / "build" / "downloads" / "zero_out.ipynb")
    environment = {
        key: value
        for key, value in os.environ.items()
        if key not in ("OP_BY_OP", "PYTHONPATH")
    }
    environment["OP_BY_OP_REPOSITORY"] = zero_out.as_uri()
    run_all(notebook, folder, env=environment)
    [book] = folder.glob("op-by-op-*")
    assert (book / "examples" / "zero_out" / "libzero_out.so").exists()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in code)
    said = [output.get("text") for output in code[0].outputs]
    assert "Compiled zero_out\n" in said or "Compiled zero_out" in "".join(said)
    assert "[5, 0, 0]" in code[1].outputs[0]["data"]["text/plain"]
    assert "libzero_out.so" in code[2].outputs[0]["text"]


@of_zero_out
@pytest.mark.parametrize(
    ("path", "message"),
    [
        (os.environ["PATH"], "Set-up: cannot clone file:"),
        ("", "Set-up: there is no git to clone file:"),
    ],
    ids=["no repository", "no git"],
)
def test_set_up_that_cannot_clone_says_so(zero_out, tmp_path, path, message):
    notebook = read(zero_out / "build" / "downloads" / "zero_out.ipynb")
    script = notebook.cells[1].source.rpartition("\n%run")[0]
    gone = (tmp_path / "gone").as_uri()
    run = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={"PATH": path, "OP_BY_OP_REPOSITORY": gone},
        capture_output=True,
        text=True,
    )
    assert run.returncode and run.stderr.startswith(message)
