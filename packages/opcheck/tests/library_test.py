"""`python -m opcheck lib.so`, the plugin of pytest and the GitHub Action."""

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import forked
import numpy as np
import pytest
import yaml

from opcheck.command import main
from opcheck.findings import source
from opcheck.locations import LibraryOp

PACKAGE = Path(__file__).parents[1]


@pytest.mark.slow
def test_the_command_checks_the_ops_of_a_library(broken_ops):
    library = broken_ops.BUILD / "libaround.so"
    ops = "NextSum,BrokenNextSumOpenFile"
    run = subprocess.run(
        [sys.executable, "-m", "opcheck", library, "--ops", ops, "--checks", "leaks"],
        capture_output=True,
        text=True,
        cwd=PACKAGE,
    )
    assert run.returncode == 1, run.stderr
    assert re.match(rf"{re.escape(str(library))}: 24 ops: ", run.stdout)
    assert "next_sum: 1 passed, 0 failed" in run.stdout
    assert "1 more after each call" in run.stdout
    assert run.stdout.endswith("\n1 of 2 ops with failures\n")
    line = re.search("  reproduce (.*)", run.stdout)[1]
    again = forked.run(line)
    assert "1 more after each call" in again.stdout, again.stderr


@pytest.mark.slow
def test_an_op_on_a_variable_gets_one(broken_ops, capfd):
    library = broken_ops.BUILD / "libaround.so"
    ops = "AddToVariable,BrokenAddToVariableInPlace"
    assert main([str(library), "--ops", ops, "--checks", "immutability,bad_input"])
    told = capfd.readouterr().out
    assert "\nadd_to_variable: 2 passed, 0 failed" in told
    assert "immutability: tensors of an eager call" in told
    line = re.search("  reproduce (.*)", told)[1]
    assert "expected input 0: " in forked.run(line).stdout
    op = LibraryOp(str(library), "add_to_variable")
    line = source.line(op.location, op, [np.float32([1, 2]), np.float32(3)], {})
    assert "[4., 5.]" in forked.run(line).stdout


def test_if_no_op_can_be_called_the_command_fails(broken_ops, capfd):
    library = str(broken_ops.BUILD / "libinputs.so")
    ops = ["--checks", "immutability", "--ops"]
    assert main([library, *ops, "BrokenBoxedUnchecked"]) == 1
    out, err = capfd.readouterr()
    assert "BrokenBoxedUnchecked: left out, " in out
    assert err.endswith(f"opcheck: {library}: no op was checked\n")
    assert main([library, *ops, "BrokenBoxedUnchecked,Box"]) == 0
    assert capfd.readouterr().out.endswith("\n0 of 2 ops with failures, 1 left out\n")


def test_a_library_without_ops_is_told(tmp_path, capsys):
    (tmp_path / "empty.c").write_text("int nothing;")
    library = tmp_path / "empty.so"
    subprocess.run(["cc", "-shared", "-o", library, tmp_path / "empty.c"], check=True)
    assert main([str(library)]) == 1
    assert capsys.readouterr().err == f"opcheck: {library}: it registers no op\n"


TEST = """
from opcheck.testing import op_test
from python_ops import counts_calls, hour_of
test_it = op_test(counts_calls, [1.0], checks=["leaks", "determinism"])
test_of_a_note = op_test(hour_of, [3600.0], local=False, checks=["xla"])
"""


@pytest.mark.slow
def test_the_plugin_marks_the_tests_and_collects_the_reports(tmp_path):
    (tmp_path / "it_test.py").write_text(TEST)
    (tmp_path / "pytest.ini").write_text("[pytest]\nopcheck_no_notes = xla")
    command = [sys.executable, "-m", "pytest", "-p", "opcheck.plugin", "-m", "opcheck"]
    options = ["--opcheck-html=reports", "--junitxml=junit.xml", "-q", "it_test.py"]
    path = ":".join([str(PACKAGE), str(Path(__file__).parent)])
    run = subprocess.run(
        [*command, *options],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={
            "PYTHONPATH": path,
            "PATH": "",
            "HOME": str(tmp_path),
            # Where opcheck is installed, pytest would load it a second time.
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        },
    )
    assert "2 failed, 1 passed" in run.stdout, run.stdout + run.stderr
    assert "determinism" in (tmp_path / "reports/it_test.test_it.html").read_text()
    assert "opcheck reproduce" in (tmp_path / "junit.xml").read_text()


def test_the_action_is_given_all_its_inputs():
    action = yaml.safe_load((PACKAGE / "action.yml").read_text())
    (step,) = action["runs"]["steps"]
    names = {f"${{{{ inputs.{name} }}}}" for name in action["inputs"]}
    assert names == set(step["env"].values())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("op", "told"), [("NextSum", "0"), ("BrokenNextSumOpenFile", "1")]
)
def test_the_action_checks_a_library(broken_ops, tmp_path, op, told):
    """Its steps as they are written, in GitHub's shell, with a new environment for pip."""
    action = yaml.safe_load((PACKAGE / "action.yml").read_text())
    given = {name: one.get("default") for name, one in action["inputs"].items()}
    given |= {"library": str(broken_ops.BUILD / "libaround.so"), "ops": op}
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    (site,) = (tmp_path / "env").glob("lib/python*/site-packages")
    (site / "here.pth").write_text(sysconfig.get_path("purelib"))  # TensorFlow's
    path = f"{tmp_path}/env/bin:{os.environ['PATH']}"
    own = {"PATH": path, "GITHUB_ACTION_PATH": str(PACKAGE), "PYTHONPATH": ""}
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "hatchling"]
    if subprocess.run([*pip, "-d", tmp_path], capture_output=True).returncode:
        pytest.skip("no index has hatchling, with which pip builds the package")
    for step in action["runs"]["steps"]:
        assert step["shell"] == "bash"
        env = dict(step["env"])
        for name, value in given.items():
            env = {
                k: v.replace(f"${{{{ inputs.{name} }}}}", value) for k, v in env.items()
            }
        run = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, **own, **env},
        )
    assert (site / "opcheck" / "errors.toml").exists(), run.stderr
    assert run.stdout.endswith(f"\n{told} of 1 ops with failures\n"), run.stderr
    assert run.returncode == int(told)
