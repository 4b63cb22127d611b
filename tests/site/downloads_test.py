"""What a page offers to download: its notebook, and its example as a zip that builds alone."""

import os
import re
import subprocess
import sysconfig
import zipfile
from pathlib import Path

import nbformat
import ninja
import pytest
import template
from book import EXAMPLES, ROOT, chapters, example_of, has_notebook
from downloads import left_out
from markdown_it import MarkdownIt
from page_source import project_files


def offers(document, name: str) -> set[str]:
    """Where the links beside a page lead."""
    links = document(name).select(".bd-sidebar-secondary a")
    return {link["href"] for link in links}


WITH_NOTEBOOK = [page for page, path in chapters().items() if has_notebook(path)]


def test_a_page_with_nothing_to_run_has_no_notebook(document, site):
    without = {*chapters()} - {*WITH_NOTEBOOK}
    assert "errors" in without
    for name in without:
        assert not (site / "notebooks" / f"{name}.ipynb").exists()
        assert not document(name).select("nav.launch, [href*='.ipynb']")


@pytest.mark.xdist_group("the site's files")  # which are parsed once in each process
@pytest.mark.parametrize("name", WITH_NOTEBOOK)
def test_notebook_is_offered_and_valid(document, site, name):
    assert f"notebooks/{name}.ipynb" in offers(document, name)
    notebook = nbformat.read(site / "notebooks" / f"{name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    assert any(cell.cell_type == "code" for cell in notebook.cells)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    shows = document(name).select(".cell_output")
    assert bool(shows) == any(cell.outputs for cell in code)
    drawn = sum(len(output.select("svg")) for output in shows)
    assert drawn == sum(str(cell.outputs).count("<svg ") for cell in code)
    folded = [cell for cell in code[1:] if cell.metadata.get("cellView")]
    guards = r"^(assert|record|np\.testing)\b|papermill"
    assert not [x.source for x in folded if re.search(guards, x.source, re.M)]
    assert not [x.source for x in code if re.search("^assert ", x.source, re.M)]
    assert [cell.cell_type for cell in notebook.cells[:2]] == ["markdown", "code"]
    assert len(notebook.cells[0].source.splitlines()) == 3, "more than the title"
    launch = document(name).select("h1 + nav.launch a")
    assert [link["href"].rpartition("/")[2] for link in launch] == [f"{name}.ipynb"] * 3
    reader = MarkdownIt("commonmark").enable("table")
    for cell in notebook.cells:
        if cell.cell_type != "markdown":
            continue
        assert not re.search(r"^ *(:::|\(.*\)=$|%|\+\+\+)", cell.source, re.M)
        for token in reader.parse(cell.source):
            assert not token.info.startswith("{"), f"a directive in {cell.source}"
            for part in token.children or []:
                url = part.attrs.get("href") or part.attrs.get("src") or "https:"
                assert re.match(r"https?:|data:image/", url), f"{url} leads nowhere"


def test_notebooks_have_all_that_their_cells_need(site):
    """What hidden cells bind and later ones use is there; the set-up runs docs/support/start.py."""
    start = (ROOT / "docs" / "support" / "start.py").read_text()
    bound = re.findall(r"^(?:def|class|from .* import|import) (\w+)", start, re.M)
    ruff = Path(sysconfig.get_path("scripts")) / "ruff"
    command = [ruff, "check", "--isolated", "--quiet", "--select=F821,E702"]
    names = ["display", "get_ipython", *bound]
    command += ["--config", f"builtins={names}", site / "notebooks"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout


@pytest.fixture(scope="module")
def read_by_the_build(site) -> dict[str, set[Path]]:
    """From the name of each example to the book's files that its build has read, as Ninja has noted; CMake's: ""."""
    build = ROOT / "build" / "examples"

    def noted(*command: str) -> list[str]:
        call = [Path(ninja.BIN_DIR) / "ninja", "-C", build, "-t", *command]
        run = subprocess.run(call, stdout=subprocess.PIPE, text=True, check=True)
        return run.stdout.splitlines()

    found = {"": set()}
    files = found[""]
    for line in [*noted("query", "build.ninja"), *noted("deps")]:
        # zero_out/CMakeFiles/zero_out.dir/zero_out.cc.o: #deps 912, …
        if "#deps" in line:
            files = found.setdefault(line.split("/")[0], set())
            if "(VALID)" not in line:  # of a target that there was before
                files = set()
        path = Path(os.path.normpath(build / line.strip(" |")))
        top = path.relative_to(ROOT).parts[:1] if path.is_relative_to(ROOT) else ()
        if path.is_file() and top and top[0] != "build" and top[0][0] != ".":
            files.add(path)
    return found


@pytest.mark.xdist_group("the site's files")
@pytest.mark.parametrize(
    "page, name",
    [
        (page, name)
        for page, path in chapters().items()
        if (name := example_of(path))
        if not (EXAMPLES / name / "pyproject.toml").exists()
    ],
)
def test_zip_is_offered_and_has_what_the_build_reads(
    document, site, read_by_the_build, page, name
):
    assert f"downloads/{name}.zip" in offers(document, page)
    with zipfile.ZipFile(site / "downloads" / f"{name}.zip") as zipped:
        assert {info.date_time[0] for info in zipped.infolist()} == {1980}
        packed = {info.filename: zipped.read(info) for info in zipped.infolist()}
    own = EXAMPLES / name
    assert name in read_by_the_build, f"{name} is not built: run make examples"
    of_cmake = read_by_the_build[""]
    needed = read_by_the_build[name] | {
        path for path in of_cmake if EXAMPLES not in path.parents or own in path.parents
    }
    assert own / "CMakeLists.txt" in needed
    assert any(path.suffix == ".cc" for path in needed)
    needed |= {ROOT / "LICENSE", EXAMPLES / "conftest.py"}
    some = {"CudaKernels", "CheckCudaRuntime", "SimdPaths"}  # that not all ask for
    asked = (own / "CMakeLists.txt").read_text()
    needed = {
        path
        for path in needed
        if not left_out(path) and (path.stem not in some or path.stem in asked)
    }
    inside = {f"{name}/{path.relative_to(ROOT)}": path for path in needed}
    assert inside.keys() - packed.keys() == set()
    for path, source in inside.items():
        # Of these, what is of the book alone is left out.
        if source.suffix != ".txt" and source.name != "conftest.py":
            assert packed[path] == source.read_bytes(), path


@pytest.mark.parametrize(
    "name", ["my_op", *(path.parent.name for path in EXAMPLES.glob("*/pyproject.toml"))]
)
def test_a_project_is_offered_as_it_is(site, name):
    with zipfile.ZipFile(site / "downloads" / f"{name}.zip") as zipped:
        files = {info.filename: zipped.read(info) for info in zipped.infolist()}
    if name == "my_op":
        expected = template.project(name="my_op")
    else:
        folder = EXAMPLES / name
        # Without the steps of a chapter, and what stands beside the package and needs the book.
        own = [
            x
            for x in project_files()
            if folder in x.parents and folder / "steps" not in x.parents
            if not (x.parent == folder and x.suffix == ".py")
        ]
        expected = {str(x.relative_to(EXAMPLES / name)): x.read_text() for x in own}
    assert files == {f"{name}/{path}": expected[path].encode() for path in expected}
