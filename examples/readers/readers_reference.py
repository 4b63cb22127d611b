"""The items of an IDX file, read by NumPy without the op."""

import math

import numpy as np

SIZES = {8: 1, 9: 1, 11: 2, 12: 4, 13: 4, 14: 8}  # of a number of each type


def idx_reference(content: bytes) -> list[bytes]:
    """The bytes of each item in the bytes of a file."""
    zeros, (kind, rank) = content[:2], content[2:4]
    if zeros != b"\0\0" or kind not in SIZES or not 0 < rank < 128:
        raise ValueError("not an IDX file")
    count, *sizes = np.frombuffer(content, ">u4", rank, offset=4).tolist()
    begin, length = 4 + 4 * rank, SIZES[kind] * math.prod(sizes)
    if not length or len(content) != begin + count * length:
        raise ValueError("the file's length differs from what its header says")
    return [content[at : at + length] for at in range(begin, len(content), length)]
