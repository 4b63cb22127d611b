"""The command that builds a test in C++, as the page on such tests shows it."""

import os
import re
import shutil
import subprocess
import sysconfig

import pytest
from book import DOCS, ROOT

EXAMPLE = ROOT / "examples/cc_tests"


@pytest.mark.slow
@pytest.mark.skipif(
    not (EXAMPLE / "cc_tests_test").exists(), reason="GoogleTest is not installed"
)
def test_the_command_builds_and_runs_the_tests(tmp_path):
    [command] = re.findall(
        "^```bash\n(.*?)^```", (DOCS / "cc_tests.md").read_text(), re.M | re.S
    )
    for name in ("cc_tests.cc", "cc_tests_test.cc"):
        shutil.copy(EXAMPLE / name, tmp_path)
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    run = subprocess.run(
        ["bash", "-ec", command],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )
    assert "[  PASSED  ]" in run.stdout and run.returncode == 0, run.stderr
