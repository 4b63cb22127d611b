"""Settings of the site."""

import importlib.metadata
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / folder) for folder in ("tools", "docs/support", "docs")]
# jsonschema, which nbformat imports, would make 38 parsers for formats of addresses, which takes 3 s of a processor.
sys.modules.setdefault("rfc3987_syntax", None)

from book import urls  # noqa: E402

project = "Op by Op"
author = "the authors of Op by Op"
copyright = "2026, " + author
version = release = importlib.metadata.version("op-by-op")

extensions = [
    "myst_nb",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinxext.opengraph",
    "one_page",
    "directives",
    "long_lines",
    "unbroken",
    "kernels",
    "cells",
    "notebooks",
    "downloads",
    "glossary",
    "dictionary",
    "search",
    "found",
    "navigation",
    "publishing",
    "stamp",
    "freshness",  # the last one: it looks at what the others complained of
]
exclude_patterns = ["_static", "_templates", "pictures", "support"]
templates_path = ["docs/_templates"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

# A page is executed whenever it is read, and read again only when something that it depends on has changed. (The
# "cache" mode compares the cells alone: after a change of a .cc it would show the new code over the old output.)
nb_execution_mode = "force"
nb_execution_timeout = 1500
nb_output_stderr = "show"
nb_code_prompt_show = nb_code_prompt_hide = "The code"
nb_render_markdown_format = "myst"
# Notebooks take the outputs as they are, but MyST-NB insists on choosing.
nb_mime_priority_overrides = [
    ("notebook", "text/plain", 1),
    ("notebook", "text/html", 2),
    ("notebook", "image/png", 3),
]

copybutton_exclude = ".linenos, .gp, .go"
# What can be copied is code to run or to compile, not what came out of it.
copybutton_selector = (
    "div:not(.output, .highlight-text, .highlight-none, .highlight-diff, .cell_output *)"
    " > div.highlight > pre"
)

html_theme = "pydata_sphinx_theme"
html_title = "Op by Op"
html_logo = html_favicon = "docs/_static/logo.svg"
html_static_path = ["docs/_static"]
html_css_files = ["book.css"]
html_js_files = ["book.js"]
html_copy_source = False
html_show_sourcelink = False
html_use_index = False
html_baseurl = urls()["Documentation"]
html_context = {
    "default_mode": "auto",
    "repository": urls()["Repository"],
    "baseurl": html_baseurl,
}
# What a page looks like where a link to it is shared.
logo = str(Path(__file__).parent / "docs" / "_static" / "logo.png")
ogp_site_url = html_baseurl
ogp_social_cards = {
    "image": logo,
    # A second picture, which would be Sphinx's logo: a transparent one.
    "image_mini": str(Path(logo).with_name("nothing.png")),
    "line_color": "#0b5566",
    "font": "DejaVu Sans",  # matplotlib brings it along
}
html_sidebars = {"**": ["sidebar-chapters.html"]}
html_theme_options = {
    "logo": {"text": "Op by Op"},
    "navbar_center": [],
    "navbar_end": [],
    "navbar_persistent": ["search-button"],
    "primary_sidebar_end": [],
    "article_header_start": [],
    "article_footer_items": ["foot"],
    "secondary_sidebar_items": ["page-toc", "chapter-downloads", "report-mistake"],
    "footer_start": ["colophon"],
    "footer_end": [],
    "search_bar_text": "Search the book",
    "search_as_you_type": True,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
