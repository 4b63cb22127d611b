"""Kernels for the GPU where there is none: CUDA's, and TensorFlow's side of them, built for the host."""

import contextlib
import ctypes
import fcntl
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import precompiled

HERE = Path(__file__).parent
OPS = "gpu_ops_on_host.cc"
# What nvcc has without an #include, and functions that a test can call.
ON_HOST = """\
#include "cuda_on_host.h"
#pragma GCC visibility push(default)
#line 1
{}
#pragma GCC visibility pop
"""
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas")


def find_nvcc() -> str | None:
    """The CUDA compiler that `make examples` would take: of CUDACXX, the PATH, /usr/local/cuda, or the package's.

    None where there is none, or where CUDA=off asks for none.
    """
    if os.environ.get("CUDA") == "off":
        return None
    package = Path(sysconfig.get_path("purelib"), "nvidia", "cu13", "bin")
    return shutil.which(os.environ.get("CUDACXX") or "nvcc") or next(
        filter(
            None,
            (shutil.which("nvcc", path=p) for p in ("/usr/local/cuda/bin", package)),
        ),
        None,
    )


def build_for_host(source: Path, library: Path, *flags: str) -> None:
    """Compiles kernels with the C++ compiler and cuda_on_host.h, `<<<…>>>` replaced by a call of `OnHost`.

    What the GPU would refuse or get wrong without a word ends the process here: a vector at an address that is not
    aligned to its size, an overflow of a signed integer.

    Args:
      source: The kernels, `x.cu.cc`.
      library: The file to write.
      *flags: For the compiler; `-DOP_BY_OP_MOST_BLOCKS=3` makes every kernel of roi_pool.cu.cc loop.

    Raises:
      subprocess.CalledProcessError: The compiler failed.
    """
    import tensorflow as tf  # its headers bring the 16-bit types, in Eigen

    with tempfile.TemporaryDirectory() as folder:
        # Laid out as here: the source includes "../common/cuda_launch.h".
        for file in (source, HERE / "cuda_launch.h"):
            launched = r"op_by_op::OnHost(\1, \2)"
            kernel = r"(\w+(?:<\w+>)?)<<<(.*?)>>>"
            text = re.sub(kernel, launched, file.read_text(), flags=re.S)
            copy = Path(folder, file.parent.name, file.name)
            copy.parent.mkdir()
            if file == source:
                text = ON_HOST.format(text)
            copy.write_text(text)
        subprocess.run(
            [
                *shlex.split(os.environ.get("CXX", "c++")),
                *("-std=c++17", "-O2", "-shared", "-fPIC", "-fvisibility=hidden"),
                *(*WARNINGS, "-ffp-contract=off", "-fno-strict-aliasing"),
                "-fsanitize=undefined,float-cast-overflow",
                "-fsanitize-undefined-trap-on-error",
                *("-isystem", tf.sysconfig.get_include()),
                *("-I", HERE, "-I", source.parent, *flags),
                *("-x", "c++", Path(folder, source.parent.name, source.name)),
                *("-o", library),
            ],
            check=True,
        )


def build_ops_for_host(source: Path, library: Path, kernels: Path, *flags: str) -> None:
    """Compiles TensorFlow's side of kernels for a machine without a GPU: gpu_ops_on_host.cc.

    Args:
      source: `x_gpu.cc`.
      library: The file to write, for `tf.load_library`.
      kernels: What `build_for_host` has made.
      *flags: For the compiler.

    Raises:
      subprocess.CalledProcessError: The compiler failed.
    """
    import tensorflow as tf

    subprocess.run(
        [
            *shlex.split(os.environ.get("CXX", "c++")),
            *(*precompiled.flags(), *WARNINGS, f'-DGPU_SOURCE="{source}"'),
            *("-I", source.parent, "-shared", *flags),
            *(HERE / OPS, kernels),
            *(*tf.sysconfig.get_link_flags(), "-o", library),
        ],
        check=True,
    )


def on_host(source: Path, *flags: str) -> Path:
    """The library of kernels, `x.cu.cc`: of `build_for_host`, made again when something in it has changed."""
    return _kept(build_for_host, source, *flags)


def ops_on_host(source: Path, kernels: Path) -> Path:
    """The library of TensorFlow's side, `x_gpu.cc`: of `build_ops_for_host`, likewise."""
    return _kept(build_ops_for_host, source, kernels)


def _kept(build: Callable, source: Path, *arguments: object) -> Path:
    """A library in build/gpu, which one of several processes makes for all."""
    folders = (source.parent, HERE)
    headers = (x for folder in folders for x in sorted(folder.rglob("*.*h")))
    content = [file.read_bytes() for file in (source, HERE / OPS, *headers)]
    content.append(repr((arguments, os.environ.get("CXX"), sys.prefix)).encode())
    version = hashlib.sha256(b"".join(content)).hexdigest()[:8]
    folder = HERE.parents[1] / "build" / "gpu"
    folder.mkdir(parents=True, exist_ok=True)
    library = folder / f"lib{source.name.partition('.')[0]}_{version}.so"
    with library.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not library.exists():
            made = library.with_suffix(".new")
            build(source, made, *arguments)
            made.replace(library)
    return library


class Cuda:
    """The CUDA run time of a library for the host."""

    def __init__(self, library: Path) -> None:
        functions = ctypes.CDLL(str(library))
        self._calls = functions.CudaCalls
        self._calls.restype = ctypes.c_char_p
        self._fails_at = ctypes.c_int64.in_dll(functions, "cuda_fails_at")
        self._only_thread = ctypes.c_int64.in_dll(functions, "cuda_only_thread")
        self._ends_alone = ctypes.c_int64.in_dll(functions, "cuda_ends_alone")
        self._backwards = ctypes.c_int64.in_dll(functions, "cuda_backwards")
        self._last_error = ctypes.c_char_p.in_dll(functions, "cuda_last_error")

    def calls(self) -> list[tuple]:
        """Those since the last time: `("launch", blocks, threads, shared_bytes, stream)` and others."""
        lines = [line.split() for line in self._calls().decode().splitlines()]
        return [(name, *(int(x, 0) for x in numbers)) for name, *numbers in lines]

    def fail_at(self, call: int) -> None:
        """Lets the next call fail if `call` is 1, the one after it if it is 2."""
        self._fails_at.value = call

    def has_failed(self) -> None:
        """As if an earlier call had failed, and nobody had asked for its error."""
        self._last_error.value = b"an earlier error"

    @contextlib.contextmanager
    def only_thread(self, thread: int) -> Iterator[None]:
        """Of each block, this thread alone runs."""
        self._only_thread.value = thread
        yield
        self._only_thread.value = -1

    @contextlib.contextmanager
    def first_and_last_blocks_alone(self) -> Iterator[None]:
        """Of each launch, only the first block runs and the last, so that a huge launch takes no time."""
        self._ends_alone.value = 1
        yield
        self._ends_alone.value = 0

    @contextlib.contextmanager
    def backwards(self) -> Iterator[None]:
        """Of each block, the last thread comes first, as it may on a GPU."""
        self._backwards.value = 1
        yield
        self._backwards.value = 0
