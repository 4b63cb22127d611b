"""The op under test and its sample inputs, in a form that another process can take over."""

import importlib
import importlib.util
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from opcheck.findings.compare import as_bytes


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
        and type(value).__name__ != "RaggedTensor"
    ):
        kind = getattr(value.dtype, "name", "")
        if kind in ("variant", "resource"):
            raise ValueError(
                f"{name} is a {kind}, which no other process can have: write a function that makes it from other "
                "inputs, and then calls the op"
            )
        array = np.asarray(value.numpy(), getattr(value.dtype, "as_numpy_dtype", None))
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


@dataclass(frozen=True)
class Location:
    """Where a function is, for a process that has not imported it.

    Attributes:
      module: Its module's name; empty for an op of a library, which `file` is.
      file: Its module's file; empty for TensorFlow's own, found by `name` alone.
      name: Dotted, inside the module.
    """

    module: str
    file: str
    name: str

    def load(self) -> Callable:
        """Imports the module, by its name where that leads to the file, and gets the function."""
        if not self.module:
            from opcheck.library import LibraryOp

            return LibraryOp(self.file, self.name)
        if self.file:
            module = sys.modules.get(self.module)
            if module is None or not _is_of(module, self.file):
                module = self._import()
        else:
            module = importlib.import_module(self.module)
        found = module
        for part in self.name.split("."):
            found = getattr(found, part)
        return found

    def _import(self):
        folder = str(Path(self.file).parent)
        if folder not in sys.path:
            sys.path.insert(0, folder)
        name = self.module
        if name not in sys.modules:
            try:
                spec = importlib.util.find_spec(name)
            except (ImportError, ValueError):
                spec = None
            if spec and spec.origin and Path(spec.origin).resolve() == Path(self.file):
                return importlib.import_module(name)
        else:  # another module has the name
            name = f"opcheck_{name}"
        spec = importlib.util.spec_from_file_location(name, self.file)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
        return module


def _is_of(module, file: str) -> bool:
    origin = getattr(module, "__file__", None)
    return bool(origin) and Path(origin).resolve() == Path(file)


def _holder(function: Callable, generated) -> Location | None:
    """A module of a file from which a function that TensorFlow generated can be reached."""
    for module_name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if not file or module_name.startswith("__"):  # __main__, __mp_main__
            continue
        for name, value in list(vars(module).items()):
            if value is generated:
                name = f"{name}.{function.__name__}"
            if value is generated or value is function:
                return Location(module_name, str(Path(file).resolve()), name)
    return None


def _of_method(owner, name: str) -> Location:
    """A method of an object that some module holds by a name."""
    for module_name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if not file or module_name.split(".")[0] in ("tensorflow", "keras"):
            continue
        for key, value in list(vars(module).items()):
            if value is owner and module_name != "__mp_main__":
                if module_name == "__main__":
                    module_name = f"opcheck_main_{Path(file).stem}"
                return Location(module_name, str(Path(file).resolve()), f"{key}.{name}")
    raise ValueError(
        f"a child process cannot import {name}: it is a method of a {type(owner).__name__} that no module holds by a "
        "name"
    )


def _is_there(place: Location) -> bool:
    """Whether TensorFlow 2 has the name; some are of TensorFlow 1, like tf.arg_max."""
    try:
        return bool(place.load())
    except AttributeError:
        return False


def locate(function: Callable) -> Location:
    """Finds out how another process can import a function.

    Raises:
      ValueError: It cannot: the function is a lambda, inside another function, in a
        notebook's cell, or generated by `tf.load_op_library` and held by no module.
    """
    if isinstance(where := getattr(function, "location", None), Location):
        return where
    name = getattr(function, "__qualname__", None) or getattr(
        function, "__name__", f"an object of {type(function).__name__}"
    )
    module_name = getattr(function, "__module__", None) or ""
    if module_name.split(".")[0] in ("tensorflow", "keras"):
        from tensorflow.python.util import tf_export

        public = tf_export.get_canonical_name_for_symbol(function)
        place = Location("tensorflow", "", public or "")
        if public and _is_there(place):
            return place
    owner = getattr(function, "__self__", None)
    if owner is not None and not isinstance(owner, type | ModuleType):
        return _of_method(owner, function.__name__)
    module = sys.modules.get(module_name)
    file = getattr(module, "__file__", None)
    advice = "write a `def` at the top level of a module"
    if "<lambda>" in name or "<locals>" in name:
        raise ValueError(f"a child process cannot import {name}: {advice}")
    if module_name == "__main__" and not file:
        raise ValueError(
            f"a child process cannot import {name} of a notebook or prompt: {advice}"
        )
    if hasattr(module, "_IS_TENSORFLOW_PLUGIN"):
        if place := _holder(function, module):
            return place
        raise ValueError(
            f"a child process cannot import {name}, made by tf.load_op_library: {advice}"
            " that calls it"
        )
    found = module
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is not function:  # it wraps the function of that name
        others = getattr(module, "__dict__", {}).items()
        found, name = next(
            ((value, key) for key, value in others if value is function), (None, name)
        )
    if not file or found is None:
        raise ValueError(f"a child process cannot import {name}: {advice}")
    if module_name == "__main__":
        module_name = f"opcheck_main_{Path(file).stem}"
    return Location(module_name, str(Path(file).resolve()), name)
