"""The zip with stable_op.h: what its README says works, in an empty folder, without the book."""

import io
import os
import re
import sysconfig
import zipfile
from pathlib import Path

import pytest
from downloads import stable_header
from running import run


@pytest.fixture
def unpacked(tmp_path: Path) -> Path:
    with zipfile.ZipFile(io.BytesIO(stable_header("https://book/"))) as zipped:
        zipped.extractall(tmp_path)
    return tmp_path / "stable_op"


@pytest.mark.slow
def test_what_the_readme_says_works(unpacked):
    readme = (unpacked / "README.txt").read_text()
    assert "https://book/stable_abi.html" in readme
    script = re.search(r"^  TF=.*?(?=^\S)", readme, re.M | re.S)[0]
    own = f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}"
    done = run("bash", "-ec", script, cwd=unpacked, PATH=own)
    assert done.returncode == 0, done.stderr
    assert "tf.Tensor([3. 0.]" in done.stdout
