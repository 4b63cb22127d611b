"""Builds one page, with the examples that it needs: `python tools/page.py NAME`."""

import subprocess
import sys

from book import DOCS, ROOT, examples_of

OUT = ROOT / "build" / "page"


def main() -> None:
    pages = sorted(path.stem for path in DOCS.glob("*.md"))
    if len(sys.argv) != 2 or sys.argv[1] not in pages:
        sys.exit(f"make page: PAGE=x, where x is one of: {' '.join(pages)}")
    page = sys.argv[1]
    text = (DOCS / f"{page}.md").read_text()
    if names := examples_of(text):
        build = [sys.executable, ROOT / "tools" / "examples.py", *names]
        if subprocess.run(build).returncode:
            sys.exit(1)
    if page == "errors":
        provoke = [
            sys.executable,
            ROOT / "packages" / "opcheck" / "mistakes" / "provoke.py",
        ]
        if subprocess.run(provoke).returncode:
            sys.exit(1)
    sphinx = [sys.executable, "-m", "sphinx", "-n", "-W", "--keep-going", "-E", "-q"]
    sphinx += ["-c", ROOT, "-d", OUT / "doctrees", "-D", f"page={page}"]
    run = subprocess.run([*sphinx, DOCS, OUT / "html", DOCS / f"{page}.md"])
    if run.returncode:
        sys.exit(1)
    print(f"file://{OUT}/html/{page}.html")


if __name__ == "__main__":
    main()
