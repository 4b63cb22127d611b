"""Cells of tables: places that a link can lead to, and rows that a module writes as text."""

import re


def marked(anchor: str, text: str) -> str:
    """A cell's Markdown that a link can lead to; what no address should hold becomes a hyphen."""
    address = re.sub(r"[^a-z0-9]+", "-", anchor.lower()).strip("-")
    return f'<a id="{address}"></a>{text}'


def entries(text: str) -> list[list[str]]:
    """Rows from lines of text, whose cells ` | ` parts."""
    return [line.split(" | ") for line in text.strip().splitlines()]
