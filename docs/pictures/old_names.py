"""The table of old names: what each line says today, and the line in its place; with a field that filters it."""

from collections.abc import Iterable

import tensorflow as tf
from IPython.display import HTML
from old_names import PYTHON, compiled_rows, cpp_rows, headers_say, says
from pictures.filtered import filtered

SILENT = "still works"


def every_row() -> list[tuple[str, str, str]]:
    """Of Python, with a note where compat.v1 still has the name, and of C++."""
    rows = []
    for old, new in PYTHON:
        assert not says(new), new
        said = says(old)
        if said.startswith("AttributeError: module"):
            said = kept(old)
        rows.append((old, said, new))
    return rows + [
        (old, said or SILENT, new)
        for old, said, new in [*cpp_rows(), *compiled_rows(), *headers_say()]
    ]


def kept(old: str) -> str:
    """Of a name that `tf` lacks: whether `tf.compat.v1` still has what the line begins with."""
    found, name = tf.compat.v1, old.partition("(")[0].partition("= ")
    name = (name[2] or name[0]).removeprefix("tf.")
    for part in name.split("."):
        found = getattr(found, part, None)
    there = old.partition("(")[0].count("tf.") and found is not None
    return "gone; in tf.compat.v1" if there else "gone"


def old_names(rows: Iterable[tuple[str, str, str]]) -> HTML:
    """A table that a field filters."""
    return filtered(["Then", "TensorFlow says today", "Now"], rows)
