"""The op under test and its sample inputs, in a form that another process can take over."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from opcheck.findings.compare import as_bytes

# What is made of several dense tensors.
COMPOSITE = ("RaggedTensor", "SparseTensor", "IndexedSlices")


def flattened(inputs: Sequence) -> list:
    """All inputs, those of lists too."""
    lists = (x if isinstance(x, list) else [x] for x in inputs)
    return [one for some in lists for one in some]


def packed(inputs: Sequence, flat: Sequence) -> list:
    """Flat inputs, in lists where these inputs are lists."""
    rest = iter(flat)
    return [
        [next(rest) for _ in x] if isinstance(x, list) else next(rest) for x in inputs
    ]


@dataclass(frozen=True)
class Sample:
    """An input that is made from its specification.

    Attributes:
      spec: A tf.TensorSpec of known rank. An unknown dimension becomes 3.
      generator: From a np.random.Generator and a shape to an array that can become the
        spec's dtype; without one, normal numbers for floats and small ones for integers.
      seed: Of the generator of random numbers.
    """

    spec: Any
    generator: Callable[[np.random.Generator, tuple[int, ...]], np.ndarray] | None = (
        None
    )
    seed: int = 0

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        if self.spec.shape.rank is None:
            raise ValueError(f"a Sample needs a shape of known rank, got {self.spec}")
        shape = tuple(3 if n is None else n for n in self.spec.shape)
        random = np.random.default_rng(self.seed)
        wanted = self.spec.dtype.as_numpy_dtype
        generator = self.generator or _default_generator(self.spec.dtype)
        array = np.asarray(generator(random, shape)).astype(dtype or wanted)
        if array.shape != shape:
            raise ValueError(
                f"the generator of {self.spec} made an array of shape {array.shape}"
            )
        return array


def _default_generator(dtype) -> Callable:
    if dtype.is_floating or dtype.is_complex:
        return lambda random, shape: random.normal(size=shape)
    if dtype.is_bool:
        return lambda random, shape: random.integers(0, 2, shape)
    if dtype.is_integer:
        return lambda random, shape: random.integers(0, 10, shape)
    raise ValueError(f"a Sample of {dtype.name} needs a generator")


def as_arrays(inputs: Sequence) -> list:
    """Turns each input into an array, and each list of arrays into a list of arrays.

    Raises:
      ValueError: An input is not a dense tensor, or cannot become one.
    """
    return [_as_array(value, f"input {i}") for i, value in enumerate(inputs)]


def _as_array(value, name: str):
    if isinstance(value, list | tuple) and (
        len(value) == 0 or any(is_tensor(x) for x in value)
    ):
        return [_as_array(x, f"{name}[{i}]") for i, x in enumerate(value)]
    if isinstance(value, Sample | np.ndarray | np.generic):
        array = np.asarray(value)
    elif (
        hasattr(value, "numpy")
        and hasattr(value, "dtype")
        and type(value).__name__ not in COMPOSITE
    ):
        kind = getattr(value.dtype, "name", "")
        if kind in ("variant", "resource"):
            raise ValueError(
                f"{name} is a {kind}, which no other process can have: write a function that makes it from other "
                "inputs, and then calls the op"
            )
        array = np.asarray(value.numpy(), getattr(value.dtype, "as_numpy_dtype", None))
    elif type(value).__name__ in COMPOSITE:
        raise ValueError(
            f"{name} is a {type(value).__name__}: as an input of its own, and not in a list, it is taken"
        )
    elif type(value).__name__ in ("TensorSpec", "SymbolicTensor", "KerasTensor"):
        raise ValueError(
            f"{name} is {value}: give it a generator: opcheck.Sample({value}, …)"
        )
    elif isinstance(value, bool | int | float | complex | str | bytes | list | tuple):
        try:
            array = _like_tensorflow(np.asarray(value))
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    else:
        raise ValueError(
            f"{name} is a {type(value).__name__}: opcheck takes dense tensors, arrays, "
            "opcheck.Sample, and lists of these"
        )
    if array.dtype == object and not all(
        isinstance(x, bytes | str) for x in array.reshape(-1)
    ):
        raise ValueError(f"{name} is neither numbers, bools nor strings")
    return as_bytes(array) if array.dtype.kind in "USO" else array


def is_tensor(value) -> bool:
    """Whether it is one, and not what TensorFlow makes a tensor of."""
    return isinstance(value, np.ndarray | np.generic | Sample) or hasattr(
        value, "numpy"
    )


def _like_tensorflow(array: np.ndarray) -> np.ndarray:
    """What Python's own numbers become: float32 and int32."""
    return array.astype(
        {"f": np.float32, "i": np.int32}.get(array.dtype.kind, array.dtype)
    )
