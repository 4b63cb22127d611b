"""What a file of CUDA takes to compile, the book's way and in TensorFlow's own pattern: `python bench/gpu_build.py`.

The book's nvcc sees CUDA's headers alone. In the pattern of TensorFlow's kernels it sees TensorFlow's, too. Needs nvcc,
and no GPU. Writes bench/gpu_build.csv.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import tensorflow as tf
from measure import heading, write

ROOT = Path(__file__).parents[1]
RESULT = ROOT / "bench" / "gpu_build.csv"
sys.path.append(str(ROOT / "examples" / "common"))

from cuda_on_host import find_nvcc  # noqa: E402

NVCC = ["-std=c++17", "-O3", "-arch=sm_75", "-w", "-Xcompiler=-fPIC", "-x", "cu", "-c"]
BOOK, PATTERN = "gpu/rms_norm_each.cu.cc", "gpu_kernels/functor_rms_norm.cu.cc"


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
            "seconds: median of the rounds, one compilation at a time",
        ],
    )
    times = {BOOK: [], PATTERN: []}
    with tempfile.TemporaryDirectory() as folder:
        # Where TensorFlow's headers look for those of CUDA.
        shim = Path(folder, "third_party", "gpus", "cuda")
        shim.mkdir(parents=True)
        (shim / "include").symlink_to(headers_of_cuda.resolve())
        flags = [flag for flag in tf.sysconfig.get_compile_flags() if flag[:2] == "-D"]
        flags += ["-DGOOGLE_CUDA=1", "-DNDEBUG", "--expt-relaxed-constexpr"]
        flags += [f"-I{folder}", f"-I{tf.sysconfig.get_include()}"]
        for _ in range(options.rounds):
            for file, more in ((BOOK, []), (PATTERN, flags)):
                source = ROOT / "examples" / file
                command = [nvcc, *NVCC, *more, source, "-o", f"{folder}/object.o"]
                start = time.perf_counter()
                subprocess.run(command, check=True)
                times[file].append(time.perf_counter() - start)
    rows = [
        {"file": file, "seconds": f"{statistics.median(of):.1f}"}
        for file, of in times.items()
    ]
    write(RESULT, lines, rows)


if __name__ == "__main__":
    main()
