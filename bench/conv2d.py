"""How long OpByOp>Conv2D and its gradients take, beside TensorFlow's own kernels, with oneDNN as it comes and without.

`python bench/conv2d.py` prints the figures and writes them to conv2d.csv beside this file. TensorFlow reads its setting
once, so each setting has a process of its own for each number of threads; the processes take turns, and all but one are
stopped. The op is compiled again so that it does not see what newer processors have.
"""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from compiler import BUILD, can, compiled, compiled_ops
from measure import (
    command_line,
    cores,
    heading_of,
    mean_time,
    timed_turns,
    write,
)
from processes import Process

from opcheck import function_of

SOURCE = Path(__file__).parents[1] / "examples" / "conv2d" / "conv2d.cc"
ONEDNN, KERNEL = "TF_ENABLE_ONEDNN_OPTS", "TENSORFLOW_USE_CUSTOM_CONTRACTION_KERNEL"
# From a way to the variables of its process.
SETTINGS = {
    "TensorFlow": {},
    "TensorFlow, oneDNN off": {ONEDNN: "0"},
    "TensorFlow, Eigen alone": {ONEDNN: "0", KERNEL: "0"},
}
FIRST = "TensorFlow"  # its process runs our ways, too
BASE = "ours"
# From a way to what its kernel is told of each set of instructions, and to what the processor must have for it.
VARIANTS = {
    # True of "avx2" and "fma", not of "avx512f".
    "ours, without AVX-512": ("sizeof(x) < 6", "avx512f"),
    "ours, without AVX2": ("false", "avx2"),
}
VARIANTS = {way: says for way, (says, word) in VARIANTS.items() if can(word)}
# The simple kernels of the chapter, for one task. The first has no padding: its images have their zeros already.
HEADER = "one expression, TensorFlow's header"
SIMPLE = {
    "naive im2col": "naive_conv2d",
    "one expression": "eigen_conv2d",
    HEADER: "header_conv2d",
}
SIMPLE_CASE = ("result", "3 × 3")
# As in cmake/SimdPaths.cmake and the example's CMakeLists.txt.
PATHS = {
    "baseline": [],
    "avx2": ["-mavx2", "-mfma"],
    "avx512": ["-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl"],
}
# Shapes of x and of the filter, and the stride, all with padding SAME.
TASKS = {
    "3 × 3": ([4, 28, 28, 64], [3, 3, 64, 64], 1),
    "3 × 3, stride 2": ([4, 28, 28, 64], [3, 3, 64, 64], 2),
    "1 × 1": ([4, 28, 28, 64], [1, 1, 64, 256], 1),
    "7 × 7, 3 channels": ([4, 56, 56, 3], [7, 7, 3, 64], 2),
}
# From what is computed to TensorFlow's op, and the names of its inputs.
OPS = {
    "result": ("Conv2D", ["input", "filter"]),
    "for x": ("Conv2DBackpropInput", ["input_sizes", "filter", "out_backprop"]),
    "for the filter": (
        "Conv2DBackpropFilter",
        ["input", "filter_sizes", "out_backprop"],
    ),
}
TOGETHER = "with both gradients"  # the three in one graph
CASES = [*product([*OPS, TOGETHER], TASKS)]

# From a number of threads and a way to the process that has both.
Places = dict[tuple[int, str], Process]


def ways_of(setting: str) -> list[str]:
    """Those of the process with this setting."""
    if setting != FIRST:
        return [setting]
    return ["ours", *VARIANTS, *SIMPLE, setting]


def exists(way: str, *case: str) -> bool:
    return way not in SIMPLE or case == SIMPLE_CASE


def namespace(way: str) -> str:
    """That of the ops of one of our ways: no two libraries have the same."""
    return "OpByOp" if way == "ours" else re.sub(r"\W", "", way.title())


def library_of(way: str) -> Path:
    """The example's library, or that of a variant, compiled unless that was done before."""
    if way == "ours":
        return SOURCE.with_name("libconv2d.so")  # its module has the name of this file
    if way == HEADER:
        return with_header()
    if way in SIMPLE:
        return SOURCE.with_name("libconv2d_im2col.so")
    text = SOURCE.read_text().replace("OpByOp>", f"{namespace(way)}>")
    copy = written(f"conv2d_{namespace(way)}", text)
    says = f"-D__builtin_cpu_supports(x)=({VARIANTS[way]})"
    options = [says, f"-I{SOURCE.parent}", "-Wl,-rpath,$ORIGIN"]
    headers = [SOURCE.with_name("conv2d_multiply.h")]
    return compiled_ops(copy.stem, copy, [*options, *map(str, multipliers())], headers)


def written(name: str, text: str) -> Path:
    """A source in build/bench, which is new only if its text is."""
    path = BUILD / f"{name}.cc"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
    return path


def with_header() -> Path:
    """The simple kernels with TensorFlow's header that teaches Eigen's products to read patches."""
    text = SOURCE.with_name("conv2d_im2col.cc").read_text()
    for name in ("NaiveConv2D", "EigenPatches", "EigenConv2D"):
        text = text.replace(
            name, name.replace("Eigen", "Header").replace("Naive", "HeaderNaive")
        )
    copy = written("conv2d_header", text)
    header = "xla/tsl/framework/convolution/eigen_spatial_convolutions.h"
    return compiled_ops(copy.stem, copy, ["-DEIGEN_USE_THREADS", "-include", header])


def multipliers() -> list[Path]:
    """The product, compiled for each kind of processor."""
    source, header = (SOURCE.with_name(f"conv2d_multiply.{end}") for end in ("cc", "h"))
    return [
        compiled(
            f"conv2d_{path}",
            source,
            ["-std=c++17", f"-DOP_BY_OP_PATH={path}", *flags],
            [header],
        )
        for path, flags in PATHS.items()
    ]


class Worker:
    """Runs convolutions in a process with some settings.

    Args:
      setting: One of `SETTINGS`; the process of the first has our ops, too.
      threads: How many threads a kernel may use.
    """

    def __init__(self, setting: str, threads: int) -> None:
        os.environ.pop(ONEDNN, None)
        os.environ |= SETTINGS[setting]
        import tensorflow as tf

        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(1)
        ours = [way for way in ways_of(setting) if way != setting]
        self.ours = {way: tf.load_op_library(str(library_of(way))) for way in ours}
        self.tf, self.runs = tf, {}

    def onednn(self) -> str:
        """Whether TensorFlow's ops are replaced by oneDNN's in this process."""
        from tensorflow.python.framework.test_util import IsMklEnabled

        return "on" if IsMklEnabled() else "off"

    def call(self, op: str, way: str, stride: int) -> Callable:
        """One of the ops of a way, as a function of its inputs."""
        name, inputs = OPS[op]
        if way == "naive im2col":
            return self.ours[way].naive_conv2d
        if way in SIMPLE:
            simple = getattr(self.ours[way], SIMPLE[way])
            return partial(simple, stride=stride, padding="SAME")
        if way in self.ours:
            ours = getattr(self.ours[way], function_of(f"{namespace(way)}>{name}"))
            return partial(ours, strides=[stride] * 2, padding="SAME")
        stock, strides = getattr(self.tf.raw_ops, name), [1, stride, stride, 1]

        def call(*tensors):
            named = dict(zip(inputs, tensors))
            return stock(**named, strides=strides, padding="SAME")

        return call

    def made(self, op: str, task: str, way: str) -> Callable:
        """A traced function of no arguments, for one case."""
        from turns import traced

        tf, random = self.tf, np.random.default_rng(0)
        x_shape, filter_shape, stride = TASKS[task]
        rows, columns = (-(-size // stride) for size in x_shape[1:3])
        shapes = x_shape, filter_shape, [x_shape[0], rows, columns, filter_shape[3]]
        # The tensors are arguments: of constants, the result would be computed once.
        x, filter, dy = (
            tf.constant(random.normal(size=shape), tf.float32) for shape in shapes
        )
        sizes = tf.constant(x_shape), tf.constant(filter_shape)
        given = {
            "result": [x, filter],
            "for x": [sizes[0], filter, dy],
            "for the filter": [x, sizes[1], dy],
        }
        calls = {name: self.call(name, way, stride) for name in OPS}
        if way == "naive im2col":
            given[op] = [tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]]), filter]
        if op != TOGETHER:
            return traced(calls[op], *given[op])

        def step(x, filter, dy):
            return [
                calls["result"](x, filter),
                calls["for x"](sizes[0], filter, dy),
                calls["for the filter"](x, sizes[1], dy),
            ]

        return traced(step, x, filter, dy)

    def result(self, *case: str) -> list[np.ndarray]:
        """Of a case: what is computed, the task, and the way."""
        if case not in self.runs:
            self.runs[case] = self.made(*case)
        return [tensor.numpy() for tensor in self.runs[case]()]

    def seconds(self, span: float, *case: str) -> float:
        """Of one call, of as many as about fit into the span; the case has had its result."""
        return mean_time(self.runs[case], span)


def said(setting: str) -> str:
    """What oneDNN says that it did for the results, by an option of its own, in a process with this setting."""
    script = f"""
import conv2d
worker = conv2d.Worker({setting!r}, 1)
for task in conv2d.TASKS:
    worker.result("result", task, {setting!r})
"""
    output = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"CUDA_VISIBLE_DEVICES": "", "ONEDNN_VERBOSE": "1"},
        cwd=Path(__file__).parent,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    found = re.findall(r",exec,cpu,(\w+),([^,]*),", output)
    words = (" ".join(pair).strip() for pair in found if pair[0] != "reorder")
    return ", ".join(dict.fromkeys(words)) or "nothing"


def check(places: Places, threads: int) -> None:
    """All ways give about the same."""
    for case in CASES:
        expected = places[threads, BASE].call("result", *case, BASE)
        for (number, way), process in places.items():
            if number != threads or not exists(way, *case):
                continue
            found = process.call("result", *case, way)
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_allclose(one, other, atol=1e-5 * abs(other).max())


def notes() -> Iterator[str]:
    """Lines above the table. What is measured is compiled and started here: the load has been noted."""
    yield "times of a call in a tf.function, float32, default memory: the median of the rounds"
    yield "with both gradients: the result and both gradients in one tf.function"
    yield "oneDNN: whether TensorFlow uses oneDNN's ops: by default, the processor decides"
    for setting, variables in SETTINGS.items():
        words = [f"{name}={value}" for name, value in variables.items()]
        yield f"variables of {setting}: {' '.join(words) or 'none'}"
    yield "ours, without: the kernel is told that the processor has no such instructions"
    yield "naive im2col: of images whose zeros were added before"
    yield f"ratio: to the time of {BASE} in the same round, with median, q1 and q3"
    with ThreadPoolExecutor() as pool:
        for way in (*VARIANTS, HEADER):
            library_of(way)
        for setting, answer in zip(SETTINGS, pool.map(said, SETTINGS)):
            yield f"oneDNN's part in {setting}: {answer}"


def measure(places: Places, rounds: int, span: float) -> list[dict]:
    """The rows of the table."""
    rows = []
    onednn = {key: place.call("onednn") for key, place in places.items()}
    for threads, (op, task) in product(dict.fromkeys(n for n, _ in places), CASES):
        timed = {
            way: partial(place.call, "seconds", span, op, task, way)
            for (number, way), place in places.items()
            if number == threads and exists(way, op, task)
        }
        case = {"threads": threads, "op": op, "task": task}
        for row in timed_turns(case, timed, rounds):
            way = row["way"]
            setting = onednn[threads, way] if way in SETTINGS else "not used"
            if way == FIRST:
                setting += ", default"
            rows.append(row | {"oneDNN": setting})
    return rows


def main() -> None:
    options = command_line(__file__, __doc__, rounds=15, span=0.017).parse_args()
    places, counts = {}, sorted({1, cores()})
    for threads, setting in product(counts, SETTINGS):
        process = Process(Worker, setting, threads)
        places |= {(threads, way): process for way in ways_of(setting)}
    first_lines = heading_of(__file__, options, notes())
    for threads in counts:
        check(places, threads)
    write(options.output, first_lines, measure(places, options.rounds, options.span))
    print(options.output.read_text(), end="")


if __name__ == "__main__":
    main()
