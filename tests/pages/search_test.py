"""What the search looks through: of a folded listing, what the book does not show elsewhere."""

import search

PAGE = """\
<article class="bd-article"><section id="an-op"><h1>An op<a class="headerlink">#</a></h1>
<p>It has a kernel.</p><pre>void Compute(OpKernelContext* context) {</pre>
<section id="all"><h2>All</h2><p>The whole file.</p>
<details><summary>op.cc</summary><pre>void Compute(OpKernelContext* context) {
  Hidden(context);
  Hidden(<span>context</span>, context);
}</pre></details></section></section></article>
"""


def test_a_folded_listing_has_the_lines_with_new_names(tmp_path):
    page = tmp_path / "op.html"
    page.write_text(PAGE)
    known = search.open_names(page)
    assert {"Compute", "OpKernelContext", "whole"} <= known and "Hidden" not in known
    top, listing = search.sections(page, "about", known)
    shown = "It has a kernel. void Compute(OpKernelContext* context) {"
    assert top == ("op.html", "", "An op", shown, "about")
    expected = "The whole file. op.cc Hidden(context);"
    assert listing == ("op.html", "all", "An op › All", expected, "")
