"""The launchers of rms_norm.cu.cc without TensorFlow and without a GPU."""

import ctypes
from pathlib import Path

import numpy as np
from cuda_on_host import Cuda, on_host
from gpu_reference import rms_norm_reference

HERE = Path(__file__).parent


class OnHost:
    """The kernels of a source, such as "rms_norm", built for the host when it or a header has changed.

    Args:
      source: Its name, or the library that was built from it.
    """

    def __init__(self, source: str | Path) -> None:
        if isinstance(source, str):
            source = on_host(HERE / f"{source}.cu.cc")
        self._functions = ctypes.CDLL(str(source))
        self.cuda = Cuda(source)

    def _launch(self, name: str, *arrays: np.ndarray, epsilon: float) -> np.ndarray:
        rows, columns = arrays[0].shape
        result = np.full(arrays[0].shape, np.nan, np.float32)
        launch = getattr(self._functions, name)
        launch.restype = ctypes.c_char_p
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
        sizes = ctypes.c_int64(rows), ctypes.c_int64(columns), ctypes.c_float(epsilon)
        to = ctypes.c_void_p(result.ctypes.data)
        if error := launch(None, *pointers, *sizes, to):
            raise RuntimeError(error.decode())
        return result

    def rms_norm(self, x: np.ndarray, epsilon: float = 1e-6) -> np.ndarray:
        """What RmsNormLaunch gives for a matrix; RuntimeError where it returns an error."""
        return self._launch("RmsNormLaunch", x, epsilon=epsilon)

    def rms_norm_grad(
        self, x: np.ndarray, grad: np.ndarray, epsilon: float = 1e-6
    ) -> np.ndarray:
        """What RmsNormGradLaunch gives for two matrices."""
        return self._launch("RmsNormGradLaunch", x, grad, epsilon=epsilon)


def is_norm(kernels: OnHost, x: np.ndarray) -> bool:
    """Whether RmsNormLaunch is right, with the threads of a block in either order."""
    found = [kernels.rms_norm(x)]
    with kernels.cuda.backwards():
        found.append(kernels.rms_norm(x))
    return all(np.allclose(y, rms_norm_reference(x), rtol=1e-5) for y in found)
