"""No page is stale: what has changed is executed again, what has not is not, and what is broken fails the build."""

import logging
import re
import shutil
import subprocess
from types import SimpleNamespace

import freshness
import pytest
import stamp
from small_pages import beginning, cell

FRONT = beginning()

small_book = pytest.mark.xdist_group("small book")
# Without TensorFlow's headers, which take most of the time of a compilation, and without TensorFlow.
SOURCE = """\
// [register] What Python calls.
extern "C" __attribute__((visibility("default"))) int ZeroOut(int index, int value) {
  const int in = value;
  return index == 0 ? in : 0;
}
"""
MODULE = """\
import ctypes
from pathlib import Path

library = ctypes.CDLL(str(Path(__file__).with_name("libzero_out.so")))


def zero_out(values):
    return [library.ZeroOut(index, value) for index, value in enumerate(values)]
"""


def executed(run: subprocess.CompletedProcess) -> set[str]:
    """The pages that a build of the site has executed."""
    assert run.returncode == 0, run.stdout + run.stderr
    return set(re.findall(r"/(\w+)\.md: Executing notebook", run.stdout + run.stderr))


def replaced(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.fixture(scope="module")
def book(scratch):
    """A small example with small pages: one calls it, one looks at measurements, one at nothing."""
    root = scratch("zero_out", whole=False)
    example = root / "examples" / "zero_out"
    (example / "zero_out.cc").write_text(SOURCE)
    (example / "zero_out.py").write_text(MODULE)
    docs = root / "docs"
    shutil.rmtree(docs / "support" / "outputs")
    (docs / "zero_out.md").write_text(
        FRONT
        + "```{snippet} zero_out/zero_out.cc#register\n```\n\n"
        + cell(
            "from zero_out import zero_out\n\nassert list(zero_out([5, 4])) == [5, 0]"
        )
    )
    (docs / "other.md").write_text(FRONT + cell("print(1 + 1)", "varies"))
    (docs / "pictures" / "of_tables.py").write_text("import measured\n")
    (docs / "tables.md").write_text(FRONT + cell("from pictures import of_tables"))
    (docs / "index.md").write_text(
        "# Book\n\n```{chapters}\nPart:\n- zero_out\n- other\n- tables\n```\n"
    )
    return root


@small_book
def test_what_does_not_compile_is_shown_and_the_next_run_finishes(book, make):
    source = book / "examples" / "zero_out" / "zero_out.cc"
    good = source.read_text()
    replaced(source, "const int in =", "const int in_ =")
    run = make(book, "docs", "SPHINXOPTS=")
    assert run.returncode
    assert re.search(r"error: .in. was not declared", run.stdout)
    assert "Executing" not in run.stdout + run.stderr
    source.write_text(good)
    run = make(book, "zero_out")
    assert run.returncode == 0
    assert "zero_out/libzero_out.so" in run.stdout
    assert "warning" not in run.stdout
    assert make(book, "zero_out").stdout.count("libzero_out.so") == 1


@small_book
def test_exactly_the_pages_that_depend_on_a_change_are_executed(book, make):
    def docs():
        return executed(make(book, "docs", "SPHINXOPTS="))

    def add_line(path: str) -> None:
        file = book / path
        file.write_text(file.read_text() + "\n")

    def ran(name: str) -> str:
        html = (book / "build" / "html" / f"{name}.html").read_text()
        return re.search(r'ran on <time datetime="(.*?)"', html)[1]

    assert docs() == {"zero_out", "other", "tables"}
    before = {name: ran(name) for name in ("zero_out", "other", "tables")}

    add_line("examples/zero_out/zero_out.cc")
    page = book / "docs" / "other.md"
    page.write_text(page.read_text().replace("A page", "Retitled") + "\nMore.\n")
    assert docs() == {"zero_out", "other"}
    for name in ("index", "tables"):  # in the list and in the sidebar
        assert "Retitled" in (book / "build" / "html" / f"{name}.html").read_text()
    assert ran("tables") == before["tables"] and ran("other") > before["other"]

    add_line("examples/zero_out/zero_out.py")
    (book / "bench" / "new.csv").touch()
    assert docs() == {"zero_out", "tables"}
    assert docs() == set()


def test_of_a_build_that_was_killed_nothing_counts(tmp_path):
    env = SimpleNamespace(all_docs={}, found_docs={"page"})
    app = SimpleNamespace(env=env, doctreedir=tmp_path)
    handlers = logging.getLogger("sphinx").handlers
    before = list(handlers)
    freshness.start(app)
    env.all_docs["page"] = 1  # read, and then killed
    freshness.start(app)
    assert env.all_docs == {}
    env.all_docs["page"] = 1
    freshness.finish(app, None)
    freshness.start(app)
    assert env.all_docs == {"page": 1}
    handlers[:] = before


@small_book
def test_what_is_broken_fails_each_build_until_it_is_mended(book, make):
    """One page has a cell that fails, one a link that leads nowhere, and one an example that lacks what it shows."""
    source = book / "examples" / "zero_out" / "zero_out.cc"
    other, tables = (book / "docs" / f"{name}.md" for name in ("other", "tables"))
    good = {path: path.read_text() for path in (other, tables, source)}
    replaced(other, "1 + 1", "1 / 0")
    replaced(tables, "of_tables\n```", "of_tables\n```\n\n[A link](no.md)")
    replaced(source, "? in", "? in + 1")
    replaced(source, "// [register]", "// [renamed]")
    for _ in range(2):
        run = make(book, "docs")
        assert run.returncode
        for complaint in (
            "ZeroDivisionError",
            "'no.md'",
            "assert list(zero_out([5, 4])) == [5, 0]",
            "examples/zero_out/zero_out.cc has no section [register]",
        ):
            assert complaint in run.stderr
    for path, text in good.items():
        path.write_text(text)
    assert executed(make(book, "docs", "SPHINXOPTS=")) == {
        "zero_out",
        "other",
        "tables",
    }


def test_the_stamp_of_a_page_has_the_commit_and_whether_it_was_changed(
    monkeypatch, tmp_path
):
    monkeypatch.setattr(stamp, "ROOT", tmp_path)
    assert stamp.stamp()["commit"] == ""
    git = ["git", "-C", tmp_path, "-c", "user.name=test", "-c", "user.email=test@host"]
    (tmp_path / "page.md").write_text("A page")
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "A page"]):
        subprocess.run([*git, *command], check=True)
    clean = stamp.stamp()
    assert re.fullmatch("[0-9a-f]{10}", clean["commit"]) and not clean["changed"]
    (tmp_path / "page.md").write_text("Another page")
    assert stamp.stamp()["commit"] == clean["commit"] and stamp.stamp()["changed"]


def test_a_page_depends_on_a_program_that_its_cells_read():
    noted = set()
    env = SimpleNamespace(note_dependency=lambda path, docname: noted.add(path))
    text = cell('Path("tools/sanitize.py").read_text()')
    freshness.depend_on_examples(SimpleNamespace(env=env), "page", [text])
    assert freshness.ROOT / "tools" / "sanitize.py" in noted
    assert freshness.ROOT / "tools" / "fuzz.py" not in noted


def test_no_page_depends_on_bytecode(tmp_path, monkeypatch):
    """Which Python writes while the page runs: it would be out of date at once."""
    (tmp_path / "x" / "__pycache__").mkdir(parents=True)
    for name in ("x/x.py", "x/libx.so", "x/__pycache__/x.cpython-311.pyc"):
        (tmp_path / name).touch()
    found = {path.name for path in freshness.files_below(tmp_path)}
    assert found == {"x.py", "libx.so"}


@small_book
def test_one_page_is_built_alone(book, make):
    """And what it shows is compared with what it showed, until that is accepted."""

    def page(name: str, **environment: str) -> tuple[str, str]:
        run = make(book, "page", f"PAGE={name}", **environment)
        return run.returncode, run.stdout + run.stderr

    code, said = page("no_such_page")
    assert code and "make page: PAGE=x, where x is one of: " in said
    assert "Traceback" not in said and " other " in said
    other = book / "docs" / "other.md"
    other.write_text(FRONT + cell("1 + 1"))
    kept = book / "docs" / "support" / "outputs" / "other.txt"
    code, said = page("other")
    line = FRONT.count("\n") + 2
    assert code and f"other.md:{line}: " in said and "shows `2`, not `nothing`" in said
    assert not kept.exists()
    assert page("other", ACCEPT="1")[0] == 0
    assert kept.read_text().split() == ["-" * 20, "2"]
    code, said = page("other")
    html = book / "build" / "page" / "html"
    assert code == 0 and f"\nfile://{html}/other.html\n" in said
    text = (html / "other.html").read_text()
    assert "shows" not in said and ">2\n" in text and "A page" in text
    assert not (html / "zero_out.html").exists()
    kept.unlink()
    other.write_text(FRONT + cell("print(1 + 1)", "varies"))
