"""How long OpByOp>Conv2D and its gradients take, beside TensorFlow's own kernels, with oneDNN and without.

`python bench/conv2d.py` prints the figures and writes them to conv2d.csv beside this file.
TensorFlow reads the settings of its kernels once, so each setting has a process of its own for each number of threads;
the processes take turns, and all but one are stopped. The op is compiled again for newer processors.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from compiler import BUILD, NEWER, can, compiled_ops
from measure import cores, run_turns, timed_turns, traced
from processes import Process

from opcheck import function_of

SOURCE = Path(__file__).parents[1] / "examples" / "conv2d" / "conv2d.cc"
# From a way to the variables of its process.
SETTINGS = {
    "TensorFlow, Eigen": {},
    "TensorFlow, Eigen alone": {"TENSORFLOW_USE_CUSTOM_CONTRACTION_KERNEL": "0"},
    "TensorFlow, oneDNN": {"TF_ENABLE_ONEDNN_OPTS": "1"},
}
BASE = "TensorFlow, Eigen"  # its process runs our ways, too
# From a way to the instructions that our kernels are compiled for, where the processor has them.
VARIANTS = {
    f"ours, for {processor}": words for processor, words in NEWER.items() if can(*words)
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
CASES = [*product(OPS, TASKS)]

# From a number of threads and a way to the process that has both.
Places = dict[tuple[int, str], Process]


def ways_of(setting: str) -> list[str]:
    """Those of the process with this setting."""
    return [setting, "ours", *VARIANTS] if setting == BASE else [setting]


def namespace(way: str) -> str:
    """That of the ops of one of our ways: no two libraries have the same."""
    return "OpByOp" if way == "ours" else re.sub(r"\W", "", way.title())


def library_of(way: str) -> Path:
    """The example's library, or that of a variant, compiled unless that was done before."""
    if way == "ours":
        return SOURCE.with_name("libconv2d.so")  # its module has the name of this file
    text = SOURCE.read_text().replace("OpByOp>", f"{namespace(way)}>")
    copy = BUILD / f"conv2d_{namespace(way)}.cc"
    copy.parent.mkdir(parents=True, exist_ok=True)
    if not copy.exists() or copy.read_text() != text:
        copy.write_text(text)
    return compiled_ops(copy.stem, copy, [f"-m{word}" for word in VARIANTS[way]])


class Worker:
    """Runs convolutions in a process with some settings.

    Args:
      setting: One of `SETTINGS`, whose process also has our ops if it is the base.
      threads: How many threads a kernel may use.
    """

    def __init__(self, setting: str, threads: int) -> None:
        os.environ |= SETTINGS[setting]
        import tensorflow as tf

        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(1)
        ours = [way for way in ways_of(setting) if way != setting]
        self.ours = {way: tf.load_op_library(str(library_of(way))) for way in ours}
        self.tf, self.runs = tf, {}

    def made(self, op: str, task: str, way: str) -> Callable:
        """A traced function of no arguments, for one case."""
        tf, random = self.tf, np.random.default_rng(0)
        name, inputs = OPS[op]
        x_shape, filter_shape, stride = TASKS[task]
        rows, columns = (-(-size // stride) for size in x_shape[1:3])
        shapes = x_shape, filter_shape, [x_shape[0], rows, columns, filter_shape[3]]
        x, filter, dy = (
            tf.constant(random.normal(size=shape), tf.float32) for shape in shapes
        )
        # The tensors are arguments: of constants, the result would be computed once.
        given = {
            "result": [x, filter],
            "for x": [tf.constant(x_shape), filter, dy],
            "for the filter": [x, tf.constant(filter_shape), dy],
        }[op]
        if way in self.ours:
            ours = getattr(self.ours[way], function_of(f"{namespace(way)}>{name}"))
            call = partial(ours, strides=[stride] * 2, padding="SAME")
        else:
            stock, strides = getattr(tf.raw_ops, name), [1, stride, stride, 1]

            def call(*tensors):
                named = dict(zip(inputs, tensors))
                return stock(**named, strides=strides, padding="SAME")

        return traced(call, *given)

    def result(self, *case: str) -> np.ndarray:
        """Of a case: what is computed, the task, and the way."""
        if case not in self.runs:
            self.runs[case] = self.made(*case)
        return self.runs[case]()[0].numpy()

    def seconds(self, span: float, *case: str) -> float:
        """Of one call, of as many as about fit into the span; the case has had its result."""
        run, calls, start = self.runs[case], 0, time.perf_counter()
        while not calls or time.perf_counter() - start < span:
            run()[0].numpy()
            calls += 1
        return (time.perf_counter() - start) / calls


def said(setting: str) -> str:
    """What oneDNN says that it did for the results, by an option of its own, in a process with this setting."""
    script = f"""
import conv2d
worker = conv2d.Worker({setting!r}, 1)
for task in conv2d.TASKS:
    worker.result("result", task, {setting!r})
"""
    plain = {"TF_ENABLE_ONEDNN_OPTS": "0", "CUDA_VISIBLE_DEVICES": ""}
    output = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | plain | {"ONEDNN_VERBOSE": "1"} | SETTINGS[setting],
        cwd=Path(__file__).parent,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    found = re.findall(r",exec,cpu,(\w+),([^,]*),", output)
    words = (" ".join(pair).strip() for pair in found if pair[0] != "reorder")
    return ", ".join(dict.fromkeys(words)) or "nothing"


def same_bits(places: Places) -> list[str]:
    """The ways that give the same bits with any number of threads, after a check that all ways give about the same."""
    same = list(dict.fromkeys(way for _, way in places))
    for case in CASES:
        bits = {way: set() for way in same}
        expected = places[1, BASE].call("result", *case, BASE)
        near = 1e-5 * np.abs(expected).max()
        for (_, way), process in places.items():
            result = process.call("result", *case, way)
            np.testing.assert_allclose(result, expected, atol=near)
            if way in bits:
                bits[way].add(result.tobytes())
        same = [way for way in same if len(bits[way]) == 1]
    return same


def notes(places: Places) -> Iterator[str]:
    """Lines above the table. What is measured is compiled, started and compared here: the load has been noted."""
    yield "times of a call in a tf.function, float32: the median of the rounds"
    yield f"ratio: to the time of {BASE} in the same round, with median, q1 and q3"
    yield "span: there are many ways, so each has a third of the span in a round"
    own = [key for key in places if key[1] in SETTINGS]  # one of each process
    with ThreadPoolExecutor() as pool:
        list(pool.map(library_of, VARIANTS))
        for setting, answer in zip(SETTINGS, pool.map(said, SETTINGS)):
            yield f"oneDNN's part in {setting}: {answer}"
        list(pool.map(lambda key: places[key].call("result", *CASES[0], key[1]), own))
    numbers = " and ".join(map(str, dict.fromkeys(threads for threads, _ in places)))
    yield f"same bits with {numbers} threads: {', '.join(same_bits(places))}"


def measure(places: Places, rounds: int, span: float) -> list[dict]:
    """The rows of the table."""
    rows = []
    for threads, (op, task) in product(dict.fromkeys(n for n, _ in places), CASES):
        timed = {
            way: partial(place.call, "seconds", span / 3, op, task, way)
            for (number, way), place in places.items()
            if number == threads
        }
        rows += [
            {"threads": threads, "op": op, "task": task, "way": way} | figures
            for way, figures in timed_turns(timed, rounds, BASE)
        ]
    return rows


def main() -> None:
    places = {}
    for threads, setting in product(sorted({1, cores()}), SETTINGS):
        process = Process(Worker, setting, threads)
        places |= {(threads, way): process for way in ways_of(setting)}
    try:
        run_turns(
            Path(__file__),
            __doc__.splitlines()[0],
            notes(places),
            partial(measure, places),
            rounds=11,
        )
    finally:
        for process in places.values():
            process.kill()


if __name__ == "__main__":
    main()
