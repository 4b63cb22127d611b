"""The book's ops as TensorFlow calls them on a GPU, against what one would take instead: `python bench/gpu_ops.py`.

Needs a GPU, TensorFlow for it, PyTorch and torchvision for CUDA, nvcc, and the libraries that `make gpu roi_pool
CUDA=on` builds.

Every way is a call from Python that allocates its result; the clock runs over many calls and until the GPU has done
them. Before anything is timed, results are compared. Then, in each round, every way runs in turn, and ratios are taken
within a round. Writes bench/gpu_ops.csv.
"""

import ctypes
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from measure import (
    command_line,
    gpu_and_driver,
    heading_of,
    timed_turns,
    write,
)
from roi_pool_workloads import WORKLOADS, Workload, scaled

ROOT = Path(__file__).parents[1]
EXAMPLES = ("common", "gpu", "roi_pool")
sys.path[:0] = [str(ROOT / "examples" / name) for name in EXAMPLES]

GPU = gpu_and_driver()
try:
    import tensorflow as tf

    for device in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(device, True)

    import torch
    import torchvision  # noqa: F401
except ImportError as error:
    sys.exit(
        f"make bench-gpu: {error}: make bench-gpu PYTHON=python for a Python that has it"
    )

from cuda_on_host import find_nvcc  # noqa: E402
from rms_norm import rms_norm  # noqa: E402
from roi_pool import roi_pool, roi_pool_grad  # noqa: E402
from roi_pool_ctypes import Sizes  # noqa: E402
from turns import compiled_by_xla  # noqa: E402

ROWS = {"16384 x 4096": (16384, 4096), "256 x 1024": (256, 1024)}
EPSILON = 1e-6
EACH = ROOT / "examples" / "roi_pool" / "roi_pool_each.cu.cc"


def to_torch(array: np.ndarray) -> torch.Tensor:
    """NHWC to torchvision's layout, on the GPU."""
    return torch.from_numpy(array).cuda().permute(0, 3, 1, 2).contiguous()


def built(source: Path, *flags: str) -> ctypes.CDLL:
    """The kernels of a source, compiled for this GPU."""
    library = ROOT / "build" / "bench" / f"lib{source.stem}_gpu.so"
    library.parent.mkdir(parents=True, exist_ok=True)
    command = [find_nvcc() or "nvcc", "-std=c++17", "-O3", "-arch=native", "-shared"]
    flags = ["-Xcompiler", "-fPIC", "--fmad=false", *flags, "-x", "cu"]
    subprocess.run([*command, *flags, source, "-o", library], check=True)
    return ctypes.CDLL(str(library))


def norm_alone(source: str) -> Callable:
    """The launcher of RmsNorm's kernels in a source, on PyTorch's memory."""
    launch = built(ROOT / "examples" / "gpu" / f"{source}.cu.cc").RmsNormLaunch
    launch.restype = ctypes.c_char_p
    pointer, size = ctypes.c_void_p, ctypes.c_int64
    launch.argtypes = [pointer, pointer, size, size, ctypes.c_float, pointer]

    def run(x: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(x)
        stream = torch.cuda.current_stream().cuda_stream
        if error := launch(stream, x.data_ptr(), *x.shape, EPSILON, y.data_ptr()):
            raise RuntimeError(error.decode())
        return y

    return run


def composition(x: tf.Tensor) -> tf.Tensor:
    return x * tf.math.rsqrt(tf.reduce_mean(x * x, -1, keepdims=True) + EPSILON)


def rms_norm_ways(shape: tuple[int, int]) -> dict[str, tuple[dict, int]]:
    """For each task, the ways, and the bytes that must be read and written."""
    values = np.random.default_rng(0).standard_normal(shape, np.float32)
    x, theirs = tf.constant(values), torch.from_numpy(values).cuda()
    compiled = tf.function(composition, autograph=False)
    fused = compiled_by_xla(composition)
    in_block, in_thread = map(norm_alone, ("rms_norm", "rms_norm_each"))

    def torch_norm(x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.rms_norm(x, x.shape[-1:], eps=EPSILON)

    torch_compiled = torch.compile(torch_norm)

    forward = {
        "RmsNorm": lambda: rms_norm(x, EPSILON),
        "composition": lambda: composition(x),
        "composition, tf.function": lambda: compiled(x),
        "composition, XLA": lambda: fused(x),
        "PyTorch": lambda: torch_norm(theirs),
        "PyTorch, torch.compile": lambda: torch_compiled(theirs),
        "kernel alone, a block for each row": lambda: in_block(theirs),
        "kernel alone, a thread for each row": lambda: in_thread(theirs),
    }
    return {"forward": (forward, 2 * values.nbytes)}


def in_32_bits(source: Path) -> Path:
    """The kernel of a thread for each number, with divisions of 32 bits in place of 64."""
    text = source.read_text()
    for field in ("channels", "pooled_width", "pooled_height"):
        text = text.replace(f"sizes.{field}", f"int32_t(sizes.{field})")
    text = text.replace("int64_t c =", "int32_t c =").replace(
        "int64_t row =", "int32_t row ="
    )
    text = text.replace("int64_t i = int64_t{", "int32_t i = int32_t{")
    for header in ("../common/cuda_launch.h", "roi_pool_geometry.h"):
        text = text.replace(f'"{header}"', f'"{source.parent / header}"')
    copy = ROOT / "build" / "bench" / "roi_pool_each_32.cu.cc"
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(text.replace("int32_t{blockIdx.x}", "int32_t(blockIdx.x)"))
    return copy


def each_alone(source: Path, work: Workload) -> Callable:
    """RoiPool's first kernel, a thread for each number, on PyTorch's memory."""
    launch = built(source).PoolEachLaunch
    launch.restype = ctypes.c_char_p
    features, rois = (
        torch.from_numpy(array).cuda() for array in (work.features(), work.rois())
    )
    sizes = Sizes(*features.shape, work.num_rois, work.pooled, work.pooled, work.scale)
    shape = work.num_rois, work.pooled, work.pooled, work.channels

    def run() -> torch.Tensor:
        pooled = torch.empty(shape, device="cuda")
        argmax = torch.empty(shape, device="cuda", dtype=torch.int32)
        tensors = features, rois, pooled, argmax
        pointers = [ctypes.c_void_p(tensor.data_ptr()) for tensor in tensors]
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        if error := launch(stream, ctypes.byref(sizes), *pointers):
            raise RuntimeError(error.decode())
        return pooled.permute(0, 3, 1, 2)

    return run


def roi_pool_ways(work: Workload) -> dict[str, tuple[dict, int]]:
    features, gradient = work.features(), work.gradient()
    ours, rois, grad = map(tf.constant, (features, work.rois(), gradient))
    theirs, their_grad = map(to_torch, (features, gradient))
    their_rois = torch.from_numpy(work.rois()).cuda()
    sizes = work.pooled, work.pooled
    op = torch.ops.torchvision
    argmax = roi_pool(ours, rois, *sizes, work.scale)[1]
    their_argmax = op.roi_pool(theirs, their_rois, work.scale, *sizes)[1]
    shape = tf.constant(features.shape)
    forward = {
        "RoiPool": lambda: roi_pool(ours, rois, *sizes, work.scale)[0],
        "torchvision": lambda: op.roi_pool(theirs, their_rois, work.scale, *sizes)[0],
        "kernel alone, a thread for each number": each_alone(EACH, work),
        "the same, with 32-bit divisions": each_alone(in_32_bits(EACH), work),
    }
    back = {
        "RoiPoolGrad": lambda: roi_pool_grad(
            gradient=grad,
            argmax=argmax,
            rois=rois,
            feature_shape=shape,
            spatial_scale=work.scale,
        ),
        "torchvision": lambda: op._roi_pool_backward(
            *(their_grad, their_rois, their_argmax, work.scale, *sizes, *theirs.shape)
        ),
    }
    (read, _), written = work.read_bytes(), work.pooled_bytes()
    return {
        "with argmax": (forward, read + 2 * written),
        "gradient": (back, 2 * written + features.nbytes),
    }


def as_array(result: object) -> np.ndarray:
    """A result in our layout."""
    if isinstance(result, tuple):
        result = result[-1]
    if isinstance(result, torch.Tensor):
        array = result.detach().cpu().numpy()
        return array.transpose(0, 2, 3, 1) if array.ndim == 4 else array
    return result.numpy()


def checked(name: tuple[str, ...], ways: dict[str, Callable]) -> dict[str, Callable]:
    """The ways that run here. Says which do not, and exits where two do not agree."""
    results = {}
    for way, run in ways.items():
        try:
            results[way] = as_array(run())
        except Exception as error:  # of two frameworks and their compilers
            print(*name, way, "does not run:", str(error)[:300], flush=True)
    first = [*results][0]
    expected = results[first]
    for way, found in results.items():
        if not np.allclose(expected, found, rtol=1e-3, atol=1e-3):
            difference = np.abs(expected - found).max()
            sys.exit(f"bench/gpu_ops.py: {name}: {way} and {first}: {difference}")
    return {way: ways[way] for way in results}


def seconds(run: Callable, calls: int) -> float:
    """The mean time of a call."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(calls):
        run()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / calls


def paced(run: Callable, span: float) -> Callable[[], float]:
    """Times as many calls as take about so many seconds."""
    calls = max(3, min(500, round(span / seconds(run, 5))))
    return lambda: seconds(run, calls)


def copy_bandwidth() -> float:
    """Bytes read and written in a second by a copy of 1 GiB from the GPU's memory to the GPU's memory."""
    source = torch.empty(1 << 30, dtype=torch.int8).cuda()
    target = torch.empty_like(source)
    seconds(lambda: target.copy_(source), 3)
    times = [seconds(lambda: target.copy_(source), 20) for _ in range(9)]
    return 2 * source.nbytes / float(np.median(times))


def main() -> None:
    options = command_line(__file__, __doc__, rounds=15, span=0.03).parse_args()
    copy = copy_bandwidth()
    todo = {("RmsNorm", name): (rms_norm_ways, shape) for name, shape in ROWS.items()}
    for batch in (1, 8):
        for name in "abc":
            work = scaled(WORKLOADS[name], batch)
            todo["RoiPool", f"{name}, batch {batch}"] = roi_pool_ways, work
    rows = []
    for (op, workload), (make, argument) in todo.items():
        for task, (ways, size) in make(argument).items():
            ways = checked((op, workload, task), ways)
            timed = {way: paced(run, options.span) for way, run in ways.items()}
            case = {"op": op, "workload": workload, "task": task}
            for row in timed_turns(case, timed, options.rounds):
                rate = size / float(row["milliseconds"]) * 1e3
                row["share of copy"] = f"{rate / copy:.2f}"
                print(*row.values(), sep="\t", flush=True)
                rows.append(row)
        torch.cuda.empty_cache()
    notes = [
        "milliseconds: a call from Python with its result's allocation, the median of the rounds",
        "ratio: to the first way of the task, in the same round, with median, q1 and q3",
        "share of copy: bytes that must be read and written, by the time, by the rate of a copy in the GPU's memory, "
        f"{copy / 1e9:.0f} GB/s",
        *(
            f"{op} {name}: {work}"
            for (op, name), (_, work) in todo.items()
            if isinstance(work, Workload)
        ),
    ]
    packages = ["tensorflow", "torch", "torchvision"]
    lines = heading_of(__file__, options, notes, packages, GPU)
    write(options.output, lines, rows)


if __name__ == "__main__":
    main()
