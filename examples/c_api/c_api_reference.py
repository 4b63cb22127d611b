"""The op in NumPy."""

import numpy as np


def majority_vote_reference(votes):
    """The value with the most votes; of a tie, the first one in the list."""
    places = np.stack(votes, axis=-1).reshape(-1, len(votes)).tolist()
    winners = [max(values, key=values.count) for values in places]
    return np.array(winners, votes[0].dtype).reshape(votes[0].shape)
