"""The zips of the examples: what is in them, and that two commands build and test one."""

import functools
import io
import os
import re
import shlex
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from book import EXAMPLES, ROOT, examples
from downloads import archive, left_out, stem
from packaging.requirements import Requirement
from running import run

SITE = "https://op-by-op.github.io/op-by-op/"
# The others are projects of their own.
NAMES = [x for x in examples() if not (EXAMPLES / x / "pyproject.toml").exists()]


zipped = functools.cache(lambda name: archive(name, SITE))


def unpacked(name: str, folder: Path) -> Path:
    with zipfile.ZipFile(io.BytesIO(zipped(name))) as file:
        kinds = {info.compress_type for info in file.infolist()}
        assert kinds == {zipfile.ZIP_DEFLATED}
        file.extractall(folder)
    assert [path.name for path in folder.iterdir()] == [name]
    return folder / name


@pytest.mark.parametrize("name", NAMES)
def test_a_zip_has_the_op_its_tests_and_nothing_wrong(tmp_path, name):
    root = unpacked(name, tmp_path)
    for file in ("README.md", "LICENSE", "Makefile", "pytest.ini", "requirements.txt"):
        assert (root / file).is_file()
    assert not (root / "packages").exists()
    shared = (root / "examples" / "conftest.py").read_text()
    assert "setattr(np.testing" not in shared, "assert_allclose is not NumPy's"
    own = root / "examples" / name
    assert [*own.glob("*_test.py")] and [*own.glob("*.cc")]
    cmake = (own / "CMakeLists.txt").read_text()
    assert f"project({name}" in cmake
    scripts = "".join(path.read_text() for path in own.glob("*.py"))
    loaded = {*re.findall(r'"lib(\w+)\.so"', scripts)}
    built = {path.stem for path in own.glob("*.cc")} & loaded
    assert built <= {*re.findall(r"\w+", cmake)}
    assert not re.search(r"^op_by_op_\w+\( *\)", cmake, re.M)
    gone = {stem(path) for path in (EXAMPLES / name).iterdir() if left_out(path)}
    for path in own.iterdir():
        assert stem(path) not in gone
        named = {*re.findall(r"\w+", path.read_text())}
        assert not named & gone, f"{path.name} names what is left out"
        for header in re.findall(r"#include <(\S+)>", path.read_text()):
            shared = Path("examples", "common", header)
            assert (root / shared).exists() == (ROOT / shared).exists(), header
    ruff = Path(sysconfig.get_path("scripts")) / "ruff"
    done = run(ruff, "check", "--isolated", "--quiet", "--select=F821", root)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", NAMES)
def test_a_zip_has_what_examples_share_as_far_as_it_needs_it(tmp_path, name):
    root = unpacked(name, tmp_path)
    files = {
        x.relative_to(root): x.read_text() for x in root.rglob("*.*") if x.is_file()
    }
    del files[Path("README.md")]
    shared = {x for x in files if {"cmake", "common"} & {*x.parts}}
    for path in shared - {Path("cmake", "FindTensorFlow.cmake")}:
        others = "".join(text for other, text in files.items() if other != path)
        assert re.search(rf"\b{path.stem}\b", others), f"nothing needs {path}"
    imported = {
        *re.findall(r"^ *(?:from|import) (\w+)", "\n".join(files.values()), re.M)
    }
    for path in (EXAMPLES / "common").glob("*.py"):
        assert (path.relative_to(ROOT) in files) >= (path.stem in imported), path.stem
    if not [*(EXAMPLES / name).glob("*.cu.cc")]:
        of_gpus = re.compile(r"cuda|\bcub\b|gpu_ops|on_host", re.I)
        assert not [path for path in files if of_gpus.search(str(path))]
        assert "on_host" not in files[Path("examples", "conftest.py")]


@pytest.mark.parametrize("name", NAMES)
def test_a_readme_names_only_what_is_in_its_zip(tmp_path, name):
    root = unpacked(name, tmp_path)
    said = (root / "README.md").read_text()
    files = [path for path in root.rglob("*") if path.name != "README.md"]
    inside = "".join(path.read_text() for path in files if path.is_file())
    for named in re.findall(r"`([^`\n]+)`", re.sub("```.*?```", "", said, flags=re.S)):
        if "/" in named and "//" not in named:
            assert (root / named).exists(), named
        elif "." in named:
            assert [*root.rglob(named)], named
        elif named not in (
            "GPUS_OF_TESTS=0 make test",
            "PYTHONPATH",
            "tensorflow[and-cuda]",
        ):
            assert named in inside or named == "make test", named
    cmake = root / "examples" / name / "CMakeLists.txt"
    assert ("a GPU" in said) == ("add_cuda_kernels" in cmake.read_text())
    assert "my_op" not in re.sub(r"\[my_op\.zip\]\(\S+\)", "", said)


@pytest.mark.parametrize("name", sorted({*examples()} - {*NAMES}))
def test_the_zip_of_a_project_needs_nothing_of_the_book(tmp_path, name):
    root = unpacked(name, tmp_path)
    files = [path for path in root.rglob("*") if path.is_file()]
    assert root / name / "__init__.py" in files or name == "packaging"
    assert [path for path in files if path.name.endswith("_test.py")]
    for path in files:
        assert not re.search(r"import (op_library|cuda_on_host)", path.read_text())
        assert not re.search(r"from op_library|/cmake/\w+\.cmake", path.read_text())


def test_what_pip_installs_is_what_the_book_needs(tmp_path):
    """Three of a kind, and opcheck from a folder of the repository, in the way of its chapter, which needs no git."""
    root = unpacked("zero_out", tmp_path)
    lines = (root / "requirements.txt").read_text().splitlines()
    needed = {each.name: each for each in map(Requirement, lines)}
    installed = [
        name
        for name, each in needed.items()
        if each.marker is None or each.marker.evaluate()
    ]
    assert sum(name.startswith("tensorflow") for name in installed) == 1
    url = needed["opcheck"].url
    repository, folder = url.split("/archive/main.zip#subdirectory=")
    assert (ROOT / folder / "pyproject.toml").is_file()
    assert f'"{repository}"' in (ROOT / "pyproject.toml").read_text()
    assert f'"opcheck[fuzz] @ {url}"' in (ROOT / "docs" / "opcheck.md").read_text()
    readme = (root / "README.md").read_text()
    assert not re.search(r"\bgit\b", readme)


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["", "examples/multi_output"])
def test_pytest_finds_the_fixtures_from_each_folder(tmp_path, folder):
    root = unpacked("multi_output", tmp_path)
    for test in root.glob("examples/multi_output/*_test.py"):
        test.write_text("def test_twice(mode): pass\n")
    opcheck = str(ROOT / "packages" / "opcheck")
    done = run(sys.executable, "-m", "pytest", cwd=root / folder, PYTHONPATH=opcheck)
    assert "2 passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.slow
def test_two_commands_build_and_test_an_example(tmp_path):
    """The first is tried by hand: it downloads TensorFlow. Here the packages are those of the book."""
    root = unpacked("zero_out", tmp_path)
    block = re.search(r"```sh\n(.*?)```", (root / "README.md").read_text(), re.S)
    install, test = block[1].splitlines()
    assert install == "pip install -r requirements.txt"
    scripts = sysconfig.get_path("scripts")
    path = os.pathsep.join([scripts, os.environ["PATH"]])
    opcheck = str(ROOT / "packages" / "opcheck")
    environment = {"PATH": path, "PYTHONPATH": opcheck, "MAKEFLAGS": ""}
    done = run(*shlex.split(test), cwd=root, **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\d+ passed", done.stdout)
