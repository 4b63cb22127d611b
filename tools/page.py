"""Builds one page, with the examples that it needs: `python tools/page.py NAME`."""

import subprocess
import sys

from book import DOCS, ROOT, cells_of, examples_of
from sphinx.cmd.build import main as sphinx

import examples

OUT = ROOT / "build" / "page"
PROVOKE = ROOT / "packages" / "opcheck" / "mistakes" / "provoke.py"


def main() -> None:
    pages = sorted(path.stem for path in DOCS.glob("*.md"))
    if len(sys.argv) != 2 or sys.argv[1] not in pages:
        sys.exit(f"make page: PAGE=x, where x is one of: {' '.join(pages)}")
    page = sys.argv[1]
    if names := examples_of(cells_of((DOCS / f"{page}.md").read_text())):
        examples.build(names)
    if page == "errors" and subprocess.run([sys.executable, PROVOKE]).returncode:
        sys.exit(1)
    options = ["-n", "-W", "--keep-going", "-E", "-q", "-c", ROOT]
    options += ["-d", OUT / "doctrees", "-D", f"page={page}"]
    if sphinx([*map(str, [*options, DOCS, OUT / "html", DOCS / f"{page}.md"])]):
        sys.exit(1)
    print(f"file://{OUT}/html/{page}.html")


if __name__ == "__main__":
    main()
