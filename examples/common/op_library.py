"""Load the op library of an example, or say what is wrong with it and what to do."""

import re
from pathlib import Path
from types import ModuleType

import tensorflow as tf

_ERRORS = "https://op-by-op.github.io/op-by-op/errors"


def load_op_library(path: Path, *functions: str) -> ModuleType:
    """Loads a library that CMake built with `TensorFlow::framework`.

    `tf.load_op_library` alone fails with the name of a missing symbol, or not at all, on a library
    built for another TensorFlow, and returns an empty module where another library has registered
    the same ops before.

    Args:
      path: The library.
      *functions: The generated functions that the caller is going to use, in snake case.

    Returns:
      The module of generated functions.

    Raises:
      ImportError: The library is not there, is for another TensorFlow, its ops are taken, or an attr is called
        `lambda` or the like. Its last line is the address where the book says more.
    """
    rebuild = f"build it with `make {path.parent.name}`"
    if not path.exists():
        raise ImportError(
            f"{path.name} is not there: {rebuild}\n{_ERRORS}/shared-object-not-found.html"
        )
    built_for = re.search(rb"built for TensorFlow (\d+\.\d+)", path.read_bytes())
    if built_for and built_for[1].decode() != ".".join(tf.__version__.split(".")[:2]):
        raise ImportError(
            f"{path.name} was {built_for[0].decode()}, this is TensorFlow {tf.__version__}: {rebuild}\n"
            f"{_ERRORS}/undefined-symbol-of-tensorflow.html"
        )
    try:
        library = tf.load_op_library(str(path))
    except tf.errors.NotFoundError as error:
        raise ImportError(
            f"{path.name} does not fit TensorFlow {tf.__version__}: {rebuild}\n"
            f"{_ERRORS}/undefined-symbol-of-tensorflow.html"
        ) from error
    except SyntaxError as error:
        raise ImportError(
            f"{path.name} has an attr named like a word of Python, {error.text.strip()!r}: rename it\n"
            f"{_ERRORS}/generated-code-invalid-syntax.html"
        ) from error
    if missing := [name for name in functions if not hasattr(library, name)]:
        raise ImportError(
            f"{path.name} gave no function {', '.join(missing)}: another library in this process has "
            "registered the same op; restart Python and load only one of the two\n"
            f"{_ERRORS}/same-op-twice.html"
        )
    return library
