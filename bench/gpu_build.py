"""What an op for the GPU takes to compile, the book's way and in TensorFlow's own pattern: `python bench/gpu_build.py`.

The book's nvcc sees CUDA's headers alone. In the pattern of TensorFlow's kernels it sees TensorFlow's, too. Needs nvcc,
and no GPU. Writes bench/gpu_build.csv.
"""

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import tensorflow as tf
from measure import heading, write

ROOT = Path(__file__).parents[1]
RESULT = ROOT / "bench" / "gpu_build.csv"
sys.path.append(str(ROOT / "examples" / "common"))

from cuda_on_host import find_nvcc  # noqa: E402

NVCC = ["-std=c++17", "-O3", "-arch=sm_75", "-w", "-Xcompiler=-fPIC", "-x", "cu", "-c"]
GXX = ["-O3", "-DNDEBUG", "-fPIC", "-w", "-c"]
BOOK, PATTERN = "the book's way", "TensorFlow's pattern"


def compilations(
    nvcc: str, headers_of_cuda: Path, shim: Path
) -> list[tuple[str, str, list]]:
    """The way, the file and the command of each compilation.

    Args:
      nvcc: The compiler.
      headers_of_cuda: Where they are.
      shim: A folder in which they are where TensorFlow's headers look for them.
    """
    flags = tf.sysconfig.get_compile_flags()
    device = [
        *("-DGOOGLE_CUDA=1", "-DNDEBUG", f"-I{shim}"),
        f"-I{tf.sysconfig.get_include()}",
        *(flag for flag in flags if flag.startswith("-D")),
    ]
    host = [*flags, "-DGOOGLE_CUDA=1", f"-I{shim}", f"-I{headers_of_cuda}"]
    pattern = "gpu_kernels/functor_rms_norm"
    return [
        (BOOK, "gpu/rms_norm_each.cu.cc", [nvcc, *NVCC]),
        (BOOK, "gpu/rms_norm.cu.cc", [nvcc, *NVCC]),
        (BOOK, "gpu/rms_norm_gpu.cc", ["g++", *GXX, *flags]),
        (BOOK, "gpu/rms_norm.cc", ["g++", *GXX, *flags]),
        (
            *(PATTERN, f"{pattern}.cu.cc"),
            [nvcc, *NVCC, "--expt-relaxed-constexpr", *device],
        ),
        (PATTERN, f"{pattern}.cc", ["g++", *GXX, *host]),
    ]


def seconds(command: Sequence) -> tuple[float, float]:
    """By the clock and of the processor."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True)
    wall, after = (
        time.perf_counter() - start,
        resource.getrusage(resource.RUSAGE_CHILDREN),
    )
    return wall, sum(
        getattr(after, name) - getattr(before, name)
        for name in ("ru_utime", "ru_stime")
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    nvcc = find_nvcc() or sys.exit("bench/gpu_build.py: needs nvcc")
    dryrun = [nvcc, "--dryrun", "-x", "cu", "/dev/null"]
    said = subprocess.run(dryrun, capture_output=True, text=True).stderr
    headers_of_cuda = Path(said.partition("TOP=")[2].splitlines()[0], "include")
    version = subprocess.check_output([nvcc, "--version"], text=True)
    release = version.partition("release ")[2].partition(",")[0]
    compiler = subprocess.check_output(["g++", "-dumpfullversion"], text=True).strip()
    lines = heading(
        f"python bench/gpu_build.py --rounds {options.rounds}",
        ["tensorflow", "tensorflow-cpu"],
        [
            f"compilers: nvcc {release} for sm_75, g++ {compiler}",
            "seconds: median of the rounds, one compilation at a time; cpu_seconds: of the processor",
        ],
    )
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        shim = Path(folder, "third_party", "gpus", "cuda")
        shim.mkdir(parents=True)
        (shim / "include").symlink_to(headers_of_cuda.resolve())
        runs = compilations(nvcc, headers_of_cuda, Path(folder))
        times = {file: [] for _, file, _ in runs}
        for _ in range(options.rounds):
            for _, file, command in runs:
                source = ROOT / "examples" / file
                output = Path(folder, "object.o")
                times[file].append(seconds([*command, source, "-o", output]))
        for way, file, command in runs:
            wall, processor = map(statistics.median, zip(*times[file]))
            rows.append(
                {
                    "way": way,
                    "file": file,
                    "compiler": Path(command[0]).name,
                    "seconds": f"{wall:.1f}",
                    "cpu_seconds": f"{processor:.1f}",
                }
            )
    write(RESULT, lines, rows)


if __name__ == "__main__":
    main()
