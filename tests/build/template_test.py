"""The template: its projects build, pass their tests and make wheels, and what is wrong is refused in one line."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest
import template
from template import ROOT, SETTINGS, project

VARIANTS = {
    "plain": {"name": "soft_square"},
    "cuda": {"name": "my_norm2", "inputs": "x,weights", "cuda": True},
    "stable": {"name": "row_energy", "inputs": "x,bias", "stable": True},
}
MINOR = "{}.{}".format(*__import__("tensorflow").__version__.split("."))


def in_environment(*command, **options) -> subprocess.CompletedProcess:
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "TF_CPP_MIN_LOG_LEVEL": "2"}
    environment.pop("PYTHONPATH", None)
    environment["CUDAARCHS"] = "75"
    environment["SKBUILD_BUILD_DIR"] = "build"  # what is installed and its wheel share
    if shutil.which("ccache"):
        environment["CMAKE_CXX_COMPILER_LAUNCHER"] = "ccache"
    return subprocess.run(
        [*map(str, command)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
        **options,
    )


def run(*command, **options) -> str:
    done = in_environment(*command, **options)
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="session")
def source(tmp_path_factory) -> Path:
    """What copier reads of the repository, as it is here."""
    return template.source(tmp_path_factory.mktemp("source"))


def copied(
    source: Path, folder: Path, **answers: object
) -> subprocess.CompletedProcess:
    data = [f"--data={name}={value}" for name, value in answers.items()]
    copier = [sys.executable, "-m", "copier", "copy", "--defaults", "--quiet"]
    return in_environment(*copier, *data, source, folder)


def environment(folder: Path) -> Path:
    """The Python of an environment that borrows the packages of this one, and opcheck."""
    venv.create(folder)
    packages = sysconfig.get_path("purelib")
    borrowed = folder / Path(packages).relative_to(sys.prefix) / "borrowed.pth"
    borrowed.write_text(f"{packages}\n{ROOT / 'packages' / 'opcheck'}\n")
    return folder / "bin" / "python"


@pytest.mark.slow
@pytest.mark.parametrize("answers", VARIANTS.values(), ids=VARIANTS)
def test_a_project_builds_and_passes_its_tests_and_so_does_its_wheel(
    source, tmp_path, answers
):
    name = answers["name"]
    folder = tmp_path / "project"
    written = copied(source, folder, **answers, tensorflow=MINOR)
    assert written.returncode == 0, written.stdout

    # The two commands of the README, but for what the environment has.
    python = environment(tmp_path / "environment")
    pip = [sys.executable, "-m", "pip", "--python", python]
    offline = ["--no-deps", "--no-index", "--quiet"]
    run(*pip, "install", "--no-build-isolation", *offline, "-e", ".", cwd=folder)
    assert (folder / name / f"lib{name}.so").exists()
    tests = run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=folder)
    assert " passed" in tests

    wheel = [sys.executable, "-m", "pip", "wheel", "--no-build-isolation", *offline]
    run(*wheel, "-w", "dist", ".", cwd=folder)
    if sys.platform == "linux":
        repair = ["repair", "--exclude", "libtensorflow_framework.so.2"]
        run("auditwheel", *repair, *folder.glob("dist/*.whl"), cwd=folder)
    [wheel] = [*folder.glob("wheelhouse/*.whl")] or [*folder.glob("dist/*.whl")]
    python = environment(tmp_path / "colleague")
    pip = [sys.executable, "-m", "pip", "--python", python]
    run(*pip, "install", *offline, wheel)
    inputs = ", ".join(["[3.0]"] * len(answers.get("inputs", "x").split(",")))
    code = f"import {name}; print({name}.__file__, {name}.{name}({inputs}).numpy())"
    printed = run(python, "-c", code, cwd=tmp_path).splitlines()[-1]
    assert printed.startswith(str(tmp_path / "colleague"))
    assert printed.endswith("[18.]" if "inputs" in answers else "[9.]")


@pytest.mark.slow
@pytest.mark.parametrize(
    "answers, sentence",
    [
        ({"name": "SoftSquare"}, "name: a name is like soft_threshold"),
        ({"name": "my-op"}, "name: a name is like soft_threshold"),
        ({"name": "lambda"}, "name: a name is like soft_threshold"),
        ({"name": "top_k_n"}, "choose a longer word for its word of one letter"),
        ({"name": "norm2_x"}, "choose a longer word for its word of one letter"),
        ({"name": "tests"}, "name: tests has another meaning in the project"),
        ({"inputs": "x,x"}, "inputs: inputs are like x,weights"),
        ({"inputs": "x y"}, "inputs: inputs are like x,weights"),
        ({"inputs": "x:int33"}, "inputs: inputs are like x,weights"),
        ({"inputs": ""}, "inputs: inputs are like x,weights"),
        ({"inputs": "x,grad"}, "inputs: grad has another meaning in the code"),
        ({"inputs": "x,float"}, "inputs: float has another meaning in the code"),
        ({"name": "norm", "inputs": "norm"}, "inputs: norm has another meaning"),
        ({"tensorflow": "3"}, "tensorflow: a version of TensorFlow is like 2.21"),
        ({"cuda": "perhaps"}, "cuda: yes or no, not perhaps"),
        ({"cuda": True, "stable": True}, "has no kernels for NVIDIA's GPUs"),
        ({"kind": "stable"}, "kind: there is no such question"),
    ],
)
def test_an_answer_that_will_not_do_is_refused(source, tmp_path, answers, sentence):
    """In one line, and nothing is made; who is asked for an answer sees the sentence alone, and is asked again."""
    folder = tmp_path / "project"
    folder.mkdir()
    refused = copied(source, folder, **answers)
    assert refused.returncode == 1
    [line] = refused.stdout.splitlines()
    assert sentence in line
    assert [*tmp_path.rglob("*")] == [folder]


def test_other_answers_are_not_refused(source, tmp_path):
    answers = {"name": "top_k_rows2", "inputs": "values, weights_2", "stable": "Yes"}
    made = copied(source, tmp_path / "project", **answers)
    assert made.returncode == 0, made.stdout


def test_the_project_of_the_chapter_is_the_template_s():
    """But for what is its op."""
    own = ("cum_max/", "tests/", "README.md")
    files = project(name="cum_max")
    chapter = ROOT / "examples" / "packaging"
    for path, text in files.items():
        if not path.startswith(own):
            assert (chapter / path).read_text() == text, path
    start = "def cum_max("
    ours = (chapter / "cum_max" / "__init__.py").read_text().partition(start)[0]
    assert "".join(ours.split()) == "".join(
        files["cum_max/__init__.py"].partition(start)[0].split()
    )


def test_the_readme_of_my_op_renames_it(tmp_path):
    for path, text in project(name="my_op").items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    readme = (tmp_path / "README.md").read_text()
    commands = re.search(r"of your own.*?```sh\n(.*?)```", readme, re.S)[1]
    run("bash", "-ec", commands, cwd=tmp_path)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    renamed = {str(path.relative_to(tmp_path)): path.read_text() for path in files}
    expected = project(name="soft_clip")
    del renamed["README.md"], expected["README.md"]
    # Where lines break depends on the length of the name.
    words = [
        {path: text.split() for path, text in files.items()}
        for files in (renamed, expected)
    ]
    assert words[0] == words[1]


@pytest.mark.slow
def test_the_op_of_the_first_chapter_becomes_a_wheel(source, tmp_path):
    """By the commands of the chapter on wheels, but for what the environment has."""
    own = tmp_path / "build" / "my_op"
    own.mkdir(parents=True)
    for file in (".cc", ".py", "_reference.py", "_test.py"):
        text = (ROOT / "examples" / "zero_out" / f"zero_out{file}").read_text()
        text = text.replace("ZeroOut", "MyOp").replace("zero_out", "my_op")
        (own / f"my_op{file}").write_text(text)
    page = (ROOT / "docs" / "packaging.md").read_text()
    commands = re.search(r"## Your turn.*?```sh\n(.*?)\n\n", page, re.S)[1]
    commands = commands.replace("gh:op-by-op/op-by-op", str(source))
    commands = commands.replace("--data", f"--data tensorflow={MINOR} --data", 1)
    programs = f'copier() {{ {sys.executable} -m copier "$@"; }}\n'
    run("bash", "-ec", programs + commands.replace("test wheel", "wheel"), cwd=tmp_path)

    folder = tmp_path / "my_project"
    python = environment(tmp_path / "fresh")
    pip = [sys.executable, "-m", "pip", "--python", python]
    options = ["--no-deps", "--no-index", "--quiet"]
    run(*pip, "install", *options, *folder.glob("wheelhouse/*.whl"))
    tested = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    assert " passed" in run(*tested, cwd=folder / "tests")


def test_the_newest_tensorflow_is_the_default():
    constraints = (ROOT / "constraints.txt").read_text()
    assert f"\ntensorflow=={SETTINGS['tensorflow']['default']}." in constraints
