"""Places in tables that a link can lead to."""

import re


def marked(anchor: str, text: str) -> str:
    """A cell's Markdown that a link can lead to; what no address should hold becomes a hyphen."""
    address = re.sub(r"[^a-z0-9]+", "-", anchor.lower()).strip("-")
    return f'<a id="{address}"></a>{text}'
