"""The pictures of the chapter on the GPU: what kernels did on the host."""

import ctypes
import re
from collections.abc import Callable
from itertools import pairwise

import numpy as np
from cuda_on_host import Cuda, on_host
from gpu_reference import rms_norm_reference
from IPython.display import HTML
from measured import Table, read
from pictures.drawing import bar, bold, picture, rectangle, small, space
from pictures.layout import arrow, at, box, column, ends, flow, layers, row, table
from rms_norm_on_host import HERE, OnHost

PIECE = 32  # bytes that a GPU reads at once
SIZES = "16384 x 4096", "256 x 1024"
WAYS = {
    "RmsNorm": "our op",
    "kernel alone, a thread for each row": "a thread for each row, launched without TensorFlow",
    "composition": "TensorFlow's functions",
    "composition, tf.function": "the same in a `tf.function`",
    "composition, XLA": "the same under XLA",
    "PyTorch": "PyTorch's `rms_norm`",
    "PyTorch, torch.compile": "the same under `torch.compile`",
}


def forward_of(ops: Table, way: str, size: str) -> float:
    """Milliseconds of one call of RmsNorm on a GPU."""
    case = {"op": "RmsNorm", "workload": size, "task": "forward", "way": way}
    return ops.number("milliseconds", **case)


def forward(ops: Table) -> list[tuple[str, ...]]:
    """How long one call of RmsNorm takes on a GPU, written in several ways, for two sizes."""
    return [
        (name, *(f"{1e3 * forward_of(ops, way, size):,.0f} µs" for size in SIZES))
        for way, name in WAYS.items()
    ]


def gains(ops: Table) -> dict[str, float]:
    """What the text says of that table."""
    case = {"op": "RmsNorm", "task": "forward"}
    case["way"] = "kernel alone, a thread for each row"
    large, small = SIZES
    rows, columns = map(int, small.split(" x "))
    [rate] = re.findall(r"(\d+) GB/s", ops.value("share of copy"))
    return {
        "blocks": ops.number(workload=large, **case),
        "blocks_least": ops.number("q1", workload=small, **case),
        "blocks_most": ops.number("q3", workload=small, **case),
        "megabytes": 2 * rows * columns * 4 / 1e6,
        "copied": 2 * rows * columns * 4 / float(rate) / 1e3,
    }


def checked() -> list[tuple[str, ...]]:
    """RmsNorm's tests under each tool: how many passed and failed, and the errors that it found."""
    return [
        (f"`{row['under']}`", row["passed"], row["failed"], row["errors"])
        for row in read("gpu_tests").rows
        if row["tests"].startswith("examples/gpu/rms_norm_test.py")
    ]


def long_row() -> dict[str, float]:
    """By how many percent a row of a million numbers is wrong: with one sum in float32, and of a block."""
    x = np.random.default_rng(0).normal(size=(1, 10**6)).astype(np.float32)
    right = rms_norm_reference(x.astype(float))
    one_sum = np.cumsum(x * x, dtype=np.float32)[-1]
    found = {
        "one_sum": x / np.sqrt(one_sum / np.float32(x.size) + np.float32(1e-6)),
        "parts": OnHost("rms_norm").rms_norm(x),
    }
    wrong = {name: abs(y / right - 1) for name, y in found.items()}
    return {name: float(f"{100 * x.max():.1g}") for name, x in wrong.items()}


def some(rows: int, columns: int) -> np.ndarray:
    """A matrix for RmsNorm."""
    return np.random.default_rng(0).normal(size=(rows, columns)).astype(np.float32)


def softsign_on_host() -> tuple[Cuda, Callable[[np.ndarray], np.ndarray]]:
    """CUDA's run time of SoftsignLaunch, and what it gives for floats."""
    library = on_host(HERE / "softsign.cu.cc")
    launch = ctypes.CDLL(str(library)).SoftsignLaunch
    launch.restype = ctypes.c_char_p

    def run(x: np.ndarray) -> np.ndarray:
        y = np.full_like(x, np.nan)
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in (x, y)]
        if error := launch(None, pointers[0], ctypes.c_int64(x.size), pointers[1]):
            raise RuntimeError(error.decode())
        return y

    return Cuda(library), run


def launch_of(cuda: Cuda, run: Callable, x: np.ndarray) -> tuple[int, int]:
    """The blocks of a launch, and the threads of each."""
    cuda.calls()
    run(x)
    [(_, blocks, threads, *_)] = cuda.calls()
    return blocks, threads


def own(cuda: Cuda, run: Callable, x: np.ndarray, thread: int) -> np.ndarray:
    """The numbers of the output, counted through, that one thread of each block writes."""
    run(x)
    with cuda.only_thread(thread):
        y = run(x)
    return np.flatnonzero(~np.isnan(y))


def grid(count: int, thread: int) -> HTML:
    """The blocks of a launch of Softsign, the elements that each has, and those of one thread of each block."""
    on_host, x = softsign_on_host(), some(count, 1)
    blocks, threads = launch_of(*on_host, x)
    elements = own(*on_host, x, thread)
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
            text = small(f"thread {thread}: element {elements[block]}")
            shapes.append(at(x, y, bar(4, high, 1, "orange")))
            shapes.append(at(x, y + high + 2, text, "n"))
        if busy < threads:
            text = small(f"{threads - busy} have none")
            shapes.append(at(threads * scale, y + high + 2, text, "ne"))
    label = (
        f"{count} elements: {blocks} blocks of {threads} threads each. Thread {thread} of each block has the elements "
        f"{', '.join(map(str, elements))}."
    )
    return picture(layers(*shapes), label)


def call_path(x: np.ndarray) -> HTML:
    """What one call of Softsign does on the host and on the GPU: the calls of CUDA's run time that were recorded."""
    blocks, threads = launch_of(*softsign_on_host(), x)
    steps = [
        "reads the shape,\nnot the numbers",
        f"allocates y:\n{x.nbytes:,} bytes there",
        "launches SoftsignKernel",
        "returns at once",
    ]
    inside = column(bold("Compute"), *map(small, steps), gap=14, align="middle")
    compute = box(inside, width=190, height=206)
    own = f"SoftsignKernel, {blocks} × {threads} threads"
    queue = [
        box(small(name), 0.25 * (name == own), width=220, height=34, corner=0)
        for name in ("kernel of an op before", own, "kernel of an op after")
    ]
    inside = column(bold("TensorFlow's stream"), flow(*queue), gap=12, align="middle")
    stream = box(inside, height=206, dashed=True)
    host = column(bold("host: CPU, its memory"), compute, align="middle")
    device = column(bold("device: GPU, its memory"), stream, align="middle")
    launch = arrow(compute, queue[1], shift=(30, 0))
    shapes = layers(row(host, device, gap=36), launch)
    label = (
        "On the left the host: Compute reads the shape, allocates the output on the device, launches "
        "SoftsignKernel and returns at once. On the right the device: TensorFlow's stream, a queue, with the kernel of "
        f"an op before, SoftsignKernel in {blocks} blocks of {threads} threads, and the kernel of an op after."
    )
    return picture(shapes, label)


def pieces(numbers: np.ndarray) -> int:
    """In how many pieces of memory these floats lie."""
    return len(np.unique(numbers * 4 // PIECE))


def neighbours(columns: int) -> HTML:
    """The numbers that the threads of a warp read first: with a row for each thread, and with a row for the block."""
    x = some(32, columns)
    expected = np.arange(32)

    def first_of(name: str, x: np.ndarray) -> np.ndarray:
        way = OnHost(name)
        return np.array([own(way.cuda, way.rms_norm, x, i)[0] for i in expected])

    each, block = first_of("rms_norm_each", x), first_of("rms_norm", x[:1])
    if any(block != expected) or any(each != columns * expected):
        raise ValueError(f"the threads of a warp read {each}, and {block}")
    wide, high = 420, 24
    look, byte = {"stroke_opacity": 0.4}, wide / (32 * columns * 4)
    one = [rectangle(wide / 32, high, 0.25, i % 2, **look) for i in range(32)]
    apart = [at(4 * i * byte, 0, bar(2, high, 1, n % 2)) for n, i in enumerate(each)]
    first, second = (small("byte 0: thread 0") for _ in "12")
    shapes = column(
        f"RmsNormEach, a row for each thread: {pieces(each)} pieces",
        layers(rectangle(wide, high, **look), *apart),
        ends(wide, first, small(f"thread 31: byte {4 * each[31]:,}")),
        space(0, 8),
        f"RmsNormKernel, a row for the block: {pieces(block)} pieces",
        row(*one, gap=0),
        ends(wide, second, small("thread 31: byte 124")),
    )
    label = (
        f"Above, 32 threads read in 32 rows, in {pieces(each)} pieces of memory. Below, they read 32 neighbouring "
        f"numbers, in {pieces(block)} pieces."
    )
    return picture(shapes, label)


def tree(numbers: list[int]) -> HTML:
    """The sums of a block with so many threads, after each wait: what BlockSum does, with fewer threads."""
    steps = [numbers]
    while (half := len(steps[-1]) // 2) > 0:
        now = steps[-1]
        steps.append([now[i] + now[i + half] for i in range(half)])
    boxes = [
        [box(small(f"{n}"), 0.25, i > 0, width=40, height=24) for n in step]
        for i, step in enumerate(steps)
    ]
    names = ["sums", *(f"half = {len(step)}" for step in steps[1:])]
    rows = [(small(name), row(*step, gap=6)) for name, step in zip(names, boxes)]
    arrows = [
        arrow(each, below[i % len(below)])
        for above, below in pairwise(boxes)
        for i, each in enumerate(above)
    ]
    label = f"{len(numbers)} sums are halved until one is left: {steps[-1][0]}."
    shapes = layers(table(rows, (14, 38), ("end", "start")), *arrows)
    return picture(shapes, label)
