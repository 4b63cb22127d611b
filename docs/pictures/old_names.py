"""The table of old names: what each line says today, and the line in its place; with a field that filters it."""

import html
from collections.abc import Iterable

import tensorflow as tf
from IPython.display import HTML
from old_names import PYTHON, cpp_rows, headers_say, says

SILENT = "compiles without a warning"
FILTER = """
<script>
document.querySelectorAll(".old-names").forEach((each) => {
  const field = each.querySelector("input");
  field.addEventListener("input", () => each.querySelectorAll("tbody tr").forEach((row) => {
    row.hidden = !row.textContent.toLowerCase().includes(field.value.trim().toLowerCase());
  }));
});
</script>
"""
STYLE = (
    "<style>.old-names code { white-space: pre-wrap; overflow-wrap: anywhere; }"
    ".old-names input { width: 100%; max-width: 24rem; } .old-names td { min-width: 12rem; }"
    "@media (max-width: 48rem) { .old-names thead { display: none; }"
    " .old-names :is(table, tbody, tr:not([hidden]), td)"
    " { display: block; min-width: 0; overflow-wrap: anywhere; } }</style>"
)


def every_row() -> list[tuple[str, str, str]]:
    """Of Python, with a note where compat.v1 still has the name, and of C++."""
    rows = []
    for old, new in PYTHON:
        assert not says(new), new
        said = says(old)
        there = kept(old) if said.startswith("AttributeError") else ""
        rows.append((old, said + there, new))
    return rows + [
        (old, said or SILENT, new) for old, said, new in [*cpp_rows(), *headers_say()]
    ]


def kept(old: str) -> str:
    """Whether `tf.compat.v1` still has what an old line begins with."""
    found, name = tf.compat.v1, old.partition("(")[0].partition("= ")
    name = (name[2] or name[0]).removeprefix("tf.")
    for part in name.split("."):
        found = getattr(found, part, None)
    there = old.partition("(")[0].count("tf.") and found is not None
    return f" (there is tf.compat.v1.{name})" if there else ""


def old_names(rows: Iterable[tuple[str, str, str]]) -> HTML:
    """A table that a field filters."""
    rows = list(rows)
    cells = (
        f"<tr><td><code>{html.escape(old)}</code></td><td>{html.escape(said)}</td>"
        f"<td><code>{html.escape(new)}</code></td></tr>"
        for old, said, new in rows
    )
    told = "\n".join(" | ".join(row).replace("\n", " ") for row in rows)
    return HTML(
        f'{STYLE}<div class="old-names"><p><label>Filter by name: <input type="search"></label></p>'
        '<div class="pst-scrollable-table-container">'
        f'<table class="table" aria-label="{html.escape(told, quote=True)}">'
        "<thead><tr><th>Then</th><th>TensorFlow says today</th><th>Now</th></tr></thead>"
        f"<tbody>{''.join(cells)}</tbody></table></div></div>{FILTER}"
    )
