"""Make memory that a kernel forgets to write visible."""

import contextlib
import ctypes
from collections.abc import Iterator

_M_PERTURB = -6  # of glibc's malloc.h


@contextlib.contextmanager
def filled_memory(byte: int) -> Iterator[None]:
    """Lets newly allocated memory hold a byte, instead of what happened to be there.

    Works with the GNU C library; elsewhere, and under a sanitizer, it does nothing.

    Args:
      byte: 1 to 255.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        yield
        return
    mallopt(_M_PERTURB, byte ^ 0xFF)  # malloc fills with the complement
    try:
        yield
    finally:
        mallopt(_M_PERTURB, 0)
