"""A table with a field that filters its rows."""

import html
from collections.abc import Iterable, Sequence

from IPython.display import HTML

SCRIPT = """
<script>
document.querySelectorAll(".filtered").forEach((each) => {
  const field = each.querySelector("input");
  field.addEventListener("input", () => each.querySelectorAll("tbody tr").forEach((row) => {
    row.hidden = !row.textContent.toLowerCase().includes(field.value.trim().toLowerCase());
  }));
});
</script>
"""
STYLE = (
    "<style>.filtered code { white-space: pre-wrap; overflow-wrap: anywhere; }"
    ".filtered input { width: 100%; max-width: 24rem; } .filtered td { min-width: 12rem; }"
    ".filtered .low { max-height: 28rem; overflow-y: auto; }"
    "@media (max-width: 48rem) { .filtered thead { display: none; }"
    " .filtered :is(table, tbody, tr:not([hidden]), td)"
    " { display: block; min-width: 0; overflow-wrap: anywhere; }"
    " .filtered td:empty { display: none; } }</style>"
)


def filtered(
    header: Sequence[str],
    rows: Iterable[tuple[str, str, str]],
    label: str = "Filter by name",
    low: bool = False,
) -> HTML:
    """A table of three columns, code, words and code, that a field filters; a low one scrolls."""
    rows = list(rows)
    heads = "".join(f"<th>{html.escape(each)}</th>" for each in header)
    cells = (
        f"<tr><td><code>{html.escape(old)}</code></td><td>{html.escape(said)}</td>"
        f"<td>{f'<code>{html.escape(new)}</code>' if new else ''}</td></tr>"
        for old, said, new in rows
    )
    told = "\n".join(" | ".join(row).replace("\n", " ") for row in rows)
    return HTML(
        f'{STYLE}<div class="filtered"><p><label>{html.escape(label)}: <input type="search"></label></p>'
        f'<div class="pst-scrollable-table-container{" low" if low else ""}">'
        f'<table class="table" aria-label="{html.escape(told, quote=True)}">'
        f"<thead><tr>{heads}</tr></thead>"
        f"<tbody>{''.join(cells)}</tbody></table></div></div>{SCRIPT}"
    )
