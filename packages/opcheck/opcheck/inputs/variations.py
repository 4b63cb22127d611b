"""Further calls from a generated one: cheap, and the same ones in every process."""

import functools
import zlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

import numpy as np

from opcheck.inputs.samples import flattened, packed


def variations(
    inputs: Sequence, count: int, extremes: bool = False
) -> Iterator[tuple[list, bool]]:
    """The call itself, then others with its elements in other places and in other shapes.

    They hold no element that the inputs do not hold, unless extremes are asked for, and they follow
    from the inputs alone: so two processes agree on them, and Hypothesis can repeat them.

    Args:
      inputs: Arrays and lists of arrays.
      count: How many to derive.
      extremes: Whether some inputs stay as they are and some get values at which kernels go wrong.

    Yields:
      The inputs of a call, and whether shapes are those of the generated one.
    """
    yield list(inputs), True
    flat = flattened(inputs)
    if not flat:
        return
    seed = zlib.crc32(b"".join(_bytes(x) for x in flat))
    random = np.random.default_rng(seed)
    for number in range(count):
        changed = list(flat)
        if number % 2 == 0:
            vary = _disturbed if extremes else _resampled
            changed = [vary(x, random) for x in changed]
        else:
            chosen = int(random.integers(len(changed)))
            changed[chosen] = _reshaped(changed[chosen], random)
        yield packed(inputs, changed), number % 2 == 0


def attrs_of(number: int, attrs: Mapping, others: Sequence[Mapping]) -> Mapping:
    """The attrs of a variation: every third has others than the generated call."""
    if number % 3 != 2 or not others:
        return attrs
    return others[number // 3 % len(others)]


def calls_of(
    inputs: Sequence, attrs: Mapping, others: Sequence, more: Sequence, count: int
) -> Iterator[tuple[list, Mapping, bool]]:
    """A generated call, further ones, and what is derived from each of them in turn.

    Args:
      inputs: Of the generated call.
      attrs: Of the generated call.
      others: Attrs that some of the derived calls have instead.
      more: Further generated calls, as pairs of inputs and attrs.
      count: How many calls there are beside the first.

    Yields:
      Inputs, attrs, and whether shapes are those of a generated call.
    """
    generated = [(list(inputs), attrs), *more][: count + 1]
    for some, its_attrs in generated:
        yield list(some), its_attrs, True
    rest = count + 1 - len(generated)
    each = -(-rest // len(generated))
    derived = [islice(variations(some, each), 1, None) for some, _ in generated]
    for number in range(rest):
        source = number % len(generated)
        varied, same = next(derived[source], (None, False))
        if varied is not None:
            its_attrs = generated[source][1]
            yield varied, attrs_of(number, its_attrs, others), same


def _bytes(array: np.ndarray) -> bytes:
    content = (
        repr(array.tolist()).encode() if array.dtype == object else array.tobytes()
    )
    return repr(array.shape).encode() + content


def _resampled(array: np.ndarray, random: np.random.Generator) -> np.ndarray:
    flat = array.reshape(-1)
    picked = random.integers(flat.size, size=flat.size) if flat.size else []
    return flat[np.asarray(picked, int)].reshape(array.shape)


def _disturbed(array: np.ndarray, random: np.random.Generator) -> np.ndarray:
    if random.random() < 0.5:
        return array
    flat = _resampled(array, random).reshape(-1)
    if flat.dtype == object:
        for i in np.flatnonzero(random.random(flat.size) < 0.3):
            end = int(random.integers(len(flat[i]) + 1))
            flat[i] = flat[i][:end] + random.bytes(int(random.integers(40)))
    elif flat.dtype != bool and random.random() < 0.4:
        chosen = random.random(flat.size) < random.choice([0.1, 0.5, 1.0])
        flat[chosen] = random.choice(_extremes(flat.dtype), chosen.sum())
    return flat.reshape(array.shape)


@functools.cache
def _extremes(dtype: np.dtype) -> np.ndarray:
    if np.issubdtype(dtype, np.integer):
        limits = np.iinfo(dtype)
        numbers = [0, 1, 2, 3, 7, 100, limits.max, limits.max - 1, limits.min]
        return np.array(numbers + [-1] * (limits.min < 0), dtype)
    numbers = [0, -0.0, 1, -1, 0.5, 2.5, 1e-30, 1e5, -1e38, 1e300]
    with np.errstate(over="ignore"):
        return np.array([*numbers, np.nan, np.inf, -np.inf]).astype(dtype)


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
