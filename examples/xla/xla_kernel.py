"""Loads the kernel of ExponentialAverage for XLA: import it before the program makes its first tensor."""

from pathlib import Path

import tensorflow as tf
import xla  # noqa: F401  the op first

_PATH = Path(__file__).with_name("libxla_kernel.so")
if not _PATH.exists():
    raise ImportError(
        f"{_PATH.name} is not there: `make xla` builds it, or says which headers it lacks"
    )
tf.load_library(str(_PATH))
