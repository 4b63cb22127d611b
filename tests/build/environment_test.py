"""The set-up: what it says when something is missing, and that no version is written in two places unnoticed."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import venv
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from running import program, run

try:
    import tomllib
except ImportError:  # before Python 3.11
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
PYPROJECT = (ROOT / "pyproject.toml").read_text()
OLDEST, BEYOND = map(
    int,
    re.search(r'^requires-python = ">=3\.(\d+),<3\.(\d+)"$', PYPROJECT, re.M).groups(),
)
FROM, BELOW = re.search(r'"tensorflow-cpu>=2\.(\d+),<2\.(\d+);', PYPROJECT).groups()
README = (ROOT / "README.md").read_text()


@pytest.fixture
def copy(tmp_path):
    """The files that make the environment, in an empty folder."""
    for name in ("pyproject.toml", "constraints.txt", "README.md"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "env.sh", tmp_path / "tools")
    opcheck = Path("packages", "opcheck")
    (tmp_path / opcheck).mkdir(parents=True)
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / opcheck / name, tmp_path / opcheck)
    (tmp_path / "examples").mkdir()
    return tmp_path


@pytest.fixture
def programs(tmp_path):
    """A PATH with the system's basic programs and no Python."""
    folder = tmp_path / "programs"
    folder.mkdir()
    names = "apt-get awk cat cksum dirname grep mkdir mktemp rm sed seq sh tail touch"
    for name in names.split():
        if path := shutil.which(name):
            (folder / name).symlink_to(path)
    return folder


def base(folder: Path, made: str = "") -> str:
    """A Python whose environments have this one's pip, so that nothing is installed, or come about as `made` says."""
    program(folder, "python", f'exec {sys.executable} "$@"')
    made = made or f'mkdir -p "$3/bin"; ln -s {folder}/python "$3/bin"'
    script = f'[ "$2" = venv ] || exec {sys.executable} "$@"\n{made}'
    return str(program(folder, "base", script))


def start(copy: Path, **environment: str) -> subprocess.Popen:
    without_pip = {k: v for k, v in os.environ.items() if not k.startswith("PIP_")}
    return subprocess.Popen(
        ["sh", "tools/env.sh"],
        cwd=copy,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={
            **without_pip,
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_RETRIES": "0",
            "PIP_DRY_RUN": "1",
            "TENSORFLOW": "",
            **environment,
        },
    )


def refusal(copy: Path, **environment: str) -> str:
    """What env.sh says on its one line when it fails; nothing may be left behind."""
    started = start(copy, **environment)
    _, error = started.communicate()
    assert started.returncode == 1
    assert len(error.splitlines()) == 1, error
    assert not list(copy.glob(".venv*"))
    return error


def test_no_python(copy, programs):
    assert f"needs Python 3.{OLDEST} to 3.{BEYOND - 1}, found none" in refusal(
        copy, PATH=str(programs)
    )


@pytest.mark.parametrize("version", [f"3.{OLDEST - 1}", f"3.{BEYOND}", "2.7"])
def test_a_python_out_of_range(copy, programs, version):
    program(programs, "python3", f"echo {version}")
    error = refusal(copy, PATH=str(programs))
    assert f"python3 is {version}" in error
    assert "install" in error


def test_no_venv_module(copy, programs):
    program(
        programs,
        "python3",
        f'case "$2" in *ensurepip*) exit 1;; *) echo 3.{OLDEST};; esac',
    )
    error = refusal(copy, PATH=str(programs))
    assert "python3 has no venv module:" in error
    assert "install" in error


def test_no_network(copy):
    error = refusal(
        copy, PIP_INDEX_URL="http://127.0.0.1:9/simple", BASE_PYTHON=base(copy)
    )
    assert "pip cannot reach the package index" in error
    assert "ERROR: No matching distribution found for hatchling" in error


def test_a_tensorflow_out_of_range(copy):
    error = refusal(copy, TENSORFLOW="2.15", BASE_PYTHON=sys.executable)
    supported = f"2.{FROM} to 2.{int(BELOW) - 1}"
    assert error == f"make env: TENSORFLOW is {supported}, not 2.15\n"


def test_a_tensorflow_without_a_package_for_this_python(copy, programs):
    program(programs, "python3", "echo 3.13")
    error = refusal(copy, TENSORFLOW="2.18", PATH=str(programs))
    assert f"needs Python 3.{OLDEST} to 3.12, found python3 is 3.13" in error


def test_an_older_tensorflow_chooses_what_it_depends_on(copy, programs):
    """The rest is pinned by constraints.txt. A stand-in for pip tells what it was asked to install under what."""
    pip = """case "$*" in
    *freeze*) printf 'numpy==1.26.4\\nml_dtypes==0.4.1\\n' ;;
    *) while [ $# -gt 0 ]; do
         [ "$1" = --constraint ] && cat "$2" >>asked
         [ "$1" = --editable ] && echo "install $2" >>asked
         shift
       done ;;
    esac"""
    program(programs, "pip", pip)
    make = 'mkdir -p "$3/bin"; cp pip "$3/bin/python"'.replace(
        "cp pip", f"{shutil.which('cp')} {programs / 'pip'}"
    )
    program(programs, "base", f'[ "$2" = venv ] && {{ {make}; }} || echo 3.12')
    started = start(
        copy,
        TENSORFLOW="2.18",
        DEVICE="cpu",
        BASE_PYTHON="base",
        PATH=str(programs),
    )
    output, error = started.communicate()
    assert (started.returncode, error) == (0, "")
    assert "Creating .venv-2.18 with Python 3.12 and TensorFlow 2.18" in output
    assert (copy / ".venv-2.18" / "complete").exists()
    first, _, second, _, end = (copy / "asked").read_text().split("install ")
    second = second.splitlines()
    older = ["tensorflow==2.18.*", "tensorflow-cpu==2.18.*"]
    assert first.splitlines() == [*older, "setuptools<81", "protobuf<7"]
    assert (second[0], end) == (".[cpu]", ".[cpu,dev]\n")
    pinned = (copy / "constraints.txt").read_text().splitlines()
    decided = [line for line in pinned if re.match(r"(numpy|ml-dtypes)==", line)]
    assert decided
    assert second[1:] == ["numpy==1.26.4", "ml_dtypes==0.4.1"] + [
        line for line in pinned if line not in decided
    ]


def test_an_unknown_device(copy):
    assert "DEVICE is cpu or gpu, not tpu" in refusal(
        copy, DEVICE="tpu", BASE_PYTHON=sys.executable
    )


@pytest.mark.slow
@pytest.mark.parametrize("kill", [signal.SIGTERM, signal.SIGKILL])
def test_killed_while_it_installs(copy, kill):
    """A package index that never answers keeps pip waiting."""
    with socket.create_server(("127.0.0.1", 0)) as index:
        address = f"http://127.0.0.1:{index.getsockname()[1]}/simple"
        started = start(
            copy,
            PIP_INDEX_URL=address,
            PIP_DEFAULT_TIMEOUT="1000",
            BASE_PYTHON=base(copy),
        )
        index.settimeout(600)
        connection, _ = index.accept()
        started.send_signal(kill)
        time.sleep(0.5)
        connection.close()
        index.close()  # or uv asks it again, and waits
        started.wait(timeout=600)
    assert not (copy / ".venv" / "complete").exists()
    assert (copy / ".venv").exists() == (kill == signal.SIGKILL)
    refusal(copy, BASE_PYTHON=base(copy, made="exit 1"))


@pytest.mark.parametrize(
    "changed", ["constraints.txt", "packages/opcheck/pyproject.toml"]
)
def test_only_a_change_of_the_dependencies_makes_it_again(copy, changed):
    stamp = copy / ".venv" / "complete"
    stamp.parent.mkdir()
    made_from = (
        PYPROJECT[: PYPROJECT.index("\n[tool") + 1]
        + (ROOT / "constraints.txt").read_text()
        + (ROOT / "packages" / "opcheck" / "pyproject.toml").read_text()
    )
    checksum = subprocess.run(
        ["cksum"], input=made_from, capture_output=True, text=True, check=True
    )
    stamp.write_text(f"cpu {checksum.stdout}")
    with (copy / "pyproject.toml").open("a") as file:
        file.write("\n[tool.other]\n")
    started = start(copy, DEVICE="cpu", BASE_PYTHON=sys.executable)
    assert (started.communicate(), started.returncode) == (("", ""), 0)
    (copy / changed).write_text("")
    refusal(copy, DEVICE="cpu", BASE_PYTHON=base(copy, made="exit 1"))


def test_an_environment_without_the_dependencies(tmp_path):
    venv.create(tmp_path)
    checked = run(tmp_path / "bin" / "python", ROOT / "tools" / "check_environment.py")
    assert checked.returncode == 1
    expected = r"make: .* lacks the book's dependencies: .* -m pip install .*\n"
    assert re.fullmatch(expected, checked.stderr)


@pytest.mark.parametrize(
    "requires, missing",
    [
        ("no-such-package; python_version < '3.10'", None),
        ("no-such-package; extra == 'gpu'", None),
        ("no-such-package; extra == 'tensorboard'", "no-such-package"),
        ("no-such-package; extra == 'dev'", "no-such-package"),
        ("no-such-package; python_version >= '3.10'", "no-such-package"),
        ("no-such-package", "no-such-package"),
    ],
)
def test_only_what_this_python_needs_is_missed(tmp_path, requires, missing):
    metadata = tmp_path / "op_by_op-1.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text(
        "Metadata-Version: 2.4\nName: op-by-op\nVersion: 1\n"
        "Requires-Dist: op-by-op[tensorboard]; extra == 'dev'\n"
        f"Requires-Dist: {requires}\n"
    )
    tool = ROOT / "tools" / "check_environment.py"
    checked = run(sys.executable, tool, PYTHONPATH=str(tmp_path))
    assert bool(checked.returncode) == bool(missing), checked.stderr
    if missing:
        assert f"lacks {missing}: " in checked.stderr


def test_what_make_runs_has_the_opcheck_of_its_own_clone(tmp_path):
    """An environment that clones share holds that of another one."""
    python = program(tmp_path, "python", 'echo "$PYTHONPATH"')
    command = ["make", "-s", "-C", ROOT, f"PYTHON={python}", "check-environment"]
    path = run(*command, PYTHONPATH="own", MAKEFLAGS="").stdout.strip().split(":")
    assert path == [f"{ROOT}/packages/opcheck", f"{ROOT}/examples/common", "own"]


def test_conda_installs_what_pyproject_lists():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    conda, channels = environment["dependencies"], environment["channels"]
    assert f"python>=3.{OLDEST},<3.{BEYOND}" in conda
    assert channels == ["conda-forge"], "others have no cxx-compiler"
    (pip,) = (entry["pip"] for entry in conda if isinstance(entry, dict))
    assert pip == [
        "--constraint constraints.txt",
        "--editable packages/opcheck",
        "--editable .[cpu,dev]",
    ]
    for package in re.search(r"apt-get install ([^`]*)`", README)[1].split():
        names = {"g++": "cxx-compiler", "python3-venv": "pip"}
        assert names.get(package, package) in conda


def test_ci_runs_what_users_run(tmp_path):
    """It installs what the README names, or the README lacks a package and nobody notices; nor do variables help."""
    named = " ".join(re.findall(r"`sudo apt-get install ([^`]+)`", README)).split()
    program(tmp_path, "apt-get", f'echo apt-get "$@" >>{tmp_path}/log')
    program(tmp_path, "make", f'echo make "$@" >>{tmp_path}/log; env')
    program(tmp_path, "sudo", 'exec "$@"')
    given = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    kept = {"PIP_INDEX_URL": "x", "https_proxy": "y", "SSL_CERT_FILE": "z", "CI": "1"}
    lost = {"PYTHONDONTWRITEBYTECODE": "1", "PIP_NO_COMPILE": "1", "LANG": "C.UTF-8"}
    done = run(ROOT / ".ci" / "run", **given, **kept, **lost)
    assert done.returncode == 0, done.stderr
    *_, install, make = (tmp_path / "log").read_text().splitlines()
    assert install.split()[-len(named) - 1 :] == ["--no-install-recommends", *named]
    strict = "CMAKE_OPTIONS=-DCMAKE_CXX_FLAGS=-Werror"
    assert make == f"make test CUDA=on CUDAARCHS=75 {strict}"
    seen = dict(line.split("=", 1) for line in done.stdout.splitlines())
    assert given | kept == {k: v for k, v in seen.items() if k in given | kept | lost}


def modules() -> set[str]:
    """All that some file of ours, a cell of a page or a command of the Makefile imports or calls."""
    texts = [path.read_text() for path in ROOT.glob("*/*.py")]
    texts += [path.read_text() for path in ROOT.glob("examples/*/*.py")]
    for page in ROOT.glob("docs/*.md"):
        cells = r"^```\{code-cell\}[^\n]*\n(.*?)^```$"
        texts += re.findall(cells, page.read_text(), re.M | re.S)
    text = "\n".join(texts)
    found = re.findall(r"^ *(?:import|from) +(\w+)", text, re.M)
    conf = (ROOT / "conf.py").read_text()
    extensions = re.search(r"^extensions = \[(.*?)^\]", conf, re.M | re.S)[1]
    found += re.findall(r'"(\w+)', extensions)
    found += re.findall(r"\(python\) -m (\w+)", (ROOT / "Makefile").read_text())
    return {*found}


def needed(requirements: list[str]) -> set[str]:
    """The packages that pip installs for these, with what they need themselves."""
    found, wanted = set(), [*map(Requirement, requirements)]
    while wanted:
        one = wanted.pop()
        name = one.name.lower().replace("_", "-")
        if name in found or (one.marker and not one.marker.evaluate({"extra": ""})):
            continue
        found.add(name)
        with suppress(PackageNotFoundError):
            wanted += map(Requirement, requires(one.name) or [])
    return found


def test_what_is_imported_is_installed_and_pinned():
    """By pyproject.toml: an environment that has more would hide what it lacks."""
    project = tomllib.loads(PYPROJECT)["project"]
    extras = project["optional-dependencies"]
    listed = [*project["dependencies"], *sum(extras.values(), [])]
    installed = needed([x for x in listed if not x.startswith("op-by-op")])
    installed |= {Requirement(x).name for x in listed}  # for another Python, too
    packages = packages_distributions()
    lacking = {
        module: packages[module]
        for module in modules() & packages.keys()
        if not {x.lower().replace("_", "-") for x in packages[module]} & installed
    }
    assert not lacking
    scripts = re.findall(r"\(scripts\)/([\w-]+)", (ROOT / "Makefile").read_text())
    assert all({name, f"{name}-py"} & installed for name in scripts), scripts
    pinned = (ROOT / "constraints.txt").read_text().lower().replace("_", "-")
    for one in map(Requirement, listed):
        for version in re.findall(rf"^{one.name.lower()}==([^\s;]+)", pinned, re.M):
            assert one.specifier.contains(version), f"{one}, and {version} is pinned"
    assert {x for x in needed(extras["dev"]) if f"\n{x}==" not in pinned} == {
        "op-by-op",
    }


def test_cmake_supports_the_tensorflow_that_pyproject_installs():
    find = (ROOT / "cmake" / "FindTensorFlow.cmake").read_text()
    (from_,) = re.findall(r"TensorFlow_SUPPORTED_FROM ([\d.]+)", find)[:1]
    (below,) = re.findall(r"TensorFlow_SUPPORTED_BELOW ([\d.]+)", find)[:1]
    ranges = re.findall(r'"tensorflow[\w\[\]-]*>=([\d.]+),<([\d.]+)', PYPROJECT)
    assert set(ranges) == {(from_, below)}
    pinned = re.findall(
        r"^tensorflow(?:-cpu)?==([\d.]+)", (ROOT / "constraints.txt").read_text(), re.M
    )
    assert pinned
    newest = f"2.{int(below.split('.')[1]) - 1}."
    assert all(version.startswith(newest) for version in pinned)
