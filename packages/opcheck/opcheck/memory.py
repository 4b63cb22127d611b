"""Make memory that a kernel forgets to write visible."""

import contextlib
import ctypes
from collections.abc import Iterator

# As floats: 1.5e16, -3e-16, NaN, 1.4e-45 or so, -1.7e38.
FILLINGS = (0x5A, 0xA5, 0x7F, 0x01, 0xFE)
_M_PERTURB = -6  # of glibc's malloc.h


@contextlib.contextmanager
def filled_memory(byte: int) -> Iterator[None]:
    """Lets newly allocated memory hold a byte, instead of what happened to be there.

    Works with the GNU C library; elsewhere, and under a sanitizer, it does nothing.

    Call the op twice inside, and look at the second call: malloc's cache of a thread hands chunks out
    as they were freed, with the complement of the byte if that was inside too.

    Args:
      byte: 0 to 254.
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
