"""For a process that makes forks: what it imports stays, and no garbage collector looks at it.

While TensorFlow is imported, that would take a fifth of the time. In a fork, it would look at all of TensorFlow's
objects again and again, and copy their pages.
"""

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def frozen() -> Iterator[None]:
    """What is made inside is never collected; afterwards garbage is collected again."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
