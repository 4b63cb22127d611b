"""Sphinx extension: `{explain-field}`, where one pastes a log, and docs/_static/explain.js says what is in it."""

import html
import json
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from opcheck import explain

ROOT = Path(__file__).parents[1]
FIELD = """\
<form class="explain" data-report="{report}" hidden>
<label for="explain-log">Paste all that was printed</label>
<textarea id="explain-log" rows="7" wrap="off" spellcheck="false" autocomplete="off" autocapitalize="off"></textarea>
<p class="explain-note">Or drop a file. Nothing leaves this page. In a terminal,
<code>make 2&gt;&amp;1 | python -m opcheck explain</code> does the same.</p>
<p class="explain-status" role="status"></p>
<div class="explain-found"></div>
</form>
<script type="application/json" id="explain-table">{table}</script>
<script src="_static/explain.js"></script>
"""


class explain_field(nodes.General, nodes.Element):
    """The place of the field."""


class ExplainField(SphinxDirective):
    """Places the field."""

    def run(self) -> list[nodes.Node]:
        for name in ("errors.toml", "releases.toml", "explain.py"):
            self.env.note_dependency(
                str(ROOT / "packages" / "opcheck" / "opcheck" / name)
            )
        return [explain_field()]


def visit_html(self, node: explain_field) -> None:
    table = json.dumps(
        explain.for_the_page(), ensure_ascii=False, separators=(",", ":")
    )
    report = html.escape(explain.REPORT)
    self.body.append(FIELD.format(report=report, table=table.replace("<", "\\u003c")))
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_node(explain_field, html=(visit_html, None))
    app.add_directive("explain-field", ExplainField)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
