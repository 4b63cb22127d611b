"""What of a chapter's code a reader runs: not what only the build of the book needs.

In hidden cells that is a value for the text, the solution of an exercise, and a call of a function that the page has
defined, which tests the solution; and each cell with the tag `guard`.
"""

import ast
import re
from collections.abc import Container, Sequence

from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode


def readers_cells(cells: Sequence[NotebookNode]) -> list[str]:
    """The source of each code cell as a reader runs it; empty where nothing is left of it."""
    result = []
    for cell in cells:
        tree, tags = _parsed(cell.source), cell.metadata.get("tags", ())
        if "guard" in tags:
            result.append("")
            continue
        body = tree.body if tree else []
        kept = [each for each in body if not _is_for_the_build(each, tags)]
        whole = len(kept) == len(body)
        result.append(cell.source if whole else _text(cell.source, body, kept))
    return result


def _is_for_the_build(statement: ast.stmt, tags: Container[str]) -> bool:
    called = ""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        called = ast.unparse(statement.value.func)
    if called == "record":
        return True
    if "remove-cell" in tags:
        solution = (getattr(statement, "module", None) or "").startswith("solution_")
        return solution or called.isidentifier() or isinstance(statement, ast.Assert)
    return "remove-input" in tags and isinstance(statement, ast.Assert)


def _parsed(source: str) -> ast.Module | None:
    """The tree of a cell of Python; magics that stand alone become calls."""
    if source.lstrip().startswith("%%"):
        return None
    try:
        return ast.parse(TransformerManager().transform_cell(source))
    except SyntaxError:
        return None


def _loaded(node: ast.AST) -> set[str]:
    """The names that are looked up somewhere in there."""
    found = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Store):
            found.add(each.id)
        elif isinstance(each, ast.Constant) and isinstance(each.value, str):
            found |= {
                *re.findall(r"\w+", each.value)
            }  # code, as that of a magic or of exec
    return found


def _bound(statement: ast.stmt) -> set[str]:
    """The names that a statement binds."""
    found = set()
    for each in ast.walk(statement):
        if isinstance(each, ast.alias):
            found.add((each.asname or each.name).partition(".")[0])
        elif isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            found.add(each.id)
        elif isinstance(each, (ast.FunctionDef, ast.ClassDef)):
            found.add(each.name)
    return found


def without_statements(source: str, named: re.Pattern) -> str:
    """A module without the statements that name something, and those that need what only these bind.

    Imports and variables that nothing uses any more go, too.
    """
    tree = ast.parse(source)
    lines = source.splitlines()
    gone = {
        each
        for each in tree.body
        if named.search("\n".join(lines[each.lineno - 1 : each.end_lineno]))
    }
    before = -1
    while len(gone) != before:
        before = len(gone)
        kept = [each for each in tree.body if each not in gone]
        missing = {name for each in gone for name in _bound_at_top(each)}
        missing -= {name for each in kept for name in _bound_at_top(each)}
        gone |= {each for each in kept if (_loaded(each) | _parameters(each)) & missing}
    kept = [each for each in tree.body if each not in gone]
    used = {name for each in kept for name in _loaded(each) | _parameters(each)}
    imports = (ast.Import, ast.ImportFrom)
    before = {name for each in tree.body for name in _loaded(each) | _parameters(each)}
    unused = before - used  # what nothing used before is imported for what it does
    short = set()
    for each in filter(lambda each: isinstance(each, imports), [*kept]):
        names = [
            x for x in each.names if (x.asname or x.name).split(".")[0] not in unused
        ]
        if not names:
            kept.remove(each)
        elif len(names) < len(each.names):
            each.names = names
            short.add(each)
    kept = [
        each
        for each in kept
        if not isinstance(each, (ast.Assign, ast.AugAssign))
        or not _assigned(each) & unused
    ]
    return _text(source, tree.body, kept, short) + "\n"


def without_unused_fixtures(conftest: str, code: str) -> str:
    """A conftest.py without the fixtures that neither some code names nor what is left of conftest.py."""
    while True:
        body = ast.parse(conftest).body
        unused = [
            each.name
            for each in filter(_is_fixture, body)
            if not re.search(
                rf"\b{each.name}\b",
                "\n".join([code, *(ast.unparse(x) for x in body if x is not each)]),
            )
        ]
        if not unused:
            return conftest
        defined = re.compile(rf"\Adef (?:{'|'.join(unused)})\(")
        conftest = without_statements(conftest, defined)


def _is_fixture(statement: ast.stmt) -> bool:
    """Whether it is a fixture that tests ask for by its name."""
    decorators = map(ast.unparse, getattr(statement, "decorator_list", ()))
    return any(
        x.startswith("pytest.fixture") and "autouse" not in x for x in decorators
    )


def _assigned(statement: ast.Assign | ast.AugAssign) -> set[str]:
    """The names that it binds itself, and not by a comprehension in it."""
    targets = getattr(statement, "targets", None) or [statement.target]
    names = (each for target in targets for each in ast.walk(target))
    return {each.id for each in names if isinstance(each, ast.Name)}


def _bound_at_top(statement: ast.stmt) -> set[str]:
    """The names that a statement of a module gives to others."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return {statement.name}
    return _bound(statement)


def _parameters(statement: ast.stmt) -> set[str]:
    """The fixtures that a test may take."""
    found = [each.arg for each in ast.walk(statement) if isinstance(each, ast.arg)]
    return {*found}


def _text(
    source: str, body: list[ast.stmt], kept: list[ast.stmt], changed: Container = ()
) -> str:
    """The lines of some statements, with the comments and blank lines above them; of the changed, new ones."""
    lines = source.split("\n")
    found: list[str] = []
    end = gap = 0
    for statement in body:
        decorators = getattr(statement, "decorator_list", ())
        first = min([statement.lineno, *(each.lineno for each in decorators)])
        # Two on one line.
        shares = sum(each.lineno == statement.end_lineno for each in body) > 1
        above = first - 1
        while above > end and lines[above - 1].lstrip().startswith("#"):
            above -= 1
        blank = above
        while blank > end and not lines[blank - 1].strip():
            blank -= 1
        gap = max(gap, above - blank)
        if statement in kept:
            found += [""] * gap if found else []
            gap = 0
            own = [ast.unparse(statement)]
            found += (
                own
                if shares or statement in changed
                else lines[above : statement.end_lineno]
            )
        end = statement.end_lineno
    return "\n".join(found)
