"""PsRoiAlign against torchvision's, with one thread and with two, and what a wrong cost does to Shard: `make bench`.

Each library runs in a process of its own for each number of threads, and the loops with turns and without are of one
library. Before anything is timed, results are compared. Then, in each round, every way runs in turn, and all other
processes of the bench are stopped meanwhile. Ratios are taken within a round; the table, bench/ps_roi_align.csv, has
their medians and quartiles.
"""

import ctypes
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from itertools import product
from pathlib import Path

import numpy as np
from compiler import compiled, compiled_ops
from measure import (
    add_threads,
    command_line,
    cores,
    heading_of,
    mean_and_cores,
    quartiles,
    write,
)
from processes import Process, fail
from ps_roi_align_workloads import BINS, WORKLOADS, given_gradient

ROOT = Path(__file__).parents[1]
TASKS = "forward", "gradient"
OURS, THEIRS = "PsRoiAlign", "torchvision"
LOOPS = "PsRoiAlign's loops"  # a library of both:
TURNS, SHARD = "PsRoiAlign, in turns", "PsRoiAlign, blocks of Shard"
EXAMPLE = ROOT / "examples" / "ps_roi_align"
WORDS = {2: "two"}
CLOSE = 1e-4  # sums in another order
# Units of work, how many multiplications each is, and what Shard is told that one costs, in cycles.
LOADS = {"much work": (2000, 500), "little work": (20, 500)}
CYCLES = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000]
COST = "{} cycles"


Key = tuple[str, str, str]


class Library:
    """What is timed of a library.

    Attributes:
      calls: From way, workload and task to what does it.
    """

    def __init__(self) -> None:
        self.calls: dict[Key, Callable[[], object]] = {}

    def measure(self, key: Key, span: float) -> tuple[float, float]:
        """The mean time of a call, over so many seconds and at least one call, and how many cores were busy."""
        self.calls[key]()  # not counted: memory that lay idle may have to come back
        return mean_and_cores(self.calls[key], span)


class Ours(Library):
    """PsRoiAlign and ShardBlocks."""

    ways: tuple[str, ...] = (OURS,)

    def __init__(self, threads: int) -> None:
        super().__init__()
        import tensorflow as tf

        tf.config.threading.set_intra_op_parallelism_threads(threads)
        self.blocks = tf.load_op_library(str(EXAMPLE / "libshard_blocks.so"))
        self.tf, self.ops = tf, tf.load_op_library(str(self.built()))

    def built(self) -> Path:
        """The library of the op."""
        return EXAMPLE / "libps_roi_align.so"

    def prepare(self, name: str, folder: str) -> None:
        """Makes the calls of a workload, and writes their results."""
        workload = WORKLOADS[name]
        features = self.tf.constant(workload.features())
        rois = self.tf.constant(workload.rois())
        attrs = {"pooled_height": BINS, "pooled_width": BINS}
        attrs["spatial_scale"] = workload.scale
        given = self.tf.constant(given_gradient(workload))
        shape = self.tf.constant(features.shape)
        calls = {
            "forward": lambda: self.ops.ps_roi_align(features, rois, **attrs),
            "gradient": lambda: self.ops.ps_roi_align_grad(given, rois, shape, **attrs),
        }
        for (task, call), way in product(calls.items(), self.ways):
            self.calls[way, name, task] = self.way(way, call)
            path = Path(folder, f"{name} {task}.npy")
            result = self.calls[way, name, task]().numpy()
            if path.exists():  # another way, or with another number of threads
                same = np.load(path).tobytes() == result.tobytes()
                if not same:
                    raise ValueError(f"{way}, {name} {task}: another result")
            else:
                np.save(path, result)

    def way(self, way: str, call: Callable) -> Callable:
        """How a way calls the op."""
        return call

    def prepare_costs(self) -> list[tuple[str, str, str, int]]:
        """The calls of ShardBlocks, and how many threads each used at most."""
        used = []
        for load, (total, multiplications) in LOADS.items():
            for cycles in CYCLES:

                def call(total=total, multiplications=multiplications, cycles=cycles):
                    return self.blocks.shard_blocks(
                        total=total, cycles=cycles, multiplications=multiplications
                    )

                key = OURS, load, COST.format(cycles)
                self.calls[key] = call
                threads = [len(set(call().thread.numpy())) for _ in range(20)]
                used.append((*key, max(threads)))
        return used


class Loops(Ours):
    """PsRoiAlign whose loops hand out their units in turns or leave all to Shard: the same units, as machine code."""

    ways = TURNS, SHARD

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        library = ctypes.CDLL(str(self.built()))  # which TensorFlow has loaded
        self.in_turns = ctypes.c_bool.in_dll(library, "in_turns")

    def built(self) -> Path:
        header = Path(__file__).with_name("ps_roi_align_shard.h")
        headers = [header, *EXAMPLE.glob("*.h")]
        options = ["-ffp-contract=off", f"-I{EXAMPLE}", "-include", str(header)]
        source = EXAMPLE / "ps_roi_align.cc"
        return compiled_ops("ps_roi_align_shard", source, options, headers)

    def way(self, way: str, call: Callable) -> Callable:
        def switched() -> object:
            self.in_turns.value = way == TURNS
            return call()

        return switched


class Theirs(Library):
    """torchvision's operator below its Python function."""

    def __init__(self, threads: int) -> None:
        super().__init__()
        import torch
        import torchvision  # noqa: F401  registers the op

        torch.set_num_threads(threads)
        self.torch = torch

    def prepare(self, name: str, folder: str) -> None:
        """Makes the calls of a workload, and compares their results."""
        workload, op = WORKLOADS[name], self.torch.ops.torchvision
        features = workload.features()
        batch, height, width, channels = features.shape
        shape = batch, height, width, BINS, BINS, -1
        first = features.reshape(shape).transpose(0, 5, 3, 4, 1, 2)
        first = first.reshape(batch, channels, height, width)
        features = self.torch.from_numpy(np.ascontiguousarray(first))
        rois = self.torch.from_numpy(workload.rois())
        given = given_gradient(workload).transpose(0, 3, 1, 2)
        given = self.torch.from_numpy(np.ascontiguousarray(given))
        options = rois, workload.scale, BINS, BINS, -1
        _, mapping = op.ps_roi_align(features, *options)
        calls = {
            "forward": lambda: op.ps_roi_align(features, *options)[0],
            "gradient": lambda: op._ps_roi_align_backward(
                given, rois, mapping, *options[1:], *features.shape
            ),
        }
        for task, call in calls.items():
            self.calls[THEIRS, name, task] = call
            result = call().numpy()
            if task == "gradient":
                result = result.reshape(batch, -1, BINS, BINS, height, width)
                result = result.transpose(0, 4, 5, 2, 3, 1).reshape(
                    batch, height, width, channels
                )
            else:
                result = result.transpose(0, 2, 3, 1)
            expected = np.load(Path(folder, f"{name} {task}.npy"))
            np.testing.assert_allclose(result, expected, rtol=CLOSE, atol=CLOSE)


def worker(library: str, threads: int) -> Library:
    return {OURS: Ours, LOOPS: Loops, THEIRS: Theirs}[library](threads)


def there_and_back() -> Callable[[], float]:
    """How many nanoseconds a line of the cache takes from one core to another and back."""
    source = Path(__file__).with_name("cache_line.cc")
    library = ctypes.CDLL(str(compiled("cache_line", source, ["-pthread"])))
    library.ThereAndBack.restype = ctypes.c_double
    library.ThereAndBack.argtypes = [ctypes.c_double]
    return lambda: library.ThereAndBack(0.01)


# By way, threads, workload and task: the means of the rounds, and how many cores were busy.
Times = dict[tuple[str, int, str, str], list[tuple[float, float]]]


def row(times: Times, key: tuple, base: tuple, task: str, way: str, **more) -> dict:
    """A row of the table: how many times as long as the base `key` takes."""
    taken, others = (np.array(times[one])[:, 0] for one in (key, base))
    ratio, q1, q3 = quartiles(taken / others)
    _, threads, workload, _ = key
    return {
        "workload": workload,
        "threads": threads,
        "task": task,
        "way": way,
        "milliseconds": f"{np.median(taken) * 1e3:.4g}",
        "ratio": f"{ratio:.4g}",
        "q1": f"{q1:.4g}",
        "q3": f"{q3:.4g}",
        "rounds": len(taken),
        "cores": f"{np.median(np.array(times[key])[:, 1]):.2f}",
    } | more


def rows_of(times: Times, counts: list[int], used: list[tuple]) -> list[dict]:
    """The table."""
    rows = []
    for task in TASKS:
        for workload in WORKLOADS:
            for threads in counts:
                base = OURS, threads, workload, task
                rows.append(row(times, base, base, task, OURS))
                if (key := (THEIRS, *base[1:])) in times:
                    rows.append(row(times, key, base, task, THEIRS))
            for ours, more in product((OURS, TURNS, SHARD), counts[1:]):
                one, many = ((ours, n, workload, task) for n in (counts[0], more))
                if one in times:
                    name = f"{task}, one thread to {WORDS.get(more, more)}"
                    rows.append(row(times, one, many, name, ours))
    for _, load, way, threads in used:
        base = OURS, counts[-1], load, COST.format(1)
        key = (*base[:3], way)
        rows.append(row(times, key, base, "cost", way, threads=threads))
    return rows


def main() -> None:
    parser = command_line(__file__, __doc__, rounds=12, span=0.02)
    parser.add_argument(
        "--prebuilt", action="store_true", help="without what a compiler makes"
    )
    add_threads(parser)
    options = parser.parse_args()
    if not (ROOT / "examples" / "ps_roi_align" / "libps_roi_align.so").exists():
        fail("no libps_roi_align.so: make ps_roi_align")
    libraries = [OURS] if options.prebuilt else [OURS, LOOPS]
    if find_spec("torch") and find_spec("torchvision"):
        libraries.append(THEIRS)
    else:
        print("no torchvision: it is left out (pip install torchvision: gigabytes)")
    first_lines = heading_of(
        __file__,
        options,
        [
            "milliseconds: the median of the rounds, of a call with its output's allocation; "
            "the first of a turn is not counted",
            "calls of TensorFlow's ops and of ours: eager",
            f"ratio: to {OURS}'s time with as many threads in the same round, median, q1 and q3",
            "one thread to two: the time with one thread over that with two, and so on",
            "in turns, blocks of Shard: one library whose loops do either, around the same machine code",
            "settings: TensorFlow's defaults, oneDNN on",
            "cost: ShardBlocks, its ratio to the time when Shard is told 1 cycle; threads: the most in 20 calls",
            *(
                f"{load}: {total} units of {count} multiplications"
                for load, (total, count) in LOADS.items()
            ),
            "cores: processor time over time",
            *(f"{name}: {workload}" for name, workload in WORKLOADS.items()),
        ],
        ["tensorflow-cpu", "tensorflow", "torch", "torchvision", "numpy"],
    )
    counts = sorted(options.threads)
    settings = {"TF_ENABLE_ONEDNN_OPTS": "1"}  # as it is where nobody says otherwise
    processes = [
        Process(worker, name, n, settings) for name in libraries for n in counts
    ]
    try:
        with tempfile.TemporaryDirectory() as folder:
            for process in processes:
                for name in WORKLOADS:
                    process.call("prepare", name, folder)
        ways = [
            (process, (way, workload, task))
            for process in processes
            for way in (
                (TURNS, SHARD) if process.library == LOOPS else (process.library,)
            )
            for workload, task in product(WORKLOADS, TASKS)
        ]
        most = processes[len(counts) - 1]
        used = most.call("prepare_costs")
        ways += [(most, tuple(key)) for *key, _ in used]
        times: Times = {}
        lines, line = [], None
        if cores() > 1 and not options.prebuilt:
            line = there_and_back()
        for number in range(-1, options.rounds):  # the first is not counted
            if line:
                lines.append(line())
            for i in np.random.default_rng(number + 1).permutation(len(ways)):
                process, key = ways[i]
                taken = process.call("measure", key, options.span)
                if number >= 0:
                    way, workload, task = key
                    name = way, process.threads, workload, task
                    times.setdefault(name, []).append(taken)
    finally:
        for process in processes:
            process.kill()
    if lines:
        nanoseconds = "{:.0f} ns ({:.0f} to {:.0f})".format(*quartiles(lines))
        first_lines.append(
            f"# cache line: {nanoseconds} from one core to another and back, at the start of each round"
        )
    rows = rows_of(times, counts, used)
    write(options.output, first_lines, rows)
    print(options.output.read_text(), end="")


if __name__ == "__main__":
    main()
