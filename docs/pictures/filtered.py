"""Tables to look things up in, which a field filters or fills, or whose cells stack on a narrow screen."""

import html
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from IPython.display import HTML

SCRIPT = f"<script>\n{Path(__file__).with_suffix('.js').read_text()}</script>"
STYLE = f"<style>\n{Path(__file__).with_suffix('.css').read_text()}</style>"


def heads(header: Sequence[str]) -> str:
    cells = "".join(f"<th>{html.escape(each)}</th>" for each in header)
    return f"<thead><tr>{cells}</tr></thead>"


def told(rows: Iterable[Sequence[str]]) -> str:
    lines = "\n".join(" | ".join(row).replace("\n", " ") for row in rows)
    return html.escape(lines, quote=True)


def filtered(
    header: Sequence[str],
    rows: Iterable[tuple[str, str, str]],
    label: str = "Filter by name",
) -> HTML:
    """A table of three columns, code, words and code, that a field filters."""
    rows = list(rows)
    today, now = (f' data-head="{html.escape(head)}"' for head in header[1:])
    cells = (
        f"<tr><td>{wrapping(old)}</td><td{today}>{html.escape(said)}</td>"
        f"{f'<td{now}>{wrapping(new)}</td>' if new else '<td></td>'}</tr>"
        for old, said, new in rows
    )
    return HTML(
        f'{STYLE}<div class="filtered"><p><label>{html.escape(label)}: <input type="search"></label></p>'
        f'<div class="pst-scrollable-table-container">'
        f'<table class="table" aria-label="{told(rows)}">{heads(header)}'
        f"<tbody>{''.join(cells)}</tbody></table></div></div>{SCRIPT}"
    )


def wrapping(code: str) -> str:
    """Code that a narrow cell breaks behind a point, a comma, a slash or two colons, and not within a name."""
    text = re.sub(r"(::|[.,/])(?=\w)", r"\1<wbr>", html.escape(code))
    return f'<code class="whole">{text}</code>'


def looked_up(
    header: Sequence[str],
    rows: Iterable[tuple[str, str, str]],
    label: str,
    missing: str,
) -> HTML:
    """A field, and below it those rows of three columns, code, words and code, that have in them what is typed."""
    data = json.dumps(list(rows)).replace("<", r"\u003c")
    return HTML(
        f'{STYLE}<div class="filtered looked-up"><script type="application/json">{data}</script>'
        f'<p><label>{html.escape(label)}: <input type="search"></label></p>'
        f'<div class="pst-scrollable-table-container low" hidden><table class="table">'
        f"{heads(header)}<tbody></tbody></table></div>"
        f'<p class="missing" aria-live="polite" hidden>{html.escape(missing)}</p></div>{SCRIPT}'
    )


def stacked(header: Sequence[str], rows: Iterable[Sequence[str]]) -> HTML:
    """A table whose cells stand below each other on a narrow screen; `code` and *emphasis* are those of Markdown."""
    rows = list(rows)
    lines = []
    for row in rows:
        cells = [f"<td>{marked(row[0])}</td>"]
        for head, text in zip(header[1:], row[1:], strict=True):
            known = f' data-head="{html.escape(head)}"' if text and len(row) > 2 else ""
            cells.append(f"<td{known}>{marked(text)}</td>")
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return HTML(
        f'{STYLE}<div class="filtered stacked"><div class="pst-scrollable-table-container">'
        f'<table class="table" aria-label="{told(rows)}">{heads(header)}'
        f"<tbody>{''.join(lines)}</tbody></table></div></div>"
    )


def marked(text: str) -> str:
    """Text with `code` and *emphasis* as HTML."""
    parts = re.split(r"`([^`]*)`", text)
    for place, part in enumerate(parts):
        part = html.escape(part)
        emphasis = re.sub(r"\*([^*]+)\*", r"<em>\1</em>", part)
        parts[place] = f"<code>{part}</code>" if place % 2 else emphasis
    return "".join(parts)
