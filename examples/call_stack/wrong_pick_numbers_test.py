"""The program that crashes, in a debugger: `pytest examples/call_stack`."""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest
import tensorflow as tf
from call_stack_test import NAMED
from debugger import core_of, gdb

HERE = Path(__file__).parent
PROGRAM = HERE / "wrong_pick_numbers.py"

pytestmark = pytest.mark.skipif(
    not shutil.which("gdb"), reason="gdb is not installed: sudo apt-get install gdb"
)


@pytest.mark.slow
def test_gdb_stops_in_the_kernel(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    shown = gdb(HERE / "stop.gdb", "--args", sys.executable, PROGRAM)
    if re.search("ptrace|Operation not permitted|extended state status", shown):
        pytest.skip("no process may be traced here, or its registers not be set")
    frames = re.findall(r"^#\d+ +(.*)", shown, re.M)
    assert re.search("PickNumbersOp::Compute .*wrong_pick_numbers.cc:", shown), shown
    if NAMED:
        assert any("ThreadPoolDevice::Compute" in frame for frame in frames)
    if int(tf.__version__.split(".")[1]) >= 21:  # which names its threads
        assert re.search('Thread .*"tf_Compute"', shown)
    assert "values: 2 2000000000" in shown and "{5, 4, 3}" in shown
    if NAMED:
        assert "Notification::WaitForNotification" in shown


@pytest.mark.slow
def test_a_core_dump_has_the_line_and_the_index(tmp_path):
    core = core_of(PROGRAM, tmp_path)
    if not core:
        pytest.skip("core dumps are kept elsewhere, or nowhere")
    shown = gdb(HERE / "core.gdb", sys.executable, core)
    assert re.search(r"#0 .*PickNumbersOp::Compute .*wrong_pick_numbers.cc:", shown), (
        shown
    )
    assert "= 1" in shown and "= 2000000000" in shown
