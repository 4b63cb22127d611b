"""The items of an IDX file, read by NumPy without the op."""

import math

import numpy as np

SIZES = {8: 1, 9: 1, 11: 2, 12: 4, 13: 4, 14: 8}


def idx_reference(content: bytes) -> list[bytes]:
    """The bytes of each item in the bytes of a file; raises ValueError unless it is an IDX file."""
    if content[:2] != b"\0\0" or not 0 < content[3] < 128 or content[2] not in SIZES:
        raise ValueError("another format")
    shape = np.frombuffer(content, ">u4", content[3], 4).tolist()
    length, end = SIZES[content[2]] * math.prod(shape[1:]), 4 + 4 * content[3]
    if not length or len(content) - end != shape[0] * length:
        raise ValueError("another length than the header's")
    return [content[at : at + length] for at in range(end, len(content), length)]
