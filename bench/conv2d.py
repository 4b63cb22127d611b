"""How long OpByOp>Conv2D and its gradients take, beside TensorFlow's own kernels, with oneDNN and without.

`python bench/conv2d.py` prints the figures and writes them to conv2d.csv beside this file.
TensorFlow reads the settings of its kernels once, so each setting has a process of its own; the processes take turns,
and all but one are stopped. The op is compiled again for a newer processor, and without the header that knows patches.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from measure import cores, heading, quartiles, write
from processes import Process

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "bench"
SOURCE = ROOT / "examples" / "conv2d" / "conv2d.cc"
# From a way to the variables of its process.
SETTINGS = {
    "TensorFlow, Eigen": {},
    "TensorFlow, Eigen alone": {"TENSORFLOW_USE_CUSTOM_CONTRACTION_KERNEL": "0"},
    "TensorFlow, oneDNN": {"TF_ENABLE_ONEDNN_OPTS": "1"},
}
BASE = "TensorFlow, Eigen"
HEADER = '#include "xla/tsl/framework/convolution/eigen_spatial_convolutions.h"'
# From a way to the options of the compiler for our kernels, and what is taken out of the source.
VARIANTS = {
    "ours": ([], ""),
    "ours, for AVX2 and FMA": (["-mavx2", "-mfma"], ""),
    "ours, without the header": ([], HEADER),
}
# Shapes of x and of the filter, and the stride, all with padding SAME.
TASKS = {
    "3 × 3": ([4, 28, 28, 64], [3, 3, 64, 64], 1),
    "3 × 3, stride 2": ([4, 28, 28, 64], [3, 3, 64, 64], 2),
    "1 × 1": ([4, 28, 28, 64], [1, 1, 64, 256], 1),
    "7 × 7, 3 channels": ([4, 56, 56, 3], [7, 7, 3, 64], 2),
}
OPS = ["result", "for x", "for the filter"]
PARTS = {op: list(TASKS)[: 4 if op == "result" else 2] for op in OPS}


def can(word: str) -> bool:
    """Whether the processor has these instructions."""
    info = Path("/proc/cpuinfo")
    return info.exists() and f" {word} " in info.read_text().replace("\n", " ")


def variants() -> list[str]:
    return [name for name in VARIANTS if "AVX2" not in name or can("avx2")]


def compiled(way: str) -> Path:
    """The library of a variant, compiled unless that was done before."""
    import tensorflow as tf

    name = re.sub(r"\W+", "_", way)
    library = BUILD / f"libconv2d_{name}.so"
    newest = SOURCE.stat().st_mtime
    if not library.exists() or library.stat().st_mtime < newest:
        BUILD.mkdir(parents=True, exist_ok=True)
        flags = [*tf.sysconfig.get_compile_flags(), *tf.sysconfig.get_link_flags()]
        command = ["c++", "-O3", "-DNDEBUG", "-fPIC", "-shared", "-fvisibility=hidden"]
        options, left_out = VARIANTS[way]
        source = (
            SOURCE.read_text().replace(left_out, "") if left_out else SOURCE.read_text()
        )
        copy = library.with_suffix(".cc")
        copy.write_text(source.replace("OpByOp>", f"{name.title().replace('_', '')}>"))
        subprocess.run(
            [*command, *options, "-w", str(copy), *flags, "-o", str(library)],
            check=True,
            cwd=ROOT,
        )
    return library


class Worker:
    """Runs convolutions in a process with some settings.

    Args:
      setting: One of `SETTINGS`, whose process also has the op if it is the base.
      threads: How many threads a kernel may use.
    """

    def __init__(self, setting: str, threads: int) -> None:
        os.environ |= SETTINGS[setting]
        import tensorflow as tf

        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(1)
        self.runs = {}
        ways = {setting: None}
        if setting == BASE:
            library = SOURCE.with_name("libconv2d.so")  # our module has this one's name
            ways["ours"] = tf.load_op_library(str(library))
            for way in variants()[1:]:
                ways[way] = tf.load_op_library(str(compiled(way)))
        for op in OPS:
            for task in PARTS[op]:
                for way, library in ways.items():
                    self.runs[op, task, way] = self.made(tf, library, op, *TASKS[task])
        self.ways = list(ways)

    @staticmethod
    def made(tf, library, op: str, x_shape: list, filter_shape: list, stride: int):
        """A traced function of no arguments."""
        random = np.random.default_rng(0)
        x = tf.constant(random.normal(size=x_shape), tf.float32)
        filter = tf.constant(random.normal(size=filter_shape), tf.float32)
        rows, columns = (-(-size // stride) for size in x_shape[1:3])
        shape = [x_shape[0], rows, columns, filter_shape[3]]
        dy = tf.constant(random.normal(size=shape), tf.float32)
        arguments = {
            "result": [x, filter],
            "for x": [x_shape, filter, dy],
            "for the filter": [x, filter_shape, dy],
        }[op]
        if library is None:
            raw = {
                "result": tf.nn.conv2d,
                "for x": lambda sizes, filter, dy, **layout: (
                    tf.raw_ops.Conv2DBackpropInput(
                        input_sizes=sizes, filter=filter, out_backprop=dy, **layout
                    )
                ),
                "for the filter": lambda x, sizes, dy, **layout: (
                    tf.raw_ops.Conv2DBackpropFilter(
                        input=x, filter_sizes=sizes, out_backprop=dy, **layout
                    )
                ),
            }[op]
            layout = {"strides": [1, stride, stride, 1], "padding": "SAME"}
        else:
            suffix = {"result": "", "for x": "_backprop_input"}
            end = "conv2d" + suffix.get(op, "_backprop_filter")
            names = [
                name for name in dir(library) if re.fullmatch(rf"[a-z]\w*_{end}", name)
            ]
            raw = getattr(library, min(names, key=len))
            layout = {"strides": [stride, stride], "padding": "SAME"}

        # The tensors are arguments: of constants, the result would be computed once.
        tensors = [a for a in arguments if tf.is_tensor(a)]

        def call(*given):
            given = iter(given)
            return raw(
                *(next(given) if tf.is_tensor(a) else a for a in arguments), **layout
            )

        traced = tf.function(call, autograph=False).get_concrete_function(*tensors)
        return lambda: traced(*tensors)

    def names(self) -> list[str]:
        return self.ways

    def result(self, op: str, task: str, way: str) -> np.ndarray:
        return self.runs[op, task, way]().numpy()

    def seconds(self, op: str, task: str, way: str, span: float) -> float:
        """Of one call, of as many as about fit into the span."""
        run, calls, start = self.runs[op, task, way], 0, time.perf_counter()
        while not calls or time.perf_counter() - start < span:
            run().numpy()
            calls += 1
        return (time.perf_counter() - start) / calls


def implementations(setting: str) -> str:
    """What oneDNN says that it did for the results, by an option of its own, in a process with this setting."""
    script = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import conv2d
worker = conv2d.Worker({setting!r}, 1)
for task in conv2d.PARTS["result"]:
    worker.result("result", task, {setting!r})
"""
    settings = {"ONEDNN_VERBOSE": "1"} | SETTINGS[setting]
    with tempfile.TemporaryFile("w+") as output:
        subprocess.run(
            [sys.executable, "-c", script],
            env=os.environ | {"TF_ENABLE_ONEDNN_OPTS": "0"} | settings,
            stdout=output,
            check=True,
        )
        output.seek(0)
        found = re.findall(r",exec,cpu,(\w+),([^,]*),", output.read())
    words = (" ".join(pair).strip() for pair in found if pair[0] != "reorder")
    return ", ".join(dict.fromkeys(words)) or "nothing"


def measure(
    threads: int, rounds: int, span: float, bits: dict[str, list[bytes]]
) -> list[dict]:
    """The rows of the table for a number of threads, after a check that all ways give the same.

    Args:
      threads: How many a kernel may use.
      rounds: How often each way has its turn.
      span: How many seconds about a turn takes.
      bits: From a way to the bits of its results, which are added.
    """
    processes = {name: Process(Worker, name, threads) for name in SETTINGS}
    try:
        places = {
            way: process
            for process in processes.values()
            for way in process.call("names")
        }
        ways = list(places)
        found = []
        for op in OPS:
            for task in PARTS[op]:
                results = {
                    way: place.call("result", op, task, way)
                    for way, place in places.items()
                }
                scale = np.abs(results[BASE]).max()
                for way, result in results.items():
                    bits.setdefault(way, []).append(result.tobytes())
                    np.testing.assert_allclose(result, results[BASE], atol=1e-5 * scale)
                times = np.empty((rounds, len(ways)))
                for i in range(rounds):
                    for place in np.roll(np.arange(len(ways)), i):
                        way = ways[place]
                        times[i, place] = places[way].call(
                            "seconds", op, task, way, span
                        )
                ratios = times / times[:, [ways.index(BASE)]]
                for i, way in enumerate(ways):
                    median, q1, q3 = (
                        f"{value:.3f}" for value in quartiles(ratios[:, i])
                    )
                    milliseconds = f"{np.median(times[:, i]) * 1e3:.3f}"
                    found.append(
                        {"threads": threads, "op": op, "task": task, "way": way}
                        | {"milliseconds": milliseconds, "ratio": median}
                        | {"q1": q1, "q3": q3}
                    )
        return found
    finally:
        for process in processes.values():
            process.kill()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--span", type=float, default=0.02, help="seconds of each run")
    options = parser.parse_args()
    for way in variants()[1:]:
        compiled(way)
    notes = [
        "times of a call in a tf.function, float32: the median of the rounds",
        f"ratio: to the time of {BASE} in the same round, with median, q1 and q3",
        *(f"oneDNN's part in {name}: {implementations(name)}" for name in SETTINGS),
    ]
    first_lines = heading(
        f"python bench/conv2d.py --rounds {options.rounds} --span {options.span}",
        ["tensorflow-cpu", "tensorflow", "numpy"],
        notes,
    )
    rows, bits, counts = [], [], sorted({1, cores()})
    for threads in counts:
        bits.append({})
        rows += measure(threads, options.rounds, options.span, bits[-1])
    same = [way for way in bits[0] if all(bits[0][way] == one[way] for one in bits)]
    numbers = " and ".join(map(str, counts))
    first_lines.append(f"# same bits with {numbers} threads: {', '.join(same)}")
    result = Path(__file__).with_suffix(".csv")
    write(result, first_lines, rows)
    print(result.read_text(), end="")


if __name__ == "__main__":
    main()
