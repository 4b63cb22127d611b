"""What the benches compile: variants of the ops, and programs to compare with."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from processes import fail

from opcheck import function_of

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "bench"
LIBRARY = ["-O3", "-DNDEBUG", "-fPIC", "-shared", "-w"]
# What newer processors have, by the words that Linux and the options of compilers share.
NEWER = {
    "AVX2 and FMA": ("avx2", "fma"),
    "AVX-512": ("avx512f", "avx512dq", "avx512bw", "avx512vl", "fma"),
}


def can(*words: str) -> bool:
    """Whether the processor has these instructions, by the words that Linux has for them."""
    info = Path("/proc/cpuinfo")
    return info.exists() and set(words) <= set(info.read_text().split())


def compiled(
    name: str, source: Path, options: Sequence[str], headers: Sequence[Path] = ()
) -> Path:
    """Compiles a library to build/bench, unless that was done since its sources were changed.

    Args:
      name: Of the library, without `lib`.
      source: A file.
      options: Of the compiler, beside those that all have.
      headers: Files of the book that the source includes.
    """
    library = BUILD / f"lib{name}.so"
    newest = max(path.stat().st_mtime for path in (source, *headers))
    if not library.exists() or library.stat().st_mtime < newest:
        BUILD.mkdir(parents=True, exist_ok=True)
        compiler = shlex.split(os.environ.get("CXX", "c++"))
        if not shutil.which(compiler[0]):
            fail(f"no C++ compiler {compiler[0]}: sudo apt-get install g++")
        command = [*compiler, *LIBRARY, str(source), *options, "-o", str(library)]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode:
            fail(f"cannot compile {source}: {run.stderr.strip().splitlines()[0]}")
    return library


def compiled_ops(
    name: str, source: Path, options: Sequence[str], headers: Sequence[Path] = ()
) -> Path:
    """The same for a library of ops."""
    import tensorflow as tf

    flags = [*tf.sysconfig.get_compile_flags(), *tf.sysconfig.get_link_flags()]
    hidden = "-fvisibility=hidden"
    return compiled(name, source, [*options, hidden, *flags], headers)


def compiled_op(
    op: str, source: Path, options: Sequence[str], headers: Sequence[Path] = ()
) -> Callable:
    """The function of the one op of a source, which registers it as OP_NAME."""
    import tensorflow as tf

    named = [f'-DOP_NAME="{op}"', *options]
    library = compiled_ops(function_of(op), source, named, headers)
    return getattr(tf.load_op_library(str(library)), function_of(op))
