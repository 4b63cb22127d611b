"""Trains the model and collects what a server needs in one folder: `python pack.py FOLDER`."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import tensorflow as tf
from language import export, train

HERE = Path(__file__).parent


def files() -> list[Path]:
    """The program, the library of the op and those of TensorFlow."""
    libraries = Path(tf.__file__).parent.glob("libtensorflow_*.so.2")
    return [HERE / "server", HERE / "libserving.so", *libraries]


def pack(folder: Path, copy: Callable = shutil.copy2) -> None:
    """Copies them, and exports the model."""
    folder.mkdir(parents=True)
    for path in files():
        copy(path, folder / path.name)
    export(train(), folder / "language")


if __name__ == "__main__":
    pack(Path(sys.argv[1]))
