"""What the tests share: the broken ops, and settings that count before TensorFlow is imported."""

import importlib
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ["CUDA_VISIBLE_DEVICES"] = os.environ.get("GPUS_OF_TESTS", "-1")


@pytest.fixture(scope="session")
def broken_ops() -> ModuleType:
    """The module of the broken ops, built first where that is not done."""
    sys.path.insert(0, str(Path(__file__).with_name("broken_ops")))
    importlib.import_module("build_broken_ops").build()
    return importlib.import_module("broken_ops")
