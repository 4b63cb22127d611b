"""The launchers of roi_pool.cu.cc without TensorFlow, built for the host or in a library, called through ctypes."""

import ctypes
import subprocess
from pathlib import Path

import cuda_on_host

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


def on_host(name: str) -> Path:
    """The library of a source of kernels, such as "roi_pool", built for the host when it or a header has changed."""
    return cuda_on_host.on_host(HERE / f"{name}.cu.cc")


def ptx(
    nvcc: str = "nvcc", arch: str = "compute_75", source: str = "roi_pool.cu.cc"
) -> str:
    """What nvcc makes of the kernels of a source, before a driver or nvcc makes machine code of that.

    Raises:
      subprocess.CalledProcessError: The compiler failed.
    """
    flags = ["-std=c++17", "-O3", "--fmad=false", f"-arch={arch}", "-x", "cu"]
    command = [nvcc, *flags, "-ptx", HERE / source, "-o", "-"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class Launchers:
    """The C functions of a library, with errors raised.

    Pointers are integers, to memory of the device: on the host, `array.ctypes.data`; of a PyTorch
    tensor, `tensor.data_ptr()`. `dtype` is one of DTYPES, `stream` a cudaStream_t as an integer.
    """

    def __init__(self, library: Path) -> None:
        functions = ctypes.CDLL(str(library))
        pointer, sizes = ctypes.c_void_p, ctypes.POINTER(Sizes)
        self._pool = functions.RoiPoolLaunch
        self._pool.argtypes = [pointer, ctypes.c_int, sizes, *[pointer] * 5]
        self._grad = functions.RoiPoolGradLaunch
        self._grad.argtypes = [pointer, ctypes.c_int, sizes, *[pointer] * 5]
        self._copy = functions.RoiPoolCopyToHost
        self._copy.argtypes = [pointer, pointer, pointer, ctypes.c_int64]
        self._scratch = functions.RoiPoolGradScratch
        self._scratch.argtypes, self._scratch.restype = [sizes], ctypes.c_int64
        self._pool_scratch = functions.RoiPoolScratch
        self._pool_scratch.argtypes = [ctypes.c_int, sizes]
        self._pool_scratch.restype = ctypes.c_int64
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
        scratch: int | None = None,
        stream: int | None = None,
    ) -> None:
        """RoiPool, or RoiPoolInference where `argmax` is None; without windows where `scratch` is None."""
        self._pool(
            *(stream, DTYPES.index(dtype), sizes, features, rois),
            *(scratch, pooled, argmax),
        )

    def pool_scratch_bytes(self, sizes: Sizes, dtype: str) -> int:
        """How much memory `pool` works in."""
        return self._pool_scratch(DTYPES.index(dtype), sizes)

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
