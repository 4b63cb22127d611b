"""The ops in NumPy, at most ten lines each."""

import numpy as np


def sketch_hashes_reference(hashes, precision=12):
    """The registers: the longest run of zeros in the rest of a hash, and one more."""
    registers = np.zeros(2**precision, np.uint8)
    for hash_ in hashes.flat:
        bits = f"{hash_:064b}"
        place, rest = int(bits[:precision], 2), f"{bits[precision:]}1"
        registers[place] = max(registers[place], rest.index("1") + 1)
    return registers


def count_sketch_reference(registers):
    """The estimate of Ertl, https://arxiv.org/abs/1702.01284, section 4, without full registers."""
    size, empty = len(registers), np.mean(registers == 0)
    if empty == 1:
        return np.float64(0)
    powers = empty ** (2.0 ** np.arange(64))
    of_empty = empty + np.sum(powers[1:] * 2.0 ** np.arange(63))
    of_others = np.sum(0.5 ** registers[registers > 0])
    return size**2 / (2 * np.log(2) * (of_others + size * of_empty))


def count_hashes_reference(hashes, precision=12):
    """About how many different hashes there are."""
    if not 4 <= precision <= 16:
        raise ValueError(f"precision must be from 4 to 16, got {precision}")
    return count_sketch_reference(sketch_hashes_reference(hashes, precision))
