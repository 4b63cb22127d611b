"""Makes a chapter from examples/template: `python tools/new.py NAME`. copier makes a project of the same files."""

import importlib.util
import keyword
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from book import DOCS, EXAMPLES, ROOT
from template import project

from opcheck import function_of

TEMPLATE = EXAMPLES / "template"
INDEX = DOCS / "index.md"
CMAKE = """\
cmake_minimum_required(VERSION 3.26)
project(my_op LANGUAGES CXX)
include(../../cmake/OpLibrary.cmake)
op_by_op_library(my_op my_op.cc)
"""


def refusal(name: str, op: str) -> str:
    """Why there can be no chapter of this name, if so."""
    words = re.fullmatch(r"[a-z][a-z0-9]*(_[a-z][a-z0-9]*)*", name)
    if not words or keyword.iskeyword(name) or function_of(op) != name:
        return "a name is like soft_threshold, of which the op SoftThreshold is made: no word of one letter"
    if (DOCS / f"{name}.md").exists() or any(EXAMPLES.glob(f"*/{name}.*")):
        return f"there is a page or an example {name}"
    rules = (ROOT / "Makefile").read_text() + (ROOT / ".gitignore").read_text()
    if (EXAMPLES / name).exists() or re.search(rf"^{name}[:/]", rules, re.M):
        return f"{name} is a target of make or a folder of the book"
    sys.path += [str(DOCS / "support"), str(DOCS)]
    if importlib.util.find_spec(name):
        return f"Python has a module {name}, which the op's would hide"
    code = "".join(path.read_text() for path in EXAMPLES.rglob("*.cc"))
    if re.search(rf'REGISTER_OP\("(\w+>)?{op}"', code):
        return f"an example has an op {op}"
    from tensorflow.python.framework import op_def_registry

    return f"TensorFlow has an op {op}" if op_def_registry.get(op) else ""


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(
            "make new: NAME=soft_threshold, for example, makes an op SoftThreshold"
        )
    name = sys.argv[1]
    op = "".join(word.capitalize() for word in name.split("_"))
    if reason := refusal(name, op):
        sys.exit(f"make new: {reason}")

    def renamed(text: str) -> str:
        return text.replace("my_op", name).replace("MyOp", op)

    folder, page = EXAMPLES / name, DOCS / f"{name}.md"
    shown = DOCS / "support" / "outputs" / f"{name}.txt"
    files = project(name=name, book=True)
    chosen = {
        f"{name}.cc": files[f"{name}/{name}.cc"],
        f"{name}.py": files[f"{name}/__init__.py"],
        "CMakeLists.txt": renamed(CMAKE),
        **{
            f"{name}_{kind}.py": files[f"tests/{name}_{kind}.py"]
            for kind in ("reference", "test", "fuzz")
        },
    }
    try:
        folder.mkdir()
        for path, text in chosen.items():
            (folder / path).write_text(text)
        scripts = Path(sysconfig.get_path("scripts"))
        ruff = scripts / "ruff"
        # Other names have other places in a line and in a list.
        for command in (
            [scripts / "clang-format", "-i", *folder.glob("*.cc")],
            [ruff, "check", "--fix", "--quiet", folder],
            [ruff, "format", "--quiet", folder],
        ):
            subprocess.run(command, cwd=ROOT, check=True)
        page.write_text(renamed((TEMPLATE / "my_op.md").read_text()))
        shutil.copy(TEMPLATE / "my_op.txt", shown)
        # The last page of the first part.
        first = r"(?s)(\{chapters\}\n.*?)(?=\n\n|\n```)"
        INDEX.write_text(re.sub(first, rf"\1\n- {name}", INDEX.read_text(), count=1))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        page.unlink(missing_ok=True)
        shown.unlink(missing_ok=True)
        raise
    print(
        f"examples/{name}: the op {op}, which squares numbers, its tests and generated calls\n"
        f"docs/{name}.md: its page, at the end of the first part of docs/index.md\n"
        f"Now: make page PAGE={name}, and make test TESTS=examples/{name}"
    )


if __name__ == "__main__":
    main()
