"""The rows of a .npy file, read by NumPy without the op."""

import re

import numpy as np


def npy_reference(content: bytes, descr: str, row_shape: tuple[int, ...]) -> np.ndarray:
    """The rows in the bytes of a file of version 1, as an array."""
    length = int.from_bytes(content[8:10], "little")
    sizes = ", ".join([r"(\d+)", *map(str, row_shape)]) + "," * (not row_shape)
    order = rf"\{{'descr': '{re.escape(descr)}', 'fortran_order': False, "
    header = content[10 : 10 + length].decode("latin1")
    found = re.match(rf"{order}'shape': \({sizes}\)", header)
    if content[:6] != b"\x93NUMPY" or not found:
        raise ValueError("another format, or other rows")
    shape = int(found[1]), *row_shape
    return np.frombuffer(content, descr, np.prod(shape), 10 + length).reshape(shape)
