"""The op in NumPy."""

import numpy as np


def majority_vote_reference(votes):
    """The value with the most votes; of a tie, the first one in the list."""
    votes = np.stack(votes)
    counts = (votes[:, None] == votes).sum(axis=1)
    winner = counts.argmax(axis=0)
    return np.take_along_axis(votes, winner[None], axis=0)[0]
