"""Sphinx extension: what the theme sends and no page uses is left out, a seventh of what a browser loads.

That is the script for icons of one's own, which finds none, and in the style a rule for each of 2,000 icons.
"""

import re
from pathlib import Path

from sphinx.application import Sphinx

ICON = re.compile(r"\bfa-[\w-]+")
RULE = re.compile(r'((?:\.fa-[\w-]+,?)+)\{--fa:"[^"]*"\}')
SCRIPT = "scripts/fontawesome.js"
STYLE = "styles/pydata-sphinx-theme.css"


def lighten(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.name != "html":
        return
    static = Path(app.outdir) / "_static"
    script = static / SCRIPT
    script.write_text("// No page has an icon of its own.\n")
    using = [*app.outdir.rglob("*.html"), *static.rglob("*.js")]
    used = {icon for path in using for icon in ICON.findall(path.read_text())}
    assert "fa-custom" not in used, "an icon of one's own needs the theme's script"
    style = static / STYLE
    style.write_text(RULE.sub(lambda rule: kept(rule, used), style.read_text()))


def kept(rule: re.Match, used: set[str]) -> str:
    return rule[0] if used & set(ICON.findall(rule[1])) else ""


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("build-finished", lighten, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
