"""What of a chapter's code a reader runs: its cells, and of the hidden ones only what these need.

Hidden cells hold values for the text and guards of the build. Of them a reader's notebook has what binds a name that a
later cell uses, and what sets something up.
"""

import ast
import re
from collections.abc import Container, Sequence

from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode

# Of these modules, hidden calls and assignments are set-up.
SETTINGS = {"os", "sys", "tf", "warnings"}
ALWAYS_BINDS = (ast.Assign, ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def readers_cells(cells: Sequence[NotebookNode]) -> list[str]:
    """The source of each code cell as a reader runs it; empty where nothing is left of it."""
    parsed = [_parsed(cell.source) for cell in cells]
    hidden = ["remove-cell" in cell.metadata.get("tags", ()) for cell in cells]
    shown = [tree for tree, is_hidden in zip(parsed, hidden) if tree and not is_hidden]
    kept = [statement for tree in shown for statement in tree.body]
    before = -1
    while len(kept) != before:  # what is kept may need more
        before = len(kept)
        kept = _kept(cells, parsed, _of_functions(kept))
    result = []
    for cell, tree in zip(cells, parsed):
        here = [each for each in tree.body if each in kept] if tree else []
        whole = tree is None or len(here) == len(tree.body)
        result.append(cell.source if whole else _text(cell.source, tree.body, here))
    return result


def _kept(
    cells: Sequence[NotebookNode],
    parsed: Sequence[ast.Module | None],
    always: set[str],
) -> list[ast.stmt]:
    """The statements that are kept, if these names are needed at any time."""
    kept, needed = [], set()
    tags = [{*cell.metadata.get("tags", ())} for cell in cells]
    hidden = ["remove-cell" in each for each in tags]
    first = hidden.index(False) if False in hidden else len(cells)
    for index in reversed(range(len(cells))):
        if parsed[index] is None:  # %%bash and its like
            needed = needed | {*re.findall(r"\w+", cells[index].source)}
            continue
        for statement in reversed(parsed[index].body):
            bound = _bound(statement)
            before_all = index < first and isinstance(statement, ast.Expr)
            if _called(statement) == "record":
                continue
            if tags[index] & {"remove-cell", "remove-input"} and _guards(statement):
                continue
            solution = getattr(statement, "module", None) or ""
            used = needed if solution.startswith("solution_") else needed | always
            if hidden[index] and not (
                bound & used or before_all or _sets_up(statement)
            ):
                continue
            if isinstance(statement, ALWAYS_BINDS):
                needed = needed - bound
            needed = needed | _loaded(statement)
            kept.append(statement)
    return kept


def _of_functions(statements: Sequence[ast.stmt]) -> set[str]:
    """The names in functions, which look them up when they are called: by then another cell may have bound them."""
    return {
        name
        for statement in statements
        for function in ast.walk(statement)
        if isinstance(function, FUNCTIONS)
        for name in _loaded(function)
    }


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
            found |= {*re.findall(r"\w+", each.value)}  # of a magic, or of exec
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


def _called(statement: ast.stmt) -> str:
    """What a statement that is a call calls, such as "tf.config.set_soft_device_placement"."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return ast.unparse(statement.value.func)
    return ""


def _guards(statement: ast.stmt) -> bool:
    """Whether it only checks something."""
    if isinstance(statement, (ast.For, ast.With)):
        return all(map(_guards, statement.body))
    checks = _called(statement).startswith("np.testing.")
    return checks or isinstance(statement, ast.Assert)


def _sets_up(statement: ast.stmt) -> bool:
    """Whether it is a call or an assignment to something of a module that holds settings."""
    changed = _called(statement)
    if isinstance(statement, (ast.Assign, ast.AugAssign)):
        target = getattr(statement, "target", None) or statement.targets[0]
        changed = "" if isinstance(target, ast.Name) else ast.unparse(target)
    root, dot, name = changed.partition(".")
    return bool(dot) and root in SETTINGS and name != "close"


def without_statements(source: str, named: re.Pattern) -> str:
    """A module without the statements that name something, and those that need what only these bind.

    Imports that nothing uses any more go, too.
    """
    tree = ast.parse(source)
    segments = {each: ast.get_source_segment(source, each) or "" for each in tree.body}
    gone = {each for each in tree.body if named.search(segments[each])}
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
    return _text(source, tree.body, kept, short) + "\n"


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
