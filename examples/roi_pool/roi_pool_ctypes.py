"""The launchers of roi_pool.cu.cc without TensorFlow: built for the GPU or for the host, called through ctypes."""

import contextlib
import ctypes
import functools
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
# Their places are the numbers that the launchers know the types by.
DTYPES = ["float16", "bfloat16", "float32", "float64"]


class Sizes(ctypes.Structure):
    """The struct of the same name in roi_pool_geometry.h."""

    _fields_ = [
        (name, ctypes.c_int64)
        for name in (
            *("batch", "height", "width", "channels"),
            *("num_rois", "pooled_height", "pooled_width"),
        )
    ] + [("spatial_scale", ctypes.c_float)]


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


def build_for_host(
    library: Path, *flags: str, source: Path = HERE / "roi_pool.cu.cc"
) -> None:
    """Compiles the kernels with the C++ compiler and cuda_on_host.h, `<<<…>>>` replaced by a call of `OnHost`.

    What the GPU would refuse or get wrong without a word ends the process here: a vector at an address that is not
    aligned to its size, an overflow of a signed integer.

    Args:
      library: The file to write.
      *flags: For the compiler; `-DOP_BY_OP_MOST_BLOCKS=3` makes every kernel loop.
      source: The kernels.

    Raises:
      subprocess.CalledProcessError: The compiler failed.
    """
    import tensorflow as tf  # its headers bring the 16-bit types, in Eigen

    with tempfile.TemporaryDirectory() as folder:
        for file in (source, HERE / "cuda_launch.h"):
            launched = r"op_by_op::OnHost(\1, \2)"
            text = re.sub(r"(\w+)<<<(.*?)>>>", launched, file.read_text(), flags=re.S)
            Path(folder, file.name).write_text(text)
        subprocess.run(
            [
                *shlex.split(os.environ.get("CXX", "c++")),
                *("-std=c++17", "-O2", "-shared", "-fPIC", "-fvisibility=hidden"),
                *("-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas"),
                *("-ffp-contract=off", "-fno-strict-aliasing"),
                *(
                    "-fsanitize=undefined,float-cast-overflow",
                    "-fsanitize-undefined-trap-on-error",
                ),
                *("-isystem", tf.sysconfig.get_include(), "-I", HERE),
                *("-x", "c++", Path(folder, source.name), *flags, "-o", library),
            ],
            check=True,
        )


def on_host(name: str) -> Path:
    """The library of a source of kernels, such as "add_one", built for the host when it or a header has changed."""
    sources = [HERE / f"{name}.cu.cc", *sorted(HERE.glob("*.h"))]
    content = b"".join(source.read_bytes() for source in sources)
    return _built(name, hashlib.sha256(content).hexdigest()[:8])


@functools.cache
def _built(name: str, version: str) -> Path:
    folder = HERE.parents[1] / "build" / "gpu"
    folder.mkdir(parents=True, exist_ok=True)
    library = folder / f"lib{name}_{version}.so"
    build_for_host(library, source=HERE / f"{name}.cu.cc")
    return library


def build_ops_for_host(library: Path, kernels: Path, *flags: str) -> None:
    """Compiles TensorFlow's side of the kernels for a machine without a GPU: roi_pool_gpu_on_host.cc.

    Args:
      library: The file to write, for `tf.load_library`.
      kernels: What `build_for_host` has made.
      *flags: For the compiler; `-DGPU_SOURCE="…"` names another op's file.

    Raises:
      subprocess.CalledProcessError: The compiler failed.
    """
    import tensorflow as tf

    include = tf.sysconfig.get_include()
    usual = [x for x in tf.sysconfig.get_compile_flags() if not x.startswith("-I")]
    subprocess.run(
        [
            *shlex.split(os.environ.get("CXX", "c++")),
            *(
                *usual,
                *flags,
                "-isystem",
                include,
                "-DNDEBUG",
                "-Wall",
                "-Wextra",
                "-Werror",
            ),
            *("-shared", "-fPIC", "-fvisibility=hidden"),
            *(HERE / "roi_pool_gpu_on_host.cc", kernels),
            *(*tf.sysconfig.get_link_flags(), "-o", library),
        ],
        check=True,
    )


def ptx(nvcc: str = "nvcc", arch: str = "compute_75") -> str:
    """What nvcc makes of the kernels, before a driver or nvcc makes machine code of that.

    Raises:
      subprocess.CalledProcessError: The compiler failed.
    """
    flags = ["-std=c++17", "-O3", "--fmad=false", f"-arch={arch}", "-x", "cu"]
    command = [nvcc, *flags, "-ptx", HERE / "roi_pool.cu.cc", "-o", "-"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def build_for_gpu(library: Path, nvcc: str = "nvcc", arch: str = "native") -> None:
    """Compiles the kernels with nvcc.

    Args:
      library: The file to write.
      nvcc: The compiler.
      arch: The architecture, such as `sm_90`; `native` is the one of this machine's GPU.

    Raises:
      subprocess.CalledProcessError: The compiler failed.
    """
    subprocess.run(
        [
            *(nvcc, "-std=c++17", "-O3", "--fmad=false", f"-arch={arch}", "-shared"),
            *("-Xcompiler", "-fPIC", "-x", "cu", HERE / "roi_pool.cu.cc"),
            *("-o", library),
        ],
        check=True,
    )


class Cuda:
    """The CUDA run time of a library for the host."""

    def __init__(self, library: Path) -> None:
        functions = ctypes.CDLL(str(library))
        self._calls = functions.CudaCalls
        self._calls.restype = ctypes.c_char_p
        self._fails_at = ctypes.c_int64.in_dll(functions, "cuda_fails_at")
        self._only_thread = ctypes.c_int64.in_dll(functions, "cuda_only_thread")
        self._ends_alone = ctypes.c_int64.in_dll(functions, "cuda_ends_alone")

    def calls(self) -> list[tuple]:
        """Those since the last time: `("launch", blocks, threads, shared_bytes, stream)` and others."""
        lines = [line.split() for line in self._calls().decode().splitlines()]
        return [(name, *(int(x, 0) for x in numbers)) for name, *numbers in lines]

    def fail_at(self, call: int) -> None:
        """Lets the next call fail if `call` is 1, the one after it if it is 2."""
        self._fails_at.value = call

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


class Launchers:
    """The C functions of a library, with errors raised.

    Pointers are integers, to memory of the device: on the host, `array.ctypes.data`; of a PyTorch
    tensor, `tensor.data_ptr()`. `dtype` is one of DTYPES, `stream` a cudaStream_t as an integer.
    """

    def __init__(self, library: Path) -> None:
        functions = ctypes.CDLL(str(library))
        pointer, sizes = ctypes.c_void_p, ctypes.POINTER(Sizes)
        self._pool = functions.RoiPoolLaunch
        self._pool.argtypes = [pointer, ctypes.c_int, sizes, *[pointer] * 4]
        self._grad = functions.RoiPoolGradLaunch
        self._grad.argtypes = [pointer, ctypes.c_int, sizes, *[pointer] * 5]
        self._copy = functions.RoiPoolCopyToHost
        self._copy.argtypes = [pointer, pointer, pointer, ctypes.c_int64]
        self._scratch = functions.RoiPoolGradScratch
        self._scratch.argtypes, self._scratch.restype = [sizes], ctypes.c_int64
        for function in (self._pool, self._grad, self._copy):
            function.restype = ctypes.c_char_p
            function.errcheck = self._raise

    @staticmethod
    def _raise(error: bytes | None, *_: object) -> None:
        if error:
            raise RuntimeError(error.decode())

    def pool(
        self,
        sizes: Sizes,
        dtype: str,
        features: int,
        rois: int,
        pooled: int,
        argmax: int | None = None,
        stream: int | None = None,
    ) -> None:
        """RoiPool, or RoiPoolInference where `argmax` is None."""
        self._pool(stream, DTYPES.index(dtype), sizes, features, rois, pooled, argmax)

    def scratch_bytes(self, sizes: Sizes) -> int:
        """How much memory `gradient` works in."""
        return self._scratch(sizes)

    def gradient(
        self,
        sizes: Sizes,
        dtype: str,
        gradient: int,
        argmax: int,
        rois: int,
        scratch: int,
        features: int,
        stream: int | None = None,
    ) -> None:
        """RoiPoolGrad. A scale of 0 in `sizes` stands for one that is not known."""
        self._grad(
            *(stream, DTYPES.index(dtype), sizes, gradient, argmax, rois),
            *(scratch, features),
        )

    def copy_to_host(
        self, on_device: int, on_host: int, size: int, stream: int | None = None
    ) -> None:
        """Copies `size` bytes and waits for the stream."""
        self._copy(stream, on_device, on_host, size)
