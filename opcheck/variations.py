"""Further calls from a generated one: cheap, and the same ones in every process."""

import zlib
from collections.abc import Iterator, Sequence

import numpy as np


def variations(inputs: Sequence, count: int) -> Iterator[tuple[list, bool]]:
    """The call itself, then others with its elements in other places and in other shapes.

    They hold no element that the inputs do not hold, and they follow from the inputs alone: so
    two processes agree on them, and Hypothesis can repeat them.

    Args:
      inputs: Arrays and lists of arrays.
      count: How many to derive.

    Yields:
      The inputs of a call, and whether shapes are those of the generated one.
    """
    yield list(inputs), True
    flat = [x for some in inputs for x in (some if isinstance(some, list) else [some])]
    if not flat:
        return
    seed = zlib.crc32(b"".join(_bytes(x) for x in flat))
    random = np.random.default_rng(seed)
    for number in range(count):
        changed = list(flat)
        if number % 2 == 0:
            changed = [_resampled(x, random) for x in changed]
        else:
            chosen = int(random.integers(len(changed)))
            changed[chosen] = _reshaped(changed[chosen], random)
        rest = iter(changed)
        packed = [
            [next(rest) for _ in some] if isinstance(some, list) else next(rest)
            for some in inputs
        ]
        yield packed, number % 2 == 0


def _bytes(array: np.ndarray) -> bytes:
    content = (
        repr(array.tolist()).encode() if array.dtype == object else array.tobytes()
    )
    return repr(array.shape).encode() + content


def _resampled(array: np.ndarray, random: np.random.Generator) -> np.ndarray:
    flat = array.reshape(-1)
    picked = random.integers(flat.size, size=flat.size) if flat.size else []
    return flat[np.asarray(picked, int)].reshape(array.shape)


def _reshaped(array: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """One row less, one row more, one dimension less or one more."""
    way = int(random.integers(4))
    if way == 0 or not array.ndim:
        return array[np.newaxis]
    axis = int(random.integers(array.ndim))
    if way == 1 and array.shape[axis]:
        return np.take(array, range(1, array.shape[axis]), axis)
    if way == 2 and array.shape[axis]:
        return np.concatenate([array, np.take(array, [0], axis)], axis)
    if array.shape[axis]:
        return np.take(array, [0], axis).reshape(np.delete(array.shape, axis))
    return array[np.newaxis]
