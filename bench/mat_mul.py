"""How many operations in a second a product of matrices makes: by loops, by Eigen, and by TensorFlow.

TensorFlow's settings: as it comes, with its custom oneDNN ops switched off, and with Eigen alone. Each setting and each
number of threads has a process of its own, and all others are stopped while one is timed. The peak is what a loop of
fused multiply-adds reaches whose numbers stay in the registers, bench/peak.cc.
"""

import ctypes
import re
import time
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import prologue  # noqa: F401  before TensorFlow
from compiler import NEWER, can, compiled, compiled_op
from measure import command_line, cores, heading_of, in_turns, ratios, write
from processes import Process

SIZES = 32, 64, 128, 256, 496, 512, 528, 1024, 1040
BASE = "tf.matmul"
# From a process to the variables of its environment, and to its ways.
OFF = {"TF_ENABLE_ONEDNN_OPTS": "0"}
SETTINGS = {
    "default": {},
    "custom ops off": OFF,
    "Eigen alone": OFF | {"TENSORFLOW_USE_CUSTOM_CONTRACTION_KERNEL": "0"},
}
VARIANTS = [f"for {processor}" for processor in NEWER if can(*NEWER[processor])]
WAYS = {
    "default": ["elements", "rows", "tiles", "OpByOp>MatMul", *VARIANTS, BASE, "peak"],
    "custom ops off": ["tf.matmul, custom ops off"],
    "Eigen alone": ["tf.matmul, Eigen alone"],
}
ONE_THREAD = "elements", "rows", "tiles"


def variant(way: str) -> Callable:
    """The contraction of our op, compiled for a newer processor."""
    words = NEWER[way.removeprefix("for ")]
    name = "MatMul" + re.sub(r"\W", "", way.title())  # in C++
    options = [f"-m{word}" for word in words]
    return compiled_op(name, Path(__file__).with_suffix(".cc"), options)


class Worker:
    """Multiplies matrices in its process."""

    def __init__(self, setting: str, threads: int) -> None:
        import os

        os.environ.pop("TF_ENABLE_ONEDNN_OPTS", None)
        os.environ |= SETTINGS[setting]
        import tensorflow as tf

        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(1)
        self.tf, self.threads = tf, threads
        self.ways = {way: tf.matmul for way in WAYS[setting]}
        if setting != "default":
            return
        from mat_mul import loop_mat_mul, mat_mul

        self.ways["OpByOp>MatMul"] = mat_mul
        for order in ONE_THREAD:
            self.ways[order] = lambda a, b, order=order: loop_mat_mul(a, b, order)
        for way in VARIANTS:
            self.ways[way] = variant(way)
        source = Path(__file__).with_name("peak.cc")
        library = compiled("peak", source, ["-march=native", "-pthread"])
        self.peak = ctypes.CDLL(str(library)).peak
        self.peak.restype = ctypes.c_double
        self.peak.argtypes = [ctypes.c_int, ctypes.c_long]

    def prepare(self, size: int) -> list[str]:
        """Makes two matrices; all ways have to give the same, which is called to warm up, too."""
        from mat_mul_reference import mat_mul_reference

        random = np.random.default_rng(0)
        self.inputs = [
            self.tf.constant(random.normal(size=[size, size]), self.tf.float32)
            for _ in "ab"
        ]
        expected = mat_mul_reference(*(x.numpy() for x in self.inputs))
        chosen = [
            way for way in self.ways if self.threads == 1 or way not in ONE_THREAD
        ]
        for way in chosen:
            if way != "peak":
                product = self.ways[way](*self.inputs)
                np.testing.assert_allclose(product, expected, rtol=0, atol=size * 1e-5)
        return chosen

    def seconds(self, way: str, size: int, span: float) -> tuple[float, float]:
        """The median of the seconds of a call, and the shortest."""
        if way == "peak":
            best = max(self.peak(self.threads, 500_000) for _ in range(8))
            return (2e-9 * size**3 / best,) * 2
        run, times, start = self.ways[way], [], time.perf_counter()
        clock = time.process_time if self.threads == 1 else time.perf_counter
        while not times or time.perf_counter() - start < span:
            begin = clock()
            run(*self.inputs)
            times.append(clock() - begin)
        return float(np.median(times)), min(times)


def measure(size: int, workers: dict, rounds: int, span: float) -> list[dict]:
    """The rows of a size: all ways in all processes, in turn."""
    timed = {
        (threads, way): partial(one.call, "seconds", way, size, span)
        for (_, threads), one in workers.items()
        for way in one.call("prepare", size)
    }
    times, rows = in_turns(timed, rounds), []
    # Found in each round: the median of the calls, and the shortest.
    for (threads, way), found in times.items():
        rate = 2e-9 * size**3 / found[:, 1].min()
        row = {"size": size, "threads": threads, "way": way, "gflops": f"{rate:.3f}"}
        rows.append(row | ratios(found[:, 0], times[threads, BASE][:, 0]))
    return rows


def main() -> None:
    notes = [
        "gflops: 10^9 operations in a second, in the shortest of all calls, eager, of two square matrices of float32",
        "one thread: the time that the process has computed; more threads: what a clock shows",
        "settings: those that TensorFlow has by itself",
        "ratio: of the median time of a call to that of tf.matmul in the same round, with median, q1 and q3",
        "peak: fused multiply-adds whose numbers stay in the registers, the best of eight runs in each round",
    ]

    options = command_line(__file__, __doc__, rounds=15, span=0.01).parse_args()
    first_lines = heading_of(__file__, options, notes)
    keys = product(SETTINGS, sorted({1, cores()}))
    workers = {key: Process(Worker, *key) for key in keys}
    rows = []
    for size in SIZES:
        rows += measure(size, workers, options.rounds, options.span)
    write(options.output, first_lines, rows)
    print(options.output.read_text(), end="")


if __name__ == "__main__":
    main()
