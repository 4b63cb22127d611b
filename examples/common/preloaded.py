"""What the forks of the tests' server have imported: TensorFlow, and no library of ops."""

from opcheck.processes.frozen import frozen

with frozen():
    import hypothesis.extra.numpy  # noqa: F401
    import pytest  # noqa: F401
    import tensorflow  # noqa: F401

    import opcheck.fuzzing  # noqa: F401
