"""Pictures and tables of the chapter on the GPU, of what the kernels did on the host and what nvcc says of them."""

import ctypes
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from IPython.display import HTML
from pictures.figures import (
    BOLD,
    CODE,
    COLOURS,
    END,
    FITTING,
    LINE,
    MIDDLE,
    POINTED,
    SMALL,
    TIP,
    drawing,
    text,
)
from roi_pool_ctypes import HERE, Cuda, Launchers, Sizes, on_host

PIECE = 32  # bytes that a GPU reads at once


def box(
    x: float, y: float, width: float, height: float, colour: str = "", **style: object
) -> str:
    """A rectangle, filled with a light colour where one is given."""
    fill = f'fill="{colour}" fill-opacity="0.25"' if colour else 'fill="none"'
    more = " ".join(
        f'{name.replace("_", "-")}="{value}"' for name, value in style.items()
    )
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" '
        f'stroke="currentColor" {fill} {more}/>'
    )


def arrow(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}" {POINTED}/>'


def launched(
    library: Path, name: str, types: Sequence, *arguments: object
) -> list[tuple]:
    """Calls a launcher of a library for the host, on the default stream.

    Args:
      types: Of the arguments, as ctypes has them.

    Returns:
      The calls of the run time.

    Raises:
      RuntimeError: The launcher has returned an error.
    """
    cuda = Cuda(library)
    cuda.calls()
    launch = getattr(ctypes.CDLL(str(library)), name)
    launch.restype = ctypes.c_char_p
    launch.argtypes = [ctypes.c_void_p, *types]
    if error := launch(None, *arguments):
        raise RuntimeError(error.decode())
    return cuda.calls()


def add_one(library: Path, numbers: np.ndarray) -> list[tuple]:
    """Adds one to each number with AddOneLaunch: the calls of the run time."""
    types = ctypes.c_void_p, ctypes.c_int64
    return launched(library, "AddOneLaunch", types, numbers.ctypes.data, numbers.size)


def grid(library: Path, count: int, thread: int) -> HTML:
    """The blocks of a launch of AddOne, the numbers that each has, and those of one thread of each block."""
    [(_, blocks, threads, *_)] = add_one(library, np.zeros(count, np.float32))
    with Cuda(library).only_thread(thread):
        add_one(library, numbers := np.zeros(count, np.float32))
    [own] = np.nonzero(numbers)
    if own.tolist() != [*range(thread, count, threads)]:
        raise AssertionError(f"thread {thread} of each block has {own}")
    parts = [text(0, 14, f"grid: {blocks} blocks of {threads} threads each")]
    left, scale, high = 70, 1.1, 26
    for block in range(blocks):
        y, first = 28 + block * 54, block * threads
        busy = min(threads, count - first)
        parts += [
            text(0, y + 18, f"block {block}"),
            box(left, y, threads * scale, high, stroke_dasharray="4 3"),
            box(left, y, busy * scale, high, COLOURS[0]),
            text(left + 6, y + 18, f"{first}", SMALL),
            text(left + busy * scale - 6, y + 18, f"{first + busy - 1}", SMALL, END),
        ]
        if thread < busy:
            at = left + thread * scale
            parts += [
                f'<rect x="{at:g}" y="{y}" width="4" height="{high}" fill="{COLOURS[1]}"/>',
                text(
                    at + 2,
                    y + high + 14,
                    f"thread {thread}: number {own[block]}",
                    SMALL,
                    MIDDLE,
                ),
            ]
        if busy < threads:
            right = left + threads * scale
            parts.append(
                text(right, y + high + 14, f"{threads - busy} have none", SMALL, END)
            )
    label = (
        f"{count} numbers: {blocks} blocks of {threads} threads each. Thread {thread} of each block has the numbers "
        f"{', '.join(map(str, own))}."
    )
    return HTML(
        drawing(
            parts, left + threads * scale + 4, 28 + blocks * 54, label, style=FITTING
        )
    )


def call_path(library: Path, sizes: Sizes, arrays: Sequence[np.ndarray]) -> HTML:
    """What one call of RoiPool does on the host and on the GPU: the calls of CUDA's run time that were recorded."""
    cuda = Cuda(library)
    cuda.calls()
    Launchers(library).pool(sizes, "float32", *(array.ctypes.data for array in arrays))
    [(name, blocks, threads, *_)] = cuda.calls()
    if name != "launch":
        raise AssertionError(name)
    _, rois, pooled, argmax = arrays
    copied = np.empty_like(rois)
    Launchers(library).copy_to_host(rois.ctypes.data, copied.ctypes.data, rois.nbytes)
    copies = [name for name, *_ in cuda.calls()]
    if copies != ["cudaMemcpyAsync", "cudaStreamSynchronize"]:
        raise AssertionError(copies)
    host, device, wide = 4, 226, 190
    work = f"PoolKernel, {blocks} × {threads} threads"
    parts = [
        TIP,
        text(host + wide / 2, 16, "host: CPU, its memory", MIDDLE, BOLD),
        text(device + wide / 2, 16, "device: GPU, its memory", MIDDLE, BOLD),
        box(host, 26, wide, 190, rx=6),
        text(host + wide / 2, 46, "Compute", MIDDLE, BOLD),
        text(host + wide / 2, 72, "reads shapes and attrs,", MIDDLE, SMALL),
        text(host + wide / 2, 88, "not the numbers", MIDDLE, SMALL),
        text(host + wide / 2, 118, "allocates pooled, argmax:", MIDDLE, SMALL),
        text(
            host + wide / 2,
            134,
            f"{pooled.nbytes + argmax.nbytes:,} bytes there",
            MIDDLE,
            SMALL,
        ),
        text(host + wide / 2, 164, "launches PoolKernel", MIDDLE, SMALL),
        text(host + wide / 2, 200, "returns at once", MIDDLE, SMALL),
        box(device, 26, wide, 190, rx=6, stroke_dasharray="4 3"),
        text(device + wide / 2, 46, "TensorFlow's stream", MIDDLE, BOLD),
        box(device + 8, 60, wide - 16, 34),
        text(device + wide / 2, 81, "kernel of an op before", MIDDLE, SMALL),
        box(device + 8, 116, wide - 16, 34, COLOURS[0]),
        text(device + wide / 2, 137, work, MIDDLE, SMALL),
        box(device + 8, 172, wide - 16, 34),
        text(device + wide / 2, 193, "kernel of an op after", MIDDLE, SMALL),
        arrow(device + wide / 2, 94, device + wide / 2, 114),
        arrow(device + wide / 2, 150, device + wide / 2, 170),
        arrow(host + wide, 160, device + 6, 136),
    ]
    label = (
        "On the left the host: Compute reads shapes and attrs, allocates the outputs on the device, launches "
        "PoolKernel and returns at once. On the right the device: TensorFlow's stream, a queue, with the kernel of "
        f"an op before, PoolKernel in {blocks} blocks of {threads} threads, and the kernel of an op after."
    )
    return HTML(
        drawing(parts, device + wide + 4, 222, label, style=FITTING, font_size=13)
    )


def two_compilers() -> HTML:
    """The way of a call through the files, and the compiler and the headers that each file has.

    Raises:
      AssertionError: A file includes, defines or calls something else.
    """
    ours, cuda, between, launch, cmake = (
        (HERE / name).read_text()
        for name in (
            *("roi_pool_gpu.cc", "roi_pool.cu.cc", "roi_pool_gpu.h"),
            *("cuda_launch.h", "CMakeLists.txt"),
        )
    )
    tensorflow = r'#include "(?:absl|tensorflow|tsl)/'
    for code, has_tensorflow, has_cuda in (
        (ours, True, False),
        (cuda + launch, False, True),
        (between + (HERE / "roi_pool_geometry.h").read_text(), False, False),
    ):
        found = re.search(tensorflow, code), re.search(r"#include <cuda_", code)
        if tuple(map(bool, found)) != (has_tensorflow, has_cuda):
            raise AssertionError(found)
    for code, pattern in (
        (cmake, r"add_cuda_kernels\(roi_pool roi_pool_gpu\.cc roi_pool\.cu\.cc\)"),
        (ours, r"void Compute\((?s:.*)Launched\(RoiPoolLaunch\("),
        (between, r'extern "C" \{(?s:.*)const char\* RoiPoolLaunch\('),
        (cuda, r"__global__ void PoolKernel\((?s:.*)return Launch\((?s:.*)PoolKernel<"),
        (cuda, r'extern "C" const char\* RoiPoolLaunch\('),
        (launch, r"const char\* Launch\((?s:.*)<<<"),
    ):
        if not re.search(pattern, code):
            raise AssertionError(pattern)
    steps = [
        ("Compute", "roi_pool_gpu.cc", "on the CPU"),
        ("RoiPoolLaunch", "a C function", "on the CPU"),
        ("Launch", "cuda_launch.h", "on the CPU"),
        ("PoolKernel", "roi_pool.cu.cc", "on the GPU"),
    ]
    wide, high, step, top = 206, 40, 60, 2
    parts, right = [TIP], wide + 26
    for i, (name, file, where) in enumerate(steps):
        y = top + i * step
        parts += [
            box(2, y, wide, high, COLOURS[i > 0], rx=5),
            text(12, y + 17, name, BOLD, CODE),
            text(12, y + 33, file, SMALL),
            text(wide - 8, y + 33, where, SMALL, END),
        ]
        if i:
            parts.append(arrow(2 + wide / 2, y - step + high, 2 + wide / 2, y - 1))
    for first, last, words in (
        (0, 0, ("the C++ compiler,", "TensorFlow's headers")),
        (1, 3, ("nvcc,", "CUDA's headers")),
    ):
        begin, end = top + first * step, top + last * step + high
        middle = (begin + end) / 2
        parts += [
            f'<path d="M{wide + 10} {begin}h8V{end}h-8" {LINE}/>',
            text(right, middle - 3, words[0], SMALL),
            text(right, middle + 14, words[1], SMALL),
        ]
    label = (
        "Compute in roi_pool_gpu.cc, for the C++ compiler with TensorFlow's headers, calls the C function "
        "RoiPoolLaunch. This one, Launch in cuda_launch.h and PoolKernel in roi_pool.cu.cc are for nvcc with CUDA's "
        "headers. PoolKernel runs on the GPU, the others on the CPU."
    )
    height = top + 3 * step + high + 2
    return HTML(drawing(parts, right + 136, height, label, style=FITTING))


def _launch_each(
    library: Path, sizes: Sizes, arrays: Sequence[np.ndarray]
) -> list[tuple]:
    """Runs PoolEachLaunch of a library for the host.

    Args:
      arrays: features, rois, and the two outputs.

    Returns:
      The calls of the run time.
    """
    pointers = [ctypes.c_void_p] * len(arrays)
    types = [ctypes.POINTER(Sizes), *pointers]
    data = [array.ctypes.data for array in arrays]
    return launched(library, "PoolEachLaunch", types, sizes, *data)


def pool_each(
    features: np.ndarray, rois: np.ndarray, height: int, width: int
) -> list[np.ndarray]:
    """What PoolEach gives on the host, scale 1: both outputs."""
    shape = [len(rois), height, width, features.shape[3]]
    outputs = [np.empty(shape, np.float32), np.empty(shape, np.int32)]
    sizes = Sizes(*features.shape, len(rois), height, width, 1.0)
    _launch_each(on_host("roi_pool_each"), sizes, [features, rois, *outputs])
    return outputs


def channels_of_threads(
    library: Path, sizes: Sizes, arrays: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """The channels of the first bin that each of the 32 threads of the first warp writes."""
    cuda, found = Cuda(library), []
    features, rois, pooled, argmax = arrays
    for thread in range(32):
        written = np.full_like(pooled, np.nan)
        with cuda.only_thread(thread):
            _launch_each(library, sizes, [features, rois, written, argmax.copy()])
        found.append(np.nonzero(~np.isnan(written[0, 0, 0]))[0])
    return found


def pieces(addresses: np.ndarray) -> int:
    """Of how many pieces of memory these bytes are."""
    return len(np.unique(addresses // PIECE))


def neighbours(
    library: Path, sizes: Sizes, arrays: Sequence[np.ndarray]
) -> tuple[HTML, dict[str, int]]:
    """The bytes that a warp reads of a pixel, and those that it would read if each thread had a bin of its own."""
    of_threads = channels_of_threads(library, sizes, arrays)
    together = np.concatenate(of_threads)
    if together.tolist() != [*range(32)]:
        raise AssertionError(f"the threads of a warp read {together}")
    argmax = (
        arrays[3].ravel()[:: sizes.channels][:32].astype(np.int64)
    )  # where each bin has a pixel
    apart = argmax * sizes.channels * 4
    if apart.size != together.size:
        raise AssertionError(f"{apart.size} addresses")
    wide, high = 420, 24
    parts = [text(0, 14, "PoolEach: neighbours have neighbouring channels")]
    each = wide / 32
    for thread in range(32):
        parts.append(
            box(thread * each, 24, each, high, COLOURS[thread % 2], stroke_opacity=0.4)
        )
    share = of_threads[0].size * 4
    parts += [
        text(0, 64, f"thread 0: {share} bytes", SMALL),
        text(wide, 64, "thread 31", SMALL, END),
        text(0, 104, "A bin for each thread: they read all over the map"),
        box(0, 114, wide, high, stroke_opacity=0.4),
    ]
    most = int(sizes.height * sizes.width * sizes.channels * 4)
    for thread, address in enumerate(apart):
        x = address / most * wide
        parts.append(
            f'<rect x="{x:.1f}" y="114" width="2" height="{high}" fill="{COLOURS[thread % 2]}"/>'
        )
    parts += [
        text(0, 154, "byte 0 of the map", SMALL),
        text(wide, 154, f"byte {most:,}", SMALL, END),
    ]
    numbers = {
        "warp_bytes": int(together.size * 4),
        "warp_pieces": pieces(together * 4),
        "apart_pieces": pieces(apart),
        "apart_bytes": pieces(apart) * PIECE,
    }
    label = (
        f"Above, 32 threads read {share} neighbouring bytes each. Below, each of 32 threads reads at another place "
        "of the map."
    )
    return HTML(
        drawing(parts, wide + 2, 162, label, style=FITTING, font_size=13)
    ), numbers


def compiled(nvcc: str, name: str, arch: str = "sm_90") -> tuple[str, dict[str, int]]:
    """What nvcc makes of a source of kernels: the PTX, and the registers that a thread of each kernel takes."""
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(
            [
                *(nvcc, "-std=c++17", "-O3", "--fmad=false", f"-arch={arch}"),
                *("-Xptxas", "-v", "-cubin", "--keep", "--keep-dir", folder),
                *("-x", "cu", HERE / f"{name}.cu.cc", "-o", f"{folder}/kernels.cubin"),
            ],
            check=True,
            capture_output=True,
            text=True,
        )
        [ptx] = Path(folder).glob("*.ptx")
        said = run.stderr + run.stdout
        used = re.findall(
            r"Compiling entry function '(\w+)'(?s:.*?)Used (\d+) registers", said
        )
        return ptx.read_text(), {name: int(number) for name, number in used}


def loads_and_stores(ptx: str) -> Counter:
    """How often the PoolKernel for vectors of four floats has each instruction on the GPU's memory."""
    entry = re.search(r"\.entry \w*PoolKernelIfLi4ELb1.*?^}", ptx, re.M | re.S)
    return Counter(re.findall(r"(?:ld|st)\.global\S*", entry[0]))
