"""Inputs that are made of several dense tensors: the checks vary these, and the op gets what is made of them."""

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from opcheck.inputs.samples import COMPOSITE
from opcheck.locations import Location, locate


@dataclass(frozen=True)
class LocationOfParts(Location):
    """Where a function is that takes such inputs, for a process that is to call an `OfParts`.

    Attributes:
      kinds: Those of the `OfParts`.
    """

    kinds: tuple[str, ...] = ()

    def load(self) -> "OfParts":
        """The function of the parts."""
        return OfParts(super().load(), self.kinds)


class OfParts:
    """A function of dense tensors that makes others of them, with which it calls a function.

    Args:
      function: Called with what is made.
      kinds: Of each input: "SparseTensor", "IndexedSlices", "IndexedSlices dense_shape" if it has one, "RaggedTensor 2"
        if two dimensions are ragged, or nothing for a dense tensor or a list.
    """

    def __init__(self, function: Callable, kinds: Sequence[str]):
        self._function = function
        self._kinds = kinds
        self.__name__ = getattr(function, "__name__", type(function).__name__)
        self.__doc__ = function.__doc__
        self.__signature__ = self._signature()

    @functools.cached_property
    def location(self) -> LocationOfParts:
        """Where another process finds it.

        Raises:
          ValueError: It cannot import the function.
        """
        own = locate(self._function)
        return LocationOfParts(own.module, own.file, own.name, tuple(self._kinds))

    def __call__(self, *parts, **attrs):
        rest = iter(parts)
        inputs = [
            _made(kind, [next(rest) for _ in _names(kind)]) for kind in self._kinds
        ]
        return self._function(*inputs, *rest, **attrs)

    def _signature(self) -> inspect.Signature:
        try:
            known = list(inspect.signature(self._function).parameters.values())
        except (TypeError, ValueError):
            known = [
                inspect.Parameter(f"input_{i}", inspect.Parameter.POSITIONAL_OR_KEYWORD)
                for i in range(len(self._kinds))
            ]
        some = [
            one.replace(name=f"{one.name}{part}")
            for one, kind in zip(known, self._kinds)
            for part in _names(kind)
        ]
        return inspect.Signature([*some, *known[len(self._kinds) :]])


def in_parts(op: Callable, inputs: Sequence) -> tuple[Callable, Sequence]:
    """The op and its inputs, or where some have parts: a function of all parts, and these."""
    kinds = [_kind(x) for x in inputs]
    if not any(kinds):
        return op, inputs
    parts = [part for kind, x in zip(kinds, inputs) for part in _parts(kind, x)]
    return OfParts(op, kinds), parts


def _kind(value) -> str:
    name = type(value).__name__
    if name == "RaggedTensor":
        return f"{name} {value.ragged_rank}"
    if name == "IndexedSlices" and value.dense_shape is not None:
        return f"{name} dense_shape"
    return name if name in COMPOSITE else ""


def _names(kind: str) -> list[str]:
    """What the names of the parts end with."""
    if kind == "SparseTensor":
        return ["_indices", "_values", "_dense_shape"]
    if kind.startswith("IndexedSlices"):
        return ["_values", "_indices", "_dense_shape"][: 1 + len(kind.split())]
    if kind:
        count = int(kind.split()[1])
        numbers = range(count) if count > 1 else [""]
        return ["_flat_values", *(f"_row_splits{i}" for i in numbers)]
    return [""]


def _parts(kind: str, value) -> list:
    if kind.startswith("RaggedTensor"):
        return [value.flat_values, *value.nested_row_splits]
    return [getattr(value, name[1:]) for name in _names(kind)] if kind else [value]


def _made(kind: str, parts: Sequence):
    import tensorflow as tf

    if kind.startswith("RaggedTensor"):
        return tf.RaggedTensor.from_nested_row_splits(parts[0], parts[1:])
    return getattr(tf, kind.split()[0])(*parts) if kind else parts[0]
