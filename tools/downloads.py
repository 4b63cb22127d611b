"""Sphinx extension: what a chapter offers to take along, its notebook and its example directory as a zip."""

import html
import importlib.metadata
import io
import zipfile
from pathlib import Path

from book import EXAMPLES, ROOT, examples, executed
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from sphinx.application import Sphinx

OPCHECK = ROOT / "packages" / "opcheck"
SOURCES = {".c", ".cc", ".h", ".py", ".pbtxt", ".txt"}
TOOLS = ("tensorflow-cpu", "numpy", "cmake", "ninja", "pytest", "hypothesis")
README = """\
Op by Op: the example {name}
{site}{name}.html

Needs a C++17 compiler and Python {python}. In this directory:

  python3 -m venv .venv && . .venv/bin/activate
  pip install {requirements}
  cmake -S examples/{name} -B build -G Ninja && cmake --build build
  PYTHONPATH=packages/opcheck:examples/common python -m pytest examples/{name}

For an op of your own, rename examples/{name} and what is in it. {name}.py imports op_library, which is in
examples/common: keep that on PYTHONPATH, or copy op_library.py beside your file. pip install ./packages/opcheck
tensorflow-cpu is for x86-64 Linux; elsewhere, or with a GPU, install tensorflow of the same version.
"""


def readme(name: str, site: str) -> str:
    """How to build and test an example that was unpacked from its zip."""
    required = [Requirement(text) for text in importlib.metadata.requires("op-by-op")]
    versions = {
        requirement.name: f"'{requirement.name}{in_order(requirement.specifier)}'"
        for requirement in required
    }
    python = in_order(
        SpecifierSet(importlib.metadata.metadata("op-by-op")["Requires-Python"])
    )
    return README.format(
        name=name,
        site=site,
        python=python,
        requirements=" ".join(map(versions.get, TOOLS)),
    )


def in_order(specifiers: SpecifierSet) -> str:
    """For example ">=2.21,<2.22", which the metadata of a package turns around."""
    return ",".join(sorted(map(str, specifiers), reverse=True))


def archive(name: str, site: str) -> bytes:
    """An example and all that it takes to build it, laid out as in the repository, as a zip.

    What is wrong on purpose, wrong_*, is left out: readers start from this.

    The same sources give the same bytes: no time, no owner, and stored, as compressors differ.
    """
    paths = [
        ROOT / "LICENSE",
        *(ROOT / "cmake").glob("*.cmake"),
        EXAMPLES / "conftest.py",
        *(OPCHECK / name for name in ("pyproject.toml", "README.md")),
        *(OPCHECK / "opcheck").rglob("*.py"),
        *(OPCHECK / "opcheck").rglob("*.toml"),
    ]
    paths += [
        path
        for folder in ("common", name)
        for path in (EXAMPLES / folder).iterdir()
        if path.suffix in SOURCES and not path.name.startswith("wrong_")
    ]
    files = {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in paths}
    files["README.txt"] = readme(name, site).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as zipped:
        for path in sorted(files):
            info = zipfile.ZipInfo(f"op-by-op/{path}")
            info.create_system = 3
            info.external_attr = 0o100644 << 16
            zipped.writestr(info, files[path])
    return buffer.getvalue()


def add_links(
    app: Sphinx, page: str, template: str, context: dict, doctree: object
) -> None:
    """Gives the template a chapter's links: title, address, and whether to save what is there."""
    if page not in executed(app.env):
        return
    github = context["repository"]
    repository = github.removeprefix("https://github.com/")
    colab = f"https://colab.research.google.com/github/{repository}/blob/notebooks"
    binder = f"https://mybinder.org/v2/gh/{repository}/main?urlpath=lab/tree/build/lab"
    context["chapter_links"] = [
        ("Open in Colab", f"{colab}/{page}.ipynb", False),
        ("Open in Binder", f"{binder}/{page}.ipynb", False),
        ("Notebook", f"notebooks/{page}.ipynb", True),
    ]
    launch = "".join(
        f'<a href="{html.escape(address)}"{" download" * saved}>{title}</a>'
        for title, address, saved in context["chapter_links"]
    )
    launch = (
        f'<nav class="launch" aria-label="This chapter as a notebook">{launch}</nav>'
    )
    context["body"] = context["body"].replace("</h1>", f"</h1>\n{launch}", 1)
    if page in examples():
        context["chapter_links"] += [
            ("Example (.zip)", f"downloads/{page}.zip", True),
            ("Source on GitHub", f"{github}/tree/main/examples/{page}", False),
        ]


def write_downloads(app: Sphinx, exception: Exception | None) -> None:
    """At the end of a build: the zip of every chapter's example."""
    if exception or app.builder.name != "html":
        return
    archives = Path(app.outdir) / "downloads"
    archives.mkdir(exist_ok=True)
    for page in executed(app.env):
        if page in examples():
            content = archive(page, app.config.html_baseurl)
            (archives / f"{page}.zip").write_bytes(content)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", add_links)
    app.connect("build-finished", write_downloads)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
