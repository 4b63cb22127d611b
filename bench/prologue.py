"""What a bench imports before TensorFlow: it comes with its default settings, and finds the modules of the examples."""

import multiprocessing
import os
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ["CUDA_VISIBLE_DEVICES"] = ""
if multiprocessing.current_process().name == "MainProcess":  # others have a setting
    os.environ.pop("TF_ENABLE_ONEDNN_OPTS", None)
# Before the benches, which are named like their examples.
examples = [path.parent for path in ROOT.glob("examples/*/CMakeLists.txt")]
sys.path[:0] = [str(path) for path in (ROOT / "examples" / "common", *examples)]
