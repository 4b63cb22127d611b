"""The first chapter's "Your own folder", for an op with two inputs. The page itself makes the folder for one."""

import os
import subprocess
import sys
import sysconfig

import pytest
from book import DOCS
from page_source import Page


@pytest.mark.slow
def test_the_op_with_two_inputs_is_built_and_tested_there(tmp_path):
    [cell] = [x for x in Page(DOCS / "zero_out.md").cells if "END" in x.text]
    script = (
        cell.text.removeprefix("%%bash -e\n")
        .replace("zero_out", "zero_small")
        .replace("ZeroOut", "ZeroSmall")
        .replace("$book/zero_small", "$book/zero_out")
        .replace("../../examples", str(DOCS.parent / "examples"))
        .replace("my_op([5, 4, 3])", "my_op([5, 4, 3], 4.5)")
    )
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "TF_CPP_MIN_LOG_LEVEL": "2"}
    options = {"cwd": tmp_path, "env": environment, "text": True}
    printed = subprocess.check_output(["bash", "-ec", script], **options)
    assert printed.split()[-3:] == ["[5.", "0.", "0.]"]
    options["cwd"] = tmp_path / "build/my_op"
    tests = [sys.executable, "-m", "pytest", "-q", "my_op_test.py"]
    run = subprocess.run(tests, capture_output=True, **options)
    assert run.returncode == 0, run.stdout
