"""Sphinx extension: what a published site has beside its pages, a page for addresses that are none, and a map."""

from xml.etree import ElementTree

from sphinx.application import Sphinx


def add_404(app: Sphinx) -> None:
    if app.builder.name == "html":
        app.config.html_additional_pages["404"] = "404.html"


def write_sitemap(app: Sphinx, exception: Exception | None) -> None:
    """Lists all pages, also those that this build has not written."""
    if exception or app.builder.name != "html":
        return
    site = ElementTree.Element(
        "urlset", xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
    )
    for page in sorted(app.env.all_docs):
        entry = ElementTree.SubElement(ElementTree.SubElement(site, "url"), "loc")
        entry.text = f"{app.config.html_baseurl}{page}.html"
    tree = ElementTree.ElementTree(site)
    tree.write(app.outdir / "sitemap.xml", encoding="utf-8", xml_declaration=True)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", add_404)
    app.connect("build-finished", write_sitemap)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
