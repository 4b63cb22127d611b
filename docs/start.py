"""The first cell of every chapter runs this: work in the root of the book, find the examples, keep the log quiet."""

import os
import sys
import sysconfig
from pathlib import Path

root = Path(__file__).resolve().parents[1]
folders = [
    str(root / "docs"),
    str(root / "examples"),
    *(str(p.parent) for p in root.glob("examples/*/CMakeLists.txt")),
    str(root),  # where opcheck is
]

os.chdir(root)
sys.path[:0] = folders
os.environ |= {
    "PATH": os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]]),
    "VIRTUAL_ENV": sys.prefix,
    "PYTHONPATH": os.pathsep.join(folders),
    "TF_CPP_MIN_LOG_LEVEL": "2",
    "TF_ENABLE_ONEDNN_OPTS": "0",
    "NO_COLOR": "1",
}
