"""A call as one line of Python."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np


def line(
    location, op: Callable, inputs: Sequence, attrs: Mapping, modes=("eager",)
) -> str:
    """Python that makes the call in a fresh process.

    Args:
      location: A samples.Location, or None if the op cannot be imported.
      op: The function.
      inputs: Arrays and lists of arrays.
      attrs: Keyword arguments.
      modes: "eager", "graph" or both: how it is called.
    """
    name = getattr(op, "__name__", "op")
    imports = ""
    if location is not None and location.file:
        module, folder = _module(location)
        name = location.name
        if folder != ".":
            imports += f"import sys; sys.path.insert(0, {folder!r}); "
        imports += f"from {module} import {name.split('.')[0]}; "
    elif location is not None:
        name = f"tf.{location.name}"
    functions = {"eager": name, "graph": f"tf.function({name}, autograph=False)"}
    called = [functions[mode] for mode in modes]
    arguments = [_input(x) for x in inputs]
    arguments += [f"{key}={_attr(value)}" for key, value in attrs.items()]
    shown = ", ".join(arguments)
    call = (
        f"print({called[0]}({shown}))"
        if len(called) == 1
        else f"print(*(call({shown}) for call in ({', '.join(called)})))"
    )
    if "tf." in call:
        imports = f"import tensorflow as tf; {imports}"
    return f"import numpy as np; {imports}{call}"


def _module(location) -> tuple[str, str]:
    """The name of a module, and the folder from which it can be imported by that name."""
    path = Path(location.file).with_suffix("")
    if path.name == "__init__":
        path = path.parent
    parts = location.module.split(".")
    if path.parts[-len(parts) :] != tuple(parts):
        parts = [path.name]
    return ".".join(parts), os.path.relpath(path.parents[len(parts) - 1])


def _attr(value) -> str:
    if type(value).__name__ == "DType":
        return f'"{value.name}"'
    if isinstance(value, float) and not np.isfinite(value):
        return f'float("{value}")'
    return repr(value)


def _input(value) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(_input(x) for x in value)}]"
    array = np.asarray(value)
    dtype = "object" if array.dtype == object else f'"{array.dtype.name}"'
    if array.dtype.name not in np.sctypeDict:  # bfloat16 and the like
        return f"tf.cast({_input(array.astype(np.float32))}, {dtype})"
    flat = array.reshape(-1)
    if flat.size > 1 and _all_equal(flat):
        return f"np.full({array.shape}, {_number(flat[0])}, {dtype})"
    if array.ndim > 1 or array.size == 0 and array.ndim:
        if array.size == 0:
            return f"np.zeros({array.shape}, {dtype})"
        numbers = ", ".join(map(_number, flat.tolist()))
        return f"np.array([{numbers}], {dtype}).reshape({array.shape})"
    if array.ndim == 0:
        return f"np.array({_number(array[()])}, {dtype})"
    return f"np.array([{', '.join(map(_number, flat.tolist()))}], {dtype})"


def _all_equal(flat: np.ndarray) -> bool:
    first = flat[0]
    return all(x == first or (x != x and first != first) for x in flat.tolist())


def _number(value) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bytes) and len(value) > 100:
        return f"{value[:1]!r} * {len(value)}" if len(set(value)) == 1 else repr(value)
    if isinstance(value, float) and not np.isfinite(value):
        return {"nan": "np.nan", "inf": "np.inf", "-inf": "-np.inf"}[str(value)]
    return repr(value)
