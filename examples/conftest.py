"""What the examples' tests share."""

import ctypes
import mmap
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import forkserver
from multiprocessing.context import BaseContext
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
# TensorFlow's own ops have other bits and errors on a GPU, and processes start slowly: tests see those alone that
# GPUS_OF_TESTS names.
os.environ["CUDA_VISIBLE_DEVICES"] = os.environ.get("GPUS_OF_TESTS", "-1")
# Several processes share a GPU: each takes no more of its memory than it needs.
os.environ.setdefault("TF_FORCE_GPU_ALLOW_GROWTH", "true")

sys.path.insert(0, str(Path(__file__).with_name("common")))  # op_library and others

import cuda_on_host  # noqa: E402
import forked  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402

from opcheck import tolerance  # noqa: E402

if TYPE_CHECKING:
    import tensorflow

collect_ignore = [
    "template"
]  # of which `make new` makes examples, and a test tries one


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "gpu: needs a GPU")
    config.addinivalue_line("markers", "slow: takes long, and seldom fails")
    config.addinivalue_line("markers", "xdist_group(name): one worker runs them all")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes the fixture `gpu`, and opcheck's check of devices, has the marker of this name."""
    for item in items:
        case = getattr(getattr(item, "callspec", None), "params", {})
        checked = case.get("check_name") == "devices"
        if checked or "gpu" in getattr(item, "fixturenames", ()):
            item.add_marker("gpu")


@pytest.fixture(scope="session")
def tf() -> ModuleType:
    """TensorFlow. The process that hands out the tests to others need not import it."""
    import tensorflow

    return tensorflow


@pytest.fixture(params=["eager", "tf.function"])
def mode(request: pytest.FixtureRequest, tf: ModuleType) -> Callable:
    """Wraps a function so that it runs eagerly, or traced: each test that takes it runs twice."""
    return (
        tf.function(autograph=False)
        if request.param == "tf.function"
        else lambda function: function
    )


@pytest.fixture(autouse=True)
def tolerances_fit(monkeypatch: pytest.MonkeyPatch, tf: ModuleType) -> None:
    """`assert_allclose` refuses what is wider than 300 times the error, and 3 times what opcheck allows for the dtype.

    Derivatives that are estimated from differences have half the digits.
    """
    assert_allclose = np.testing.assert_allclose
    compute_gradient = tf.test.compute_gradient
    digits = 1.0

    def estimated(*arguments, **options):
        nonlocal digits
        digits = 0.5
        return compute_gradient(*arguments, **options)

    def checked(actual, desired, rtol=1e-7, atol=0, **options):
        if np.__version__ < "2":  # which knows no strict
            if options.pop("strict", False):
                assert np.shape(actual) == np.shape(desired)
                assert np.asarray(actual).dtype == np.asarray(desired).dtype
        assert_allclose(actual, desired, rtol, atol, **options)
        arrays = np.broadcast_arrays(actual, desired)
        usual = 3 * max(max(tolerance(x.dtype)) for x in arrays) or 3e-10
        both = np.stack([x.astype(float) for x in arrays])
        actual, desired = both[:, np.isfinite(both).all(axis=0)]
        largest = abs(both[np.isfinite(both)]).max(initial=0)
        error = abs(actual - desired)
        allowed = atol + rtol * abs(desired)
        too_wide = np.any(allowed > usual**digits * largest)
        if largest and too_wide and np.all(300 * error <= allowed):
            pytest.fail(
                f"rtol={rtol:g}, atol={atol:g} is wide for errors up to {error.max(initial=0):g} "
                f"of numbers up to {largest:g}"
            )

    monkeypatch.setattr(np.testing, "assert_allclose", checked)
    monkeypatch.setattr(tf.test, "compute_gradient", estimated)


@pytest.fixture(autouse=True)
def on_the_cpu(tf: ModuleType) -> Iterator[None]:
    """Ops run on the CPU, where tests see a GPU too."""
    if not tf.config.list_physical_devices("GPU"):
        yield
        return
    with tf.device("CPU:0"):
        yield


@pytest.fixture
def gpu(request: pytest.FixtureRequest, tf: ModuleType) -> Iterator[None]:
    """A scope whose ops run on the GPU or fail: soft placement would move them to the CPU.

    Tests that take it are skipped where they see no GPU, or no CUDA code in the libraries beside the test.
    """
    if not tf.config.list_physical_devices("GPU"):
        pytest.skip("sees no GPU: GPUS_OF_TESTS=0 shows it one")
    libraries = request.path.parent.glob("lib*.so")
    if not any(b"__cudaRegisterFatBinary" in path.read_bytes() for path in libraries):
        pytest.skip("built without CUDA")
    soft = tf.config.get_soft_device_placement()
    tf.config.set_soft_device_placement(False)
    with tf.device("GPU:0"):
        yield
    tf.config.set_soft_device_placement(soft)


@pytest.fixture(scope="module")
def on_host(request: pytest.FixtureRequest, tf: ModuleType) -> object:
    """What the example's kernels of the GPU call: built for the host, and registered with the label on_host."""
    tests = request.path.name.removesuffix("_test.py").removesuffix("_gpu")
    source = request.path.with_name(f"{tests}_gpu.cc")
    kernels = source.with_name(source.name.replace("_gpu.cc", ".cu.cc"))
    library = cuda_on_host.on_host(kernels)
    tf.load_library(str(cuda_on_host.ops_on_host(source, library)))
    return cuda_on_host.Cuda(library)


@pytest.fixture
def host_memory_args(on_host: object) -> Callable[[str], list[list[str]]]:
    """What the op's kernels of the GPU, on the host, want in the host's memory: a list for each kernel."""
    from tensorflow.python.framework import kernels as registry

    def args(op: str) -> list[list[str]]:
        return [
            list(kernel.host_memory_arg)
            for kernel in registry.get_registered_kernels_for_op(op).kernel
            if (kernel.device_type, kernel.label) == ("GPU", "on_host")
        ]

    return args


@pytest.fixture
def before_a_guard_page(
    tf: ModuleType,
) -> Callable[[np.ndarray], "tensorflow.Tensor"]:
    """Makes tensors whose memory ends where no more can be read: a kernel that reads beyond them dies."""
    libc = ctypes.CDLL(None)
    libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]

    def make(array: np.ndarray) -> "tensorflow.Tensor":
        assert array.nbytes % 64 == 0, "TensorFlow's kernels take aligned memory"
        size = -(-array.nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
        memory = np.frombuffer(mmap.mmap(-1, size + mmap.PAGESIZE), np.uint8)
        assert libc.mprotect(memory.ctypes.data + size, mmap.PAGESIZE, 0) == 0
        # NumPy has no capsule for bfloat16, so the bytes travel.
        placed = memory[size - array.nbytes : size]
        placed[:] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        shared = tf.experimental.dlpack.from_dlpack(placed.__dlpack__())
        words = tf.reshape(shared, [*array.shape, array.dtype.itemsize])
        return tf.bitcast(words, array.dtype)

    return make


@pytest.fixture(scope="session")
def cpp_gradient() -> Callable:
    """How gradients in C++ are asked for, from the chapter on them."""
    sys.path.append(str(Path(__file__).with_name("cc_gradients")))
    reason = "needs `make cc_gradients`"
    module = pytest.importorskip("cc_gradients", reason=reason, exc_type=ImportError)
    return module.cpp_gradient


@pytest.fixture
def same_gradient_in_cpp(cpp_gradient, tf: ModuleType) -> Callable:
    """Asserts that a function of some inputs has the gradient in C++ that a tape finds in Python."""

    def check(function, inputs) -> None:
        with tf.GradientTape() as tape:
            tape.watch(inputs := list(map(tf.constant, inputs)))
            output = function(*inputs)
            grad = tf.random.stateless_normal(output.shape, [0, 1], dtype=output.dtype)
            loss = tf.reduce_sum(grad * output)
        in_python = tape.gradient(loss, inputs)
        in_cpp = cpp_gradient(function, inputs, [grad])
        for expected, gradient in zip(in_python, in_cpp, strict=True):
            np.testing.assert_allclose(gradient, expected, rtol=1e-12)

    return check


@pytest.fixture
def in_process() -> Callable[..., str]:
    """Runs Python code in a process of its own, which can import what the test can, and returns what it prints.

    What is given by name becomes a variable of its environment, and it is no fork then. It sees no GPU.
    """

    def run(code: str, *arguments: str, **settings: str) -> str:
        run = forked.run(code, *arguments, **settings)
        assert run.returncode == 0, run.stderr[-2000:]
        return run.stdout

    return run


WITH_THREADS = """
import importlib, sys
import tensorflow as tf
threads, module, name = sys.argv[1:]
tf.config.threading.set_intra_op_parallelism_threads(int(threads))
print(getattr(importlib.import_module(module), name)())
"""


@pytest.fixture(scope="session")
def forks() -> BaseContext:
    """Makes forks of a process that has imported TensorFlow, has run no op, and sees no GPU."""
    context = forked.forks()
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("CUDA_VISIBLE_DEVICES", "")
        forkserver.ensure_running()
    return context


@pytest.fixture
def with_threads(
    forks: BaseContext, in_process: Callable[..., str], tf: ModuleType
) -> Callable:
    """Calls a test file's function in a process of its own, in which kernels have so many threads.

    What the function returns comes back as text, for example a digest of the results.
    """

    def call(threads: int, function: Callable) -> str:
        if "LD_PRELOAD" in os.environ:  # of a sanitizer, which may not know forks
            names = [function.__module__, function.__name__]
            return in_process(WITH_THREADS, str(threads), *names).strip()
        prepare = tf.config.threading.set_intra_op_parallelism_threads
        with ProcessPoolExecutor(1, forks, prepare, [threads]) as pool:
            return str(pool.submit(function).result())

    return call


@pytest.fixture
def in_cpp(request: pytest.FixtureRequest) -> Callable[..., str]:
    """Runs tests in C++ by their names, all without one: of the program that is called like the file of the test."""
    program = request.path.with_suffix("")
    if not program.exists():
        advice = (
            f"{program.name} is not built, for want of GoogleTest: "
            "sudo apt-get install libgtest-dev, then make examples"
        )
        (pytest.fail if os.environ.get("CI") else pytest.skip)(advice)

    def run(tests: str = "*") -> str:
        run = subprocess.run(
            [program, f"--gtest_filter={tests}"], capture_output=True, text=True
        )
        assert run.returncode == 0, run.stdout
        return run.stdout

    return run
