"""The pictures of the chapter on the GPU: what kernels did on the host and what nvcc says of them."""

import ctypes
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from cuda_on_host import Cuda
from IPython.display import HTML
from measured import read
from pictures.drawing import (
    COLOURS,
    ORANGE,
    Shape,
    bar,
    bold,
    code,
    line,
    picture,
    rectangle,
    small,
    space,
)
from pictures.layout import arrow, at, box, column, ends, layers, row
from roi_pool_ctypes import HERE, Launchers, Sizes, on_host

PIECE = 32  # bytes that a GPU reads at once
# What the tests of an example are about.
UNDER = {
    "nothing": "`RoiPool`, [`PsRoiAlign`](ps_roi_align.md), [`StochasticRound`](stochastic_rounding.md), and a "
    "[sketch](sketch.md) that is copied to the GPU and back",
    "memcheck": "the launchers, `memcheck`: memory outside of an array",
    "initcheck": "`initcheck`: memory that nobody has written",
    "racecheck": "`racecheck`: races in shared memory",
    "synccheck": "`synccheck`: threads that wait wrongly",
}


def figures() -> dict[str, object]:
    """Of the tables that a GPU has made: their dates, the GPU, and the least quartiles of the ratios."""
    times, tests = read("roi_pool_gpu"), read("gpu_tests")
    gradient = times.where(way="RoiPool", task="gradient")
    forward = [row for row in times.where(way="RoiPool") if row not in gradient]
    return {
        "tested": tests.value("date"),
        "measured": times.value("date"),
        "of_them": times.value("machine").split(", ")[2],
        "forward": min(float(row["q1"]) for row in forward),
        "gradient": min(float(row["q1"]) for row in gradient),
    }


def tests_on_a_gpu() -> list[tuple[str, ...]]:
    """What was tested under which tool, and how many tests passed and failed, and the errors that the tool found."""
    return [
        (
            UNDER[row["under"]],
            row["passed"],
            row["failed"],
            row["errors"] or "no tool ran",
        )
        for row in read("gpu_tests").rows
    ]


def example() -> tuple[Sizes, list[np.ndarray]]:
    """The call of the page's test: its sizes, and its features, regions and outputs."""
    features = np.random.default_rng(0).normal(size=(1, 38, 50, 256))
    rois = np.float32([[0, 0, 0, 31, 18], [0, 18, 2, 49, 36], [0, 3, 13, 29, 37]])
    shape = 3, 3, 4, 256
    outputs = np.empty(shape, np.float32), np.empty(shape, np.int32)
    sizes = Sizes(*features.shape, len(rois), 3, 4, 1.0)
    return sizes, [features.astype(np.float32), rois, *outputs]


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


def grid(count: int, thread: int) -> HTML:
    """The blocks of a launch of AddOne, the numbers that each has, and those of one thread of each block."""
    library = on_host("add_one")
    [(_, blocks, threads, *_)] = add_one(library, np.zeros(count, np.float32))
    with Cuda(library).only_thread(thread):
        add_one(library, numbers := np.zeros(count, np.float32))
    [own] = np.nonzero(numbers)
    shapes, scale, high = [], 1.1, 26
    for block in range(blocks):
        y, first = block * 54, block * threads
        busy = min(threads, count - first)
        shapes += [
            at(-12, y + high / 2, f"block {block}", "e"),
            at(0, y, rectangle(threads * scale, high, dashed=True)),
            at(0, y, rectangle(busy * scale, high, 0.25)),
            at(6, y + high / 2, small(f"{first}"), "w"),
            at(busy * scale - 6, y + high / 2, small(f"{first + busy - 1}"), "e"),
        ]
        if thread < busy:
            x = thread * scale
            shapes.append(at(x, y, bar(4, high, 1, ORANGE)))
            shapes.append(
                at(x, y + high + 2, small(f"thread {thread}: number {own[block]}"), "n")
            )
        if busy < threads:
            shapes.append(
                at(
                    threads * scale,
                    y + high + 2,
                    small(f"{threads - busy} have none"),
                    "ne",
                )
            )
    heading = f"grid: {blocks} blocks of {threads} threads each"
    label = (
        f"{count} numbers: {blocks} blocks of {threads} threads each. Thread {thread} of each block has the numbers "
        f"{', '.join(map(str, own))}."
    )
    return picture(column(heading, layers(*shapes)), label)


def call_path() -> HTML:
    """What one call of RoiPool does on the host and on the GPU: the calls of CUDA's run time that were recorded."""
    library = on_host("roi_pool")
    sizes, arrays = example()
    cuda = Cuda(library)
    cuda.calls()
    Launchers(library).pool(sizes, "float32", *(array.ctypes.data for array in arrays))
    [(_, blocks, threads, *_)] = cuda.calls()
    *_, pooled, argmax = arrays
    compute = box(
        column(
            bold("Compute"),
            small("reads shapes and attrs,\nnot the numbers"),
            small(
                f"allocates pooled, argmax:\n{pooled.nbytes + argmax.nbytes:,} bytes there"
            ),
            small("launches PoolKernel"),
            small("returns at once"),
            gap=14,
            align="middle",
        ),
        width=190,
        height=206,
    )
    queue = [
        box(small(name), shade, width=190, height=34, corner=0)
        for name, shade in (
            ("kernel of an op before", 0),
            (f"PoolKernel, {blocks} × {threads} threads", 0.25),
            ("kernel of an op after", 0),
        )
    ]
    inside = column(
        bold("TensorFlow's stream"), column(*queue, gap=24), gap=12, align="middle"
    )
    stream = box(inside, height=206, dashed=True)
    shapes = layers(
        row(
            column(bold("host: CPU, its memory"), compute, align="middle"),
            column(bold("device: GPU, its memory"), stream, align="middle"),
            gap=36,
        ),
        *(arrow(*pair) for pair in pairwise(queue)),
        arrow(compute, queue[1], shift=(30, 0)),
    )
    label = (
        "On the left the host: Compute reads shapes and attrs, allocates the outputs on the device, launches "
        "PoolKernel and returns at once. On the right the device: TensorFlow's stream, a queue, with the kernel of "
        f"an op before, PoolKernel in {blocks} blocks of {threads} threads, and the kernel of an op after."
    )
    return picture(shapes, label)


def two_compilers() -> HTML:
    """The way of a call through the files, and the compiler and the headers that each file has."""
    for_nvcc = (HERE / "roi_pool.cu.cc").read_text() + (
        HERE.parent / "common" / "cuda_launch.h"
    ).read_text()
    if re.search(r'#include "(?:absl|tensorflow|tsl)/', for_nvcc):
        raise ValueError("nvcc gets a header of TensorFlow's")
    steps = [
        ("Compute", "roi_pool_gpu.cc", "on the CPU"),
        ("RoiPoolLaunch", "a C function", "on the CPU"),
        ("Launch", "cuda_launch.h", "on the CPU"),
        ("PoolKernel", "roi_pool.cu.cc", "on the GPU"),
    ]
    boxes = []
    for i, (name, file, where) in enumerate(steps):
        inside = code(name, bold=True), ends(190, small(file), small(where))
        boxes.append(box(inside, 0.25, COLOURS[i > 0], pad=4, align="start"))
    brackets = column(
        row(bracket(40), small("the C++ compiler,\nTensorFlow's headers")),
        row(bracket(160), small("nvcc,\nCUDA's headers")),
        gap=20,
    )
    shapes = row(column(*boxes, gap=20), brackets)
    label = (
        "Compute in roi_pool_gpu.cc, for the C++ compiler with TensorFlow's headers, calls the C function "
        "RoiPoolLaunch. This one, Launch in cuda_launch.h and PoolKernel in roi_pool.cu.cc are for nvcc with CUDA's "
        "headers. PoolKernel runs on the GPU, the others on the CPU."
    )
    return picture(layers(shapes, *(arrow(*pair) for pair in pairwise(boxes))), label)


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


def neighbours() -> HTML:
    """The bytes that a warp reads of a pixel, and those that it would read if each thread had a bin of its own."""
    library = on_host("roi_pool_each")
    sizes, arrays = example()
    _launch_each(library, sizes, arrays)
    of_threads = channels_of_threads(library, sizes, arrays)
    together = np.concatenate(of_threads)
    # Where each bin has a pixel.
    argmax = arrays[3].ravel()[:: sizes.channels][:32].astype(np.int64)
    apart = argmax * sizes.channels * 4
    if together.tolist() != [*range(32)] or apart.size != 32:
        raise ValueError(f"the threads of a warp read {together}, and {apart}")
    wide, high = 420, 24
    most = int(sizes.height * sizes.width * sizes.channels * 4)
    share = of_threads[0].size * 4
    look = {"stroke_opacity": 0.4}
    one = [rectangle(wide / 32, high, 0.25, COLOURS[i % 2], **look) for i in range(32)]
    each = [
        at(x / most * wide, 0, bar(2, high, 1, COLOURS[i % 2]))
        for i, x in enumerate(apart)
    ]
    shapes = column(
        "PoolEach: neighbours have neighbouring channels",
        row(*one, gap=0),
        ends(wide, small(f"thread 0: {share} bytes"), small("thread 31")),
        space(0, 8),
        "A bin for each thread: they read all over the map",
        layers(rectangle(wide, high, **look), *each),
        ends(wide, small("byte 0 of the map"), small(f"byte {most:,}")),
    )
    label = (
        f"Above, 32 threads read {share} neighbouring bytes each, in {pieces(together * 4)} pieces. Below, each of 32 "
        f"threads reads at another place of the map, in {pieces(apart)} pieces."
    )
    return picture(shapes, label)


def bracket(height: float) -> Shape:
    return line((0, 0), (8, 0), (8, height), (0, height))
