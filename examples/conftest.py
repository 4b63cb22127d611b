"""What the examples' tests share. pytest puts this folder on the path, and with it op_library."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import pytest  # noqa: E402
import tensorflow as tf  # noqa: E402


@pytest.fixture(params=["eager", "tf.function"])
def mode(request: pytest.FixtureRequest) -> Callable:
    """Wraps a function so that it runs eagerly, or traced: each test that takes it runs twice."""
    return (
        tf.function(autograph=False)
        if request.param == "tf.function"
        else lambda function: function
    )


@pytest.fixture(scope="session")
def cpp_gradient() -> Callable:
    """How gradients in C++ are asked for, from the chapter on them."""
    sys.path.append(str(Path(__file__).with_name("cc_gradients")))
    reason = "needs `make cc_gradients`"
    module = pytest.importorskip("cc_gradients", reason=reason, exc_type=ImportError)
    return module.cpp_gradient
