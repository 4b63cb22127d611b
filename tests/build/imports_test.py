"""No module imports itself by way of others, functions' imports included."""

import ast
import graphlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from book import ROOT

# From a folder to the package that its modules are imported from, if it is one.
FOLDERS = {
    "bench": "bench",
    "docs/pictures": "pictures",
    "docs/support": "",
    "examples/common": "",
    "packages/opcheck/opcheck": "opcheck",
    "tools": "",
}


def modules_in(folder: Path, package: str) -> dict[str, Path]:
    """The files of a folder, by the names of their modules."""
    found = {}
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        name = ".".join([package, *parts]).removesuffix(".__init__")
        found[name.strip(".")] = path
    return found


def imported_by(tree: ast.AST) -> Iterator[str]:
    """What a module imports wherever it does, but as a program: then it has another name."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif not (isinstance(node, ast.If) and "__main__" in ast.unparse(node.test)):
            yield from imported_by(node)


def circle(modules: dict[str, Path]) -> list[str]:
    """The names of modules of which each imports the next one, the last being the first; or none."""
    graph = {}
    for name, path in modules.items():
        found = imported_by(ast.parse(path.read_text(encoding="utf-8")))
        names = [one if one in modules else one.rpartition(".")[0] for one in found]
        graph[name] = {one for one in names if one in modules}
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return error.args[1][::-1]
    return []


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_module_imports_itself_by_way_of_others(folder):
    modules = modules_in(ROOT / folder, FOLDERS[folder])
    assert len(modules) > 1
    assert not circle(modules)


def test_a_circle_is_found(tmp_path):
    texts = {
        "a": "def f():\n    from p import b",
        "b": "if True:\n    from p.c import g",
        "c": "import p.a",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text)
    found = circle(modules_in(tmp_path, "p"))
    assert set(found) == {"p.a", "p.b", "p.c"} and found[0] == found[-1]
    (tmp_path / "c.py").write_text('if __name__ == "__main__":\n    import p.a')
    assert not circle(modules_in(tmp_path, "p"))
