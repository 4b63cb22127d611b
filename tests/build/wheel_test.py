"""The wheel of examples/packaging: what is in it, where it installs, and what it says to another TensorFlow."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest
import running
import tensorflow as tf
import yaml
from template_test import environment, run

try:
    import tomllib
except ImportError:  # before Python 3.11
    import tomli as tomllib

PROJECT = Path(__file__).parents[2] / "examples" / "packaging"
MINOR = ".".join(tf.__version__.split(".")[:2])
EXCLUDED = ["--exclude", "libtensorflow_framework.so.2"]

# One worker makes the wheel.
pytestmark = pytest.mark.xdist_group("wheel")


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """A copy of the project without what was built in it, for the TensorFlow that is here."""
    folder = tmp_path_factory.mktemp("wheel") / "cum_max"
    left_out = shutil.ignore_patterns("build", "*.so", "__pycache__")
    shutil.copytree(PROJECT, folder, ignore=left_out)
    for name in ("pyproject.toml", "requirements.txt"):
        text = (folder / name).read_text()
        (folder / name).write_text(text.replace("2.21", MINOR))
    return folder


@pytest.fixture(scope="module")
def wheel(project) -> Path:
    options = ["--no-deps", "--no-build-isolation", "--quiet"]
    run(sys.executable, "-m", "pip", "wheel", *options, "-w", "dist", ".", cwd=project)
    [wheel] = (project / "dist").glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def repaired(wheel) -> Path:
    if sys.platform != "linux":
        return wheel
    run("auditwheel", "repair", *EXCLUDED, wheel, cwd=wheel.parent)
    [repaired] = (wheel.parent / "wheelhouse").glob("*.whl")
    return repaired


@pytest.fixture(scope="module")
def python(repaired, tmp_path_factory) -> Path:
    """The Python of a fresh environment that borrows the packages of this one, and has the wheel."""
    python = environment(tmp_path_factory.mktemp("fresh"))
    pip = [sys.executable, "-m", "pip", "--python", python]
    run(*pip, "install", "--no-deps", "--no-index", "--quiet", repaired)
    return python


def test_the_wheel_holds_the_library_and_no_sources(wheel):
    with zipfile.ZipFile(wheel) as zipped:
        names = {name for name in zipped.namelist() if "dist-info" not in name}
        about = next(x for x in zipped.namelist() if x.endswith("METADATA"))
        metadata = zipped.read(about).decode()
    assert names == {"cum_max/__init__.py", "cum_max/libcum_max.so"}
    assert f"\nRequires-Dist: tensorflow=={MINOR}.*\n" in metadata
    assert wheel.name.startswith(f"cum_max-{MINOR}.0-py3-none-")


def test_the_library_exports_nothing(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as zipped:
        library = zipped.extract("cum_max/libcum_max.so", tmp_path)
    assert run("nm", "-D", "--defined-only", library) == ""
    needed = run("readelf", "-d", library)
    assert "libtensorflow_framework.so.2" in needed
    assert "RUNPATH" not in needed and "RPATH" not in needed


@pytest.mark.skipif(sys.platform != "linux", reason="auditwheel is for Linux")
def test_auditwheel_names_the_oldest_system_and_adds_no_library(repaired):
    assert re.search(r"-py3-none-manylinux_2_\d+_\w+\.whl$", repaired.name)
    with zipfile.ZipFile(repaired) as zipped:
        assert [x for x in zipped.namelist() if ".so" in x] == ["cum_max/libcum_max.so"]


@pytest.mark.skipif(sys.platform != "linux", reason="auditwheel is for Linux")
def test_auditwheel_wants_the_framework_unless_it_is_excluded(wheel, tmp_path):
    programs = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    repair = [sys.executable, "-m", "auditwheel", "repair", wheel, "-w", tmp_path]
    refused = running.run(*repair, PATH=programs, LD_LIBRARY_PATH="")
    assert refused.returncode
    assert "libtensorflow_framework.so.2" in refused.stderr


def test_a_fresh_environment_imports_the_wheel(python, tmp_path):
    code = "import cum_max; print(cum_max.__file__); print(cum_max.cum_max([1, 3, 2]).numpy())"
    file, value = run(python, "-c", code, cwd=tmp_path).splitlines()[-2:]
    assert value == "[1 3 3]"
    assert file.startswith(str(python.parents[1]))


@pytest.mark.parametrize("version", ["2.4.0", "2.20.0", "2.210.0", "3.21.0"])
def test_another_tensorflow_gets_one_clear_sentence(python, tmp_path, version):
    (tmp_path / "tensorflow.py").write_text(f"__version__ = '{version}'\n")
    if version.startswith(f"{MINOR}."):
        pytest.skip("this is the TensorFlow of the build")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import cum_max"
    run = subprocess.run([python, "-c", code], capture_output=True, text=True)
    other = ".".join(version.split(".")[:2])
    assert run.returncode == 1
    assert run.stderr.splitlines()[-1] == (
        f"ImportError: this cum-max was built for TensorFlow {MINOR}, and TensorFlow is {version}: "
        f"pip install 'tensorflow=={MINOR}.*' or, if one exists, pip install 'cum-max=={other}.*'"
    )


def test_a_library_that_is_not_built_is_named(tmp_path):
    shutil.copytree(
        PROJECT / "cum_max", tmp_path / "cum_max", ignore=lambda *_: ["libcum_max.so"]
    )
    (tmp_path / "tensorflow.py").touch()
    with pytest.raises(AssertionError, match="libcum_max.so is not built: pip install"):
        run(sys.executable, "-c", "import cum_max", cwd=tmp_path)


def test_the_source_distribution_has_what_a_build_needs(project, tmp_path):
    options = ["--no-isolation", "--skip-dependency-check", "--outdir", tmp_path]
    run(sys.executable, "-m", "build", "--sdist", *options, project)
    [sdist] = tmp_path.glob("*.tar.gz")
    with tarfile.open(sdist) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    assert {"CMakeLists.txt", "cum_max/cum_max.cc", "cum_max/__init__.py"} < names
    assert not [name for name in names if name.endswith((".so", ".whl"))]


@pytest.mark.parametrize("minor", ["2.21", "2.22"])
def test_ci_changes_the_version_wherever_it_stands(minor, tmp_path):
    """The command of wheels.yml leaves no other minor version in what a build reads, and no other file."""
    workflow = yaml.safe_load((PROJECT / ".github/workflows/wheels.yml").read_text())
    steps = workflow["jobs"]["wheels"]["steps"]
    [sed] = [x["run"] for x in steps if x.get("run", "").startswith("sed")]
    for name in ("pyproject.toml", "requirements.txt"):
        text = (PROJECT / name).read_text()
        (tmp_path / name).write_text(text.replace("2.21", minor))
    sed = sed.replace("${{ matrix.tensorflow }}", "2.20")
    subprocess.run(sed, shell=True, cwd=tmp_path, check=True)
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text())
    assert project["project"]["version"] == "2.20.0"
    assert project["project"]["dependencies"] == ["tensorflow==2.20.*"]
    assert "tensorflow==2.20.*" in project["build-system"]["requires"]
    assert (
        "tensorflow==2.20.*" in (tmp_path / "requirements.txt").read_text().splitlines()
    )
    for name in ("pyproject.toml", "requirements.txt"):
        assert minor not in (tmp_path / name).read_text()
    assert len([*tmp_path.iterdir()]) == 2


def test_the_workflow_for_others_installs_the_wheel_and_tests_it_alone(tmp_path):
    """With programs in the place of pip and python that write down how they are called."""
    path = PROJECT.parents[1] / ".github" / "workflows" / "test-wheel.yml"
    workflow = yaml.safe_load(path.read_text())
    inputs = workflow[True]["workflow_call"]["inputs"]  # YAML reads `on` as true
    assert {*re.findall(r"inputs\.(\w+)", path.read_text())} == {*inputs}
    for name in ("pip", "python"):
        script = f'echo "{name} $*" >>{tmp_path}/log\n'
        script += 'case "$*" in *my-op==2.20*) exit 1;; esac'
        running.program(tmp_path, name, script)
    (tmp_path / "sources" / "tests").mkdir(parents=True)
    (tmp_path / "sources" / "my_op").mkdir()
    (tmp_path / "runner").mkdir()
    steps = workflow["jobs"]["test"]["steps"]
    for version in ("2.21", "2.20"):
        for script in [step["run"] for step in steps if "run" in step]:
            subprocess.run(
                ["bash", "-e", "-c", script],
                check=True,
                cwd=tmp_path / "sources",
                env={
                    "PATH": f"{tmp_path}:{os.environ['PATH']}",
                    "PACKAGE": "my-op",
                    "TENSORFLOW": version,
                    "TESTS": "tests",
                    "RUNNER_TEMP": str(tmp_path / "runner"),
                },
            )
    log = (tmp_path / "log").read_text().splitlines()
    wheels = [line.split()[-1] for line in log if "--find-links" in line]
    assert wheels == ["my-op==2.21.*", "my-op==2.20.*", "my-op"]
    assert log.count("python -m pytest tests") == 2
    assert not (tmp_path / "runner" / "my_op").exists()
