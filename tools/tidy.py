"""Looks through the C++ of the examples with clang-tidy: `python tools/tidy.py [NAME…]`, part of `make lint`.

TensorFlow's headers take some seconds a file, so a file is looked at again only when it, a header of the examples,
the checks or TensorFlow's version have changed.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path

import book
from book import EXAMPLES, ROOT

import examples

DONE = ROOT / "build" / "tidy"
# Only the mutex of libc++ has the annotations without which ABSL_GUARDED_BY means nothing.
LIBCXX = next(Path("/usr").glob("include/c++/v1"), None) or next(
    Path("/usr/lib").glob("llvm-*/include/c++/v1"), None
)
ARGUMENTS = ["-nostdinc++", f"-isystem{LIBCXX}"] if LIBCXX else []
# Debian has omp.h for GCC alone.
ARGUMENTS += ["-fno-openmp", "-D_LIBCPP_ENABLE_THREAD_SAFETY_ANNOTATIONS"]

HEADERS: dict[str, list[Path]] = {}
for header in sorted(EXAMPLES.glob("**/*.h")):
    HEADERS.setdefault(header.name, []).append(header)


def sources(names: Sequence[str] = ()) -> list[Path]:
    """The C++ files that `make examples` compiles, of the examples that are named or of all, but for CUDA's."""
    commands = json.loads((examples.BUILD / "compile_commands.json").read_text())
    files = {Path(command["file"]) for command in commands}
    return sorted(
        file
        for file in files
        if file.is_relative_to(EXAMPLES)
        and file.suffix == ".cc"
        and ".cu" not in file.suffixes
        and (not names or file.relative_to(EXAMPLES).parts[0] in names)
    )


def shared_digest() -> bytes:
    """Of what all files depend on: the checks and the versions."""
    digest = hashlib.sha256((ROOT / ".clang-tidy").read_bytes())
    digest.update(f"{version('clang-tidy')}, {book.tensorflow()}".encode())
    return digest.digest()


def with_headers(source: Path) -> set[Path]:
    """A file and the headers of the examples that it includes, over others too, wherever one of the name is."""
    found, new = set(), {source}
    while new:
        found |= new
        names = {
            name
            for file in new
            for name in re.findall(
                r'^#include "(?:.*/)?([^"/]+)"', file.read_text(), re.M
            )
        }
        new = {header for name in names for header in HEADERS.get(name, [])} - found
    return found


def look(source: Path, *flags: str) -> str:
    """What clang-tidy finds in a file: compiled as `make examples` does, or with these flags."""
    command = [
        Path(sys.prefix, "bin", "clang-tidy"),
        "--quiet",
        f"--config-file={ROOT / '.clang-tidy'}",
    ]
    command += [f"--extra-arg={argument}" for argument in ARGUMENTS]
    command += [source, "--", *flags] if flags else ["-p", examples.BUILD, source]
    run = subprocess.run(command, capture_output=True, text=True)
    return (run.stdout or run.stderr) if run.returncode else ""


def main() -> None:
    if unknown := ", ".join(sorted({*sys.argv[1:]} - {*book.examples()})):
        sys.exit(
            f"make lint: no example {unknown}; there are {', '.join(book.examples())}"
        )
    examples.configure()
    if not LIBCXX and sys.platform == "linux":
        print("clang-tidy: without libc++-dev, nobody checks which mutex guards what")
    shared = shared_digest()
    todo = {}
    for source in sources(sys.argv[1:]):
        read = [file.read_bytes() for file in sorted(with_headers(source))]
        digest = hashlib.sha256(shared + b"".join(read)).hexdigest()
        done = (DONE / source.relative_to(EXAMPLES)).with_suffix(".txt")
        if not done.exists() or done.read_text() != digest:
            todo[source] = done, digest
    if len(todo) > 5:
        print(
            f"clang-tidy: {len(todo)} files, some seconds each; EXAMPLES=x: these alone",
            flush=True,
        )

    def remembered(source: Path) -> str:
        """What is found in a file. One that is clean is noted at once: a run may be broken off."""
        text = look(source)
        if not text:
            done, digest = todo[source]
            done.parent.mkdir(parents=True, exist_ok=True)
            done.write_text(digest)
        return text

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        found = [*threads.map(remembered, todo)]
    print(*found, sep="", end="")
    if any(found):
        sys.exit("make lint: clang-tidy has found something, see above")


if __name__ == "__main__":
    main()
