"""RoiPool's GPU kernels against torchvision's: `make bench-gpu`.

Needs a GPU, PyTorch and torchvision for CUDA, and either nvcc or a library that `make roi_pool CUDA=on` has built.
The kernels are called through their C launchers, in PyTorch's memory and stream, so TensorFlow is not needed, and
`make bench-gpu PYTHON=python` runs in an environment that has PyTorch and none of the book's packages.

The workloads are a-c of bench/roi_pool.py with eight images. torchvision gets its own layout, [batch, channels, height,
width]. Before anything is timed, results are compared: values and argmax bit for bit, gradients within rounding, since
torchvision adds them in any order. Then, in each round, every way runs in turn, timed by CUDA events. Ratios are taken
within a round; the table, bench/roi_pool_gpu.csv, has their medians and quartiles.
"""

import argparse
import dataclasses
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from measure import gpu_and_driver, heading, quartiles, write
from roi_pool_workloads import WORKLOADS, Workload

ROOT = Path(__file__).parents[1]
RESULT = ROOT / "bench" / "roi_pool_gpu.csv"
sys.path[:0] = [str(ROOT / "examples" / name) for name in ("common", "roi_pool")]

from cuda_on_host import find_nvcc  # noqa: E402
from roi_pool_ctypes import HERE, Launchers, Sizes, build_for_gpu  # noqa: E402

BATCH = 8
GOALS = {("with argmax", "RoiPool"): ">= 1.5", ("gradient", "RoiPool"): ">= 1.5"}


def fail(message: str) -> None:
    sys.exit(f"make bench-gpu: {message}")


def import_torch() -> object:
    """PyTorch with torchvision and a GPU. Exits with one line where something is missing."""
    if not gpu_and_driver():
        fail("no GPU: nvidia-smi finds none")
    try:
        import torch
        import torchvision  # noqa: F401
    except ImportError as error:
        fail(
            f"{error}: {sys.executable} -m pip install torch torchvision, "
            "or choose a Python that has them: make bench-gpu PYTHON=python"
        )
    if not torch.cuda.is_available():
        fail(f"no GPU: PyTorch {torch.__version__} finds none")
    return torch


def launchers() -> Launchers:
    """The kernels: compiled for this GPU where there is an nvcc, else those of the example's library."""
    nvcc = find_nvcc()
    library = HERE / "libroi_pool.so"
    if nvcc:
        library = ROOT / "build" / "bench" / "libroi_pool_gpu.so"
        library.parent.mkdir(parents=True, exist_ok=True)
        build_for_gpu(library, nvcc)
    elif not library.exists() or b"__cudaRegisterFatBinary" not in library.read_bytes():
        fail("no nvcc, and libroi_pool.so has no CUDA code: make roi_pool CUDA=on")
    return Launchers(library)


def scaled(workload: Workload) -> Workload:
    """The workload with eight images, and as many regions in each."""
    rois = workload.num_rois * BATCH // workload.batch
    return dataclasses.replace(workload, batch=BATCH, num_rois=rois)


def ways(torch, library: Launchers, work: Workload) -> dict[str, dict]:
    """For each task, RoiPool and torchvision as functions without arguments, and the bytes that must be moved.

    Exits where the two do not agree.
    """
    features = torch.from_numpy(work.features()).cuda()
    rois = torch.from_numpy(work.rois()).cuda()
    gradient = torch.from_numpy(work.gradient()).cuda()
    pooled, argmax = torch.empty_like(gradient), torch.empty_like(gradient).int()
    back = torch.empty_like(features)
    theirs, their_gradient = (
        tensor.permute(0, 3, 1, 2).contiguous() for tensor in (features, gradient)
    )
    shape = features.shape
    sizes = Sizes(*shape, work.num_rois, work.pooled, work.pooled, work.scale)
    scratch = torch.empty(library.scratch_bytes(sizes), dtype=torch.int8).cuda()
    stream = torch.cuda.current_stream().cuda_stream

    # The functions hold the tensors, not their addresses alone, or PyTorch would reuse the memory.
    def with_argmax() -> None:
        library.pool(
            *(sizes, "float32", features.data_ptr(), rois.data_ptr()),
            *(pooled.data_ptr(), argmax.data_ptr(), stream),
        )

    def without_argmax() -> None:
        library.pool(
            *(sizes, "float32", features.data_ptr(), rois.data_ptr()),
            pooled.data_ptr(),
            stream=stream,
        )

    def backward() -> None:
        library.gradient(
            *(sizes, "float32", gradient.data_ptr(), argmax.data_ptr()),
            *(rois.data_ptr(), scratch.data_ptr(), back.data_ptr(), stream),
        )

    def their_forward() -> tuple:
        return torch.ops.torchvision.roi_pool(
            theirs, rois, work.scale, work.pooled, work.pooled
        )

    with_argmax()
    their_pooled, their_argmax = their_forward()

    def their_backward() -> object:
        return torch.ops.torchvision._roi_pool_backward(
            *(their_gradient, rois, their_argmax, work.scale, work.pooled),
            *(work.pooled, shape[0], shape[3], shape[1], shape[2]),
        )

    backward()
    first = back.clone()
    backward()
    theirs_back = their_backward().permute(0, 2, 3, 1)
    expected = pooled.clone()
    without_argmax()
    agreed = {
        "pooled": torch.equal(expected, their_pooled.permute(0, 2, 3, 1)),
        "argmax": torch.equal(argmax, their_argmax.permute(0, 2, 3, 1)),
        "gradient": torch.allclose(back, theirs_back, rtol=1e-4, atol=1e-4),
        "second gradient": torch.equal(back, first),
        "pooled without argmax": torch.equal(pooled, expected),
    }
    if wrong := [name for name, good in agreed.items() if not good]:
        fail(f"{work}: differs from what it should be: {', '.join(wrong)}")

    (read, _), written = work.read_bytes(), work.pooled_bytes()
    return {
        "with argmax": {
            "ways": {"RoiPool": with_argmax, "torchvision": their_forward},
            "bytes": read + 2 * written,
        },
        "without argmax": {
            "ways": {"RoiPool": without_argmax, "torchvision": their_forward},
            "bytes": read + written,
        },
        "gradient": {
            "ways": {"RoiPool": backward, "torchvision": their_backward},
            "bytes": 2 * written + features.nbytes,
        },
    }


def milliseconds(torch, run: Callable, calls: int) -> float:
    """The mean time of a call on the GPU."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    run()
    start.record()
    for _ in range(calls):
        run()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / calls


def copy_bandwidth(torch, rounds: int, calls: int) -> float:
    """Bytes read and written in a second by a copy of 1 GiB from the GPU's memory to the GPU's memory."""
    source = torch.empty(1 << 30, dtype=torch.int8).cuda()
    target = torch.empty_like(source)
    times = [
        milliseconds(torch, lambda: target.copy_(source), calls) for _ in range(rounds)
    ]
    return 2 * source.nbytes / quartiles(times)[0] * 1e3


def measure(torch, library: Launchers, rounds: int, calls: int, copy: float) -> list:
    """The rows of the table."""
    rows = []
    for name in "abc":
        for task, todo in ways(torch, library, scaled(WORKLOADS[name])).items():
            times = {way: [] for way in todo["ways"]}
            for i in range(rounds):
                order = list(todo["ways"].items())
                for way, run in order[:: 1 if i % 2 else -1]:
                    times[way].append(milliseconds(torch, run, calls))
            for way, taken in times.items():
                pairs = zip(times["torchvision"], taken)
                ratio = quartiles([theirs / own for theirs, own in pairs])
                median = quartiles(taken)[0]
                bandwidth = todo["bytes"] / median * 1e3
                rows.append(
                    {
                        "workload": name,
                        "task": task,
                        "threads": "all",
                        "way": way,
                        "milliseconds": f"{median:.4f}",
                        "ratio": f"{ratio[0]:.2f}",
                        "q1": f"{ratio[1]:.2f}",
                        "q3": f"{ratio[2]:.2f}",
                        "goal": GOALS.get((task, way), ""),
                        "GB/s": f"{bandwidth / 1e9:.0f}",
                        "share of copy": f"{bandwidth / copy:.2f}",
                    }
                )
                print(*rows[-1].values(), sep="\t", flush=True)
        torch.cuda.empty_cache()
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=41)
    parser.add_argument("--calls", type=int, default=20, help="in a round, of each")
    parser.add_argument("--output", type=Path, default=RESULT)
    options = parser.parse_args()
    torch = import_torch()
    library = launchers()
    copy = copy_bandwidth(torch, options.rounds, options.calls)
    gpu = torch.cuda.get_device_properties(0)
    notes = [
        f"{BATCH} images; milliseconds: the median of the rounds",
        "ratio: torchvision's time by that of the way, in the same round, with median, q1 and q3",
        "share of copy: bytes that must be read and written, by the time, by the rate of a copy in the GPU's memory, "
        f"{copy / 1e9:.0f} GB/s",
    ]
    lines = heading(
        f"make bench-gpu (--rounds {options.rounds} --calls {options.calls})",
        ["torch", "torchvision", "tensorflow"],
        notes,
        f"{gpu.name}, CUDA {torch.version.cuda} of PyTorch",
    )
    write(
        options.output,
        lines,
        measure(torch, library, options.rounds, options.calls, copy),
    )


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        fail("interrupted")
    except (RuntimeError, subprocess.CalledProcessError) as error:
        fail(str(error).splitlines()[0])
