"""What docs/support/start.py gives to the cells."""

import os
import subprocess
import sys

import pytest
from book import DOCS


@pytest.mark.parametrize("own", [None, "1"])
def test_cells_see_no_gpu_unless_they_ask(own):
    """Each twice: who runs a cell again still gets the machine's own setting back."""
    code = f"""
import os
%run "{DOCS}/support/start.py"
%run "{DOCS}/support/start.py"
print(os.environ["CUDA_VISIBLE_DEVICES"])
see_gpus()
see_gpus()
print(os.environ.get("CUDA_VISIBLE_DEVICES"))
"""
    environment = {k: v for k, v in os.environ.items() if k != "CUDA_VISIBLE_DEVICES"}
    if own:
        environment["CUDA_VISIBLE_DEVICES"] = own
    run = subprocess.run(
        [sys.executable, "-m", "IPython", "--no-banner", "-c", code],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert run.stdout.split() == ["-1", str(own)], run.stderr
