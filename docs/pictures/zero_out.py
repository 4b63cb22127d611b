"""The pictures of the chapter on ZeroOut, and the flags of its compiler."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import tensorflow as tf
from IPython import get_ipython
from IPython.display import HTML
from pictures.layout import grids
from zero_out_reference import zero_out_reference

FLAGS = {
    "-shared": "make a library, not a program",
    "-fPIC": "its code works at any address",
    "-O2": "optimize",
    "-DNDEBUG": "as in TensorFlow's own build: without it, some classes in the headers have other members",
    "-w": "no warnings: TensorFlow's headers cause many; CMake, below, shows those of your own code",
    "-I…, -L…": "the folders of TensorFlow's headers and library",
    "--std=c++17": "the oldest C++ standard that the headers compile with",
    "-D_GLIBCXX_USE_CXX11_ABI=1": "`std::string` lies in memory as in TensorFlow",
    "-DEIGEN_MAX_ALIGN_BYTES=64": "Eigen, the C++ library behind `flat`, may rely on tensors at multiples of 64 bytes",
    "-l:libtensorflow_framework.so.2": "the library that has `OpKernel` in it",
}


def before_and_after(op: Callable) -> HTML:
    """Draws what ZeroOut makes of a matrix."""
    to_zero = np.int32([[5, 4, 3], [2, 1, 6]])
    return grids({"to_zero": to_zero, "zero_out(to_zero)": op(to_zero).numpy()})


def facts() -> dict[str, object]:
    """Which TensorFlow this is, and how many lines the example has."""
    source = Path(zero_out_reference.__code__.co_filename).with_name("zero_out.cc")
    return {"version": tf.__version__, "lines": len(source.read_text().splitlines())}


def flags() -> Iterator[tuple[str, str]]:
    """Each flag of the first g++ command that a cell has run, those of tf.sysconfig included, and what it is for."""
    cells = "\n".join(get_ipython().history_manager.input_hist_raw)
    command = re.search(r"^g\+\+ .*", cells, re.M)[0]
    used = set(re.findall(r"(?<= )-\w+", command)) - {"-o"}
    asked = tf.sysconfig.get_compile_flags() + tf.sysconfig.get_link_flags()
    folders = {flag[:2] for flag in asked} & {"-I", "-L"}
    used |= {flag for flag in asked if flag[:2] not in folders}
    used.add(", ".join(f"{flag}…" for flag in sorted(folders)))
    if used != FLAGS.keys():
        raise ValueError(f"flags without a reason, or not used: {used ^ FLAGS.keys()}")
    return ((f"`{flag}`", why) for flag, why in FLAGS.items())
