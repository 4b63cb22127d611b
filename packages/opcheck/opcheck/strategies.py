"""Hypothesis strategies for the calls of an op."""

import numpy as np

try:
    from hypothesis import strategies as st
    from hypothesis.extra import numpy as hnp
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "opcheck.fuzz needs Hypothesis: pip install hypothesis, or opcheck with its extra `fuzz`",
        name=error.name,
    ) from None

_FLOATS = ("float16", "float32", "float64")


def calls(*inputs, **attrs) -> st.SearchStrategy:
    """Calls of an op: a strategy for pairs of a list of inputs and a dictionary of attrs.

    Args:
      *inputs: For each input a strategy for arrays, or for lists of arrays; or an array.
      **attrs: For each attr a strategy, or a value.
    """
    positional = [_strategy(value) for value in inputs]
    named = {name: _strategy(value) for name, value in attrs.items()}
    some_attrs = st.fixed_dictionaries(named)
    strategy = st.tuples(st.tuples(*positional).map(list), some_attrs)
    if any(isinstance(value, st.SearchStrategy) for value in attrs.values()):
        strategy.opcheck_attrs = some_attrs  # they do not depend on the inputs
    return strategy


def _strategy(value) -> st.SearchStrategy:
    return value if isinstance(value, st.SearchStrategy) else st.just(value)


def shapes(
    min_rank: int = 0, max_rank: int = 4, max_side: int = 4
) -> st.SearchStrategy:
    """Shapes, as tuples; any dimension may be 0. `st.shared(shapes())` fits several inputs."""
    return hnp.array_shapes(
        min_dims=min_rank, max_dims=max_rank, min_side=0, max_side=max_side
    )


def mostly(usual: st.SearchStrategy, rare: st.SearchStrategy) -> st.SearchStrategy:
    """Nine times out of ten what the op accepts, so that its kernel runs, otherwise what it may have to refuse."""
    return st.integers(0, 9).flatmap(lambda dice: rare if dice == 9 else usual)


def texts(*like: bytes, max_size: int = 20) -> st.SearchStrategy:
    """Strings such as the op expects, random bytes, and what C++ gets wrong.

    These are: no byte, NUL (where C strings end), bytes that are no UTF-8, letters of several bytes, and more
    bytes than a string holds without memory of its own.

    Args:
      *like: Strings of which the op makes something.
      max_size: Of the random ones.
    """
    strange = (b"", b"\0", b"a\0b", b"\xff\xfe", "Ωß".encode(), b"x" * 40)
    some = [st.sampled_from(like)] if like else []
    return st.one_of(*some, st.sampled_from(strange), st.binary(max_size=max_size))


def tensors(dtype="float32", shape=None, elements=None, **limits) -> st.SearchStrategy:
    """Arrays with NaN, infinities, the largest integers and strange strings in them.

    Args:
      dtype: A name or a tf.DType, or a strategy for these.
      shape: A tuple, or a strategy for tuples; by default `shapes(**limits)`.
      elements: A strategy for the elements; by default all that the dtype can hold, small
        integers being more frequent.
      **limits: As for `shapes`.
    """
    shape = shapes(**limits) if shape is None else shape
    if isinstance(dtype, st.SearchStrategy):
        return dtype.flatmap(lambda one: tensors(one, shape, elements))
    name = dtype if isinstance(dtype, str) else dtype.name
    chosen = _elements(name) if elements is None else elements
    if name == "string":
        return hnp.arrays(object, shape, elements=chosen, fill=st.just(b""))
    if name in ("bfloat16", "float8_e5m2", "float8_e4m3fn"):
        import ml_dtypes

        target = np.dtype(getattr(ml_dtypes, name))
        wide = hnp.arrays(np.float32, shape, elements=chosen)
        return wide.map(lambda array: _cast(array, target))
    return hnp.arrays(np.dtype(name), shape, elements=chosen)


def _cast(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    with np.errstate(all="ignore"):
        return array.astype(dtype)


def _elements(name: str) -> st.SearchStrategy:
    if name == "string":
        return texts()
    if name == "bool":
        return st.booleans()
    if "float" in name:
        width = 32 if name not in _FLOATS else int(name[5:])
        numbers = st.integers(-8, 8).map(float)
        return st.one_of(numbers, st.floats(width=width))
    if "int" in name:
        limits = np.iinfo(name)
        few = st.integers(max(-4, limits.min), 12)
        return st.one_of(few, st.integers(int(limits.min), int(limits.max)))
    return hnp.from_dtype(np.dtype(name))
