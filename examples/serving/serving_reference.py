"""The op in NumPy."""

import numpy as np


def byte_ngrams_reference(texts, n=3, buckets=64):
    """Counts of all runs of n bytes, by their hash FNV-1a."""
    texts = np.asarray(texts)
    counts = np.zeros([texts.size, buckets], np.float32)
    for row, text in enumerate(texts.ravel()):
        for begin in range(len(text) - n + 1):
            hashed = 0xCBF29CE484222325
            for byte in text[begin : begin + n]:
                hashed = (hashed ^ byte) * 0x100000001B3 % 2**64
            counts[row, hashed % buckets] += 1
    return counts.reshape(*texts.shape, buckets)
