"""Where the book's files lie, and which of them are its chapters and its examples."""

import contextlib
import re
import shutil
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, metadata, version
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.environment import BuildEnvironment

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
EXAMPLES = ROOT / "examples"
BUILT = shutil.ignore_patterns("*.so", "__pycache__", ".*_cache")
FENCE = re.compile(r"^(`{3,})[^\n]*\n.*?^\1$", re.M | re.S)


def chapters(docs: Path = DOCS) -> dict[str, Path]:
    """From the name of each chapter to its page: the pages that have cells, and so name a kernel, but for the first."""
    return {
        page.stem: page
        for page in sorted(docs.glob("*.md"))
        if page.stem != "index"
        and re.match(r"---\n(?:(?!---).*\n)*kernelspec:", page.read_text())
    }


def executed(env: "BuildEnvironment") -> list[str]:
    """The pages of a build that have cells, but for the first."""
    return sorted(
        page
        for page, data in env.metadata.items()
        if "kernelspec" in data and page != env.config.root_doc
    )


def has_notebook(page: Path) -> bool:
    """Whether a reader has something to run: the page shows a cell or what it prints."""
    hidden = re.compile(r"^:tags:.*\bremove-cell\b", re.M)
    return any(not hidden.search(cell) for cell in _cells(page.read_text()))


def notebooks(env: "BuildEnvironment") -> list[str]:
    """The pages of a build that become notebooks."""
    return [page for page in executed(env) if has_notebook(Path(env.doc2path(page)))]


def parts(index: Path = DOCS / "index.md") -> dict[str, list[str]]:
    """From the title of each part of the book to the names of its pages, in the order of reading."""
    body = re.search(r"^```\{chapters\}\n(.*?)^```$", index.read_text(), re.M | re.S)
    return listed_parts(body[1].splitlines()) if body else {}


def listed_parts(lines: Iterable[str]) -> dict[str, list[str]]:
    """The parts as the directive `chapters` lists them: the title with a colon, below it `- page` for each page."""
    found, pages = {}, []
    for line in filter(None, lines):
        if line.endswith(":"):
            pages = found.setdefault(line.removesuffix(":"), [])
        else:
            pages.append(line.removeprefix("- "))
    return {title: pages for title, pages in found.items() if pages}


def examples() -> list[str]:
    """The names of the examples."""
    return sorted(path.parent.name for path in EXAMPLES.glob("*/CMakeLists.txt"))


def example_of(page: Path) -> str:
    """The example that a page has, by its name or as the code that it names; "" if there is none."""
    if page.stem in examples():
        return page.stem
    found = re.search(r"^\*\*Code\*\* \[`examples/(\w+)`\]", page.read_text(), re.M)
    return found[1] if found else ""


def examples_of(code: str) -> list[str]:
    """The examples that the cells of a page and the modules of its pictures use: what is imported, or a path."""
    text = "\n".join([code, *(path.read_text() for path in pictures_of(code))])
    own = {path.stem: path.parent.name for path in EXAMPLES.glob("*/*.py")}
    modules = re.findall(r"\b(?:from|import) (\w+)[\w.]*(?: import)?", text)
    imported = {own.get(name) for name in modules}
    return [
        name
        for name in examples()
        if name in imported or re.search(rf"examples/{name}\b", text)
    ]


def pictures_of(code: str) -> set[Path]:
    """The modules of docs/pictures that code imports, and those that they import."""
    found, new = set(), {code}
    while new:
        names = re.findall(r"\bfrom pictures(?:\.| import )(\w+)", "\n".join(new))
        modules = {DOCS / "pictures" / f"{name}.py" for name in names}
        modules = set(filter(Path.is_file, modules)) - found
        new = {path.read_text() for path in modules}
        found |= modules
    return found


def cells_of(page: str) -> str:
    """The code cells of a page's text."""
    return "\n".join(_cells(page))


def _cells(page: str) -> list[str]:
    fenced = [match[0] for match in FENCE.finditer(page)]
    return [block for block in fenced if "{code-cell}" in block[:20]]


def copy_parts(names: Iterable[str], copy: Path) -> None:
    """Brings a copy of files and folders of the book up to date, without what was built in them."""
    for name in names:
        source, target = ROOT / name, copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_file():
            shutil.copy2(source, target)
        else:
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(source, target, ignore=BUILT)


def urls() -> dict[str, str]:
    """The addresses of the project, from pyproject.toml, by their names."""
    given = metadata("op-by-op").get_all("Project-URL")
    return dict(url.split(", ") for url in given)


def tensorflow() -> str:
    """The release of TensorFlow, of which there are two packages."""
    with contextlib.suppress(PackageNotFoundError):
        return version("tensorflow-cpu")
    return version("tensorflow")


def proven_tensorflow() -> bool:
    """Whether the TensorFlow of this environment is the release that constraints.txt names."""
    return f"\ntensorflow=={tensorflow()}\n" in (ROOT / "constraints.txt").read_text()
