"""Cells of tables: places that a link can lead to, and rows that a module writes as text."""

import re
from collections.abc import Iterable
from pathlib import Path

Table = tuple[list[str], list]  # header and rows


def codes(names: Iterable[str]) -> str:
    """Names as code, between commas."""
    return ", ".join(f"`{name}`" for name in names)


def marked(anchor: str, text: str) -> str:
    """A cell's Markdown that a link can lead to; what no address should hold becomes a hyphen."""
    address = re.sub(r"[^a-z0-9]+", "-", anchor.lower()).strip("-")
    return f'<a id="{address}"></a>{text}'


def entries(text: str) -> list[list[str]]:
    """Rows from lines of text, whose cells ` | ` parts."""
    return [line.split(" | ") for line in text.strip().splitlines()]


def tables_beside(module: str) -> dict[str, list[list[str]]]:
    """The tables of the text file beside a module: below a line `[name]`, the rows, whose cells ` | ` parts."""
    text = Path(module).with_suffix(".txt").read_text()
    _, *parts = re.split(r"^\[(.+)\]\n", text, flags=re.M)
    return {name: entries(rows) for name, rows in zip(parts[::2], parts[1::2])}
