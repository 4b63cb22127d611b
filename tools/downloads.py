"""Sphinx extension: what a chapter offers to download, its notebook and its example directory."""

from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, bool]:
    return {"parallel_read_safe": True, "parallel_write_safe": True}
