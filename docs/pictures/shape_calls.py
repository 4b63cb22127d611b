"""The tables of the page on shape calls: what each call is for, and what it gave to the op that made it."""

import re
from collections.abc import Sequence
from pathlib import Path

import tensorflow as tf
from measured import REPOSITORY
from pictures.anchors import Table, codes, marked, tables_beside

TEXTS = tables_beside(__file__)
ON_EACH = [f"`s`\u00a0is\u00a0`{s}`" for s in ("[2,3]", "[?,3]", "?")]
VECTORS = ["(2, 3)", "(2, -1)", "(2, ?)", "a vector of two"]
SCALARS = ["4", "-1", "a scalar", "nothing"]
library = tf.load_op_library("examples/shape_functions/libshape_calls.so")


def rows(name: str) -> list[list[str]]:
    """One of the tables that the op has made."""
    values = library.shape_calls(table=name).numpy()
    return [[cell.decode() for cell in row] for row in values]


def calls(name: str) -> Table:
    """Calls on each of the three shapes."""
    return table_of(rows(name), ON_EACH)


def calls_on_values(known: Sequence[str]) -> Table:
    """Calls that ask for the value of an input, of which so much is known."""
    (call, kind, *names), *found = rows("value")
    wanted = [names.index(name) for name in known]
    if known == VECTORS:
        found = found[:3]  # the others are for scalars
    chosen = [[row[0], row[1], *(row[2 + i] for i in wanted)] for row in found]
    header = [x if x.isalpha() or x[0] == "a" else f"`{x}`" for x in known]
    return table_of(chosen, header, "vector" if known == VECTORS else "scalar")


def table_of(
    found: list[list[str]], header: Sequence[str], anchors: str = "call"
) -> Table:
    """Of each call its text, the kind of its result, what it is for, and the results."""
    shown, purposes = [], dict(TEXTS["purposes"])
    for call, kind, *results in found:
        name = call.partition("(")[0]
        anchor = f"{anchors}-{name}" if name in purposes else f"{anchors}-{call}"
        purpose = purposes.pop(name, "")
        call = re.sub(r"(Divide.*, )(?=true|false)", r"\1/*evenly_divisible=*/", call)
        kind = kind if kind in ("shape", "dimension") else f"`{kind}`"
        call = marked(anchor, f"`{call}`")
        shown.append([f"{call} → {kind}", purpose, *map(styled, results)])
    return ["Call → what it gives", "What it is for", *header], shown


def styled(result: str) -> str:
    """Shapes and sizes as code; an error as it is."""
    code = re.fullmatch(r"[\[\]?\d,-]+|true|false|nullptr", result)
    return f"`{result}`" if code else result


def users() -> dict[str, list[str]]:
    """From the ready shape functions to the ops that have them."""
    return {
        name.partition("(")[0].rpartition("::")[2]: ops.split()
        for name, ops in rows("ready")
    }


def ready() -> Table:
    ops = users()
    header = ["You want", "Ready shape function", "For example"]
    for name, op, _ in TEXTS["ready"]:
        assert op in ops[name], name
    return header, [
        [marked(f"ready-{name}", says), f"`{name}`", f"`{op}`"]
        for name, op, says in TEXTS["ready"]
    ]


def fatal() -> Table:
    header = ["Ends the process", "Returns a status, which says"]
    return header, [
        [marked(f"fatal-{call}", f"`{call}`"), f"`{instead}`: {message}"]
        for call, words, instead, message in rows("fatal")
        if words != "goes on"
    ]


def in_the_book() -> Table:
    """Ops of the book, and the calls with which their shape functions make the output; the others are checks."""
    found = {}
    for path in sorted(Path("examples").glob("*/*.cc")):
        registered = re.compile(r'^REGISTER_OP\(\s*"(?:\w+>)?(\w+)"', re.M)
        parts = registered.split(path.read_text())
        for op, text in zip(parts[1::2], parts[2::2]):
            text = text.partition("REGISTER_KERNEL")[0].partition(": public")[0]
            names = set(re.findall(r"\bcontext->\s*(\w+)\(", text))
            found[op] = [f"[`{op}`]({REPOSITORY}/{path})", names]
    header = ["You want", "The calls", "A shape function that does it"]
    rows = []
    for op, calls, wanted in TEXTS["in the book"]:
        link, names = found[op]
        assert names.issuperset(calls.split()), op
        rows.append([marked(f"op-{op}", wanted), codes(calls.split()), link])
    return header, rows
