"""PsRoiAlign against torchvision's, with one thread and with two, and what a wrong cost does to Shard: `make bench`.

Each library runs in a process of its own for each number of threads, and the loops with turns and without are of one
library. Before anything is timed, results are compared. Then every way runs in turn, and all other processes of the
bench are stopped meanwhile.
"""

import ctypes
import tempfile
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from itertools import product
from pathlib import Path

import numpy as np
from compiler import compiled_ops
from measure import (
    command_line,
    cores,
    heading_of,
    in_turns,
    mean_time,
    row,
    timed_turns,
    write,
)
from processes import Process, fail
from ps_roi_align_workloads import BINS, SORTED, WORKLOADS, given_gradient

TASKS = "forward", "gradient"
OURS, THEIRS = "PsRoiAlign", "torchvision"
PLAIN = "PsRoiAlign, one channel at a time"
LOOPS = "PsRoiAlign's loops"  # a library of both:
TURNS, SHARD = "PsRoiAlign, in turns", "PsRoiAlign, blocks of Shard"
EXAMPLE = Path(__file__).parents[1] / "examples" / "ps_roi_align"
CLOSE = 1e-4  # sums in another order
# Units of work, how many multiplications each is, and what Shard is told that one costs, in cycles.
LOADS = {"much work": (2000, 500), "little work": (20, 500)}
CYCLES = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000]

Key = tuple[str, str, str]


class Library:
    """What is timed of a library.

    Attributes:
      calls: From way, workload and task to what does it.
    """

    def __init__(self) -> None:
        self.calls: dict[Key, Callable[[], object]] = {}

    def seconds(self, key: Key, span: float) -> float:
        return mean_time(self.calls[key], span)


class Ours(Library):
    """PsRoiAlign and ShardBlocks."""

    ways: tuple[str, ...] = (OURS, PLAIN)

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
        workload = (WORKLOADS | SORTED)[name]
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
            if way == PLAIN and task == "gradient":
                continue
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
        return self.plain(call) if way == PLAIN else call

    def plain(self, call: Callable) -> Callable:
        """A call with the kernel of ps_roi_align_plain.cc, in a graph, where nodes have labels."""
        self.tf.load_library(str(EXAMPLE / "libps_roi_align_plain.so"))

        @self.tf.function(autograph=False)
        def labelled() -> object:
            graph = self.tf.compat.v1.get_default_graph()
            with graph._kernel_label_map({"PsRoiAlign": "plain"}):
                return call()

        return labelled

    def prepare_costs(self, load: str) -> dict[str, int]:
        """Makes calls of ShardBlocks. From a way, the cost that Shard is told, to how many threads it used at most."""
        total, multiplications = LOADS[load]
        used = {}
        for cycles in CYCLES:
            call = partial(
                self.blocks.shard_blocks,
                total=total,
                cycles=cycles,
                multiplications=multiplications,
            )
            way = f"{cycles} cycles"
            self.calls[way, load, "cost"] = call
            used[way] = max(len(set(call().thread.numpy())) for _ in range(20))
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


def rows_of_task(
    processes: list[Process], workload: str, task: str, rounds: int, span: float
) -> list[dict]:
    """The rows of a workload and a task: each library's, and those of the loops with turns and without."""
    ways = {OURS: [OURS, PLAIN], LOOPS: [TURNS, SHARD], THEIRS: [THEIRS]}
    if task == "gradient":
        ways[OURS] = [OURS]
    timed = {
        (way, process.threads): partial(
            process.call, "seconds", (way, workload, task), span
        )
        for process in processes
        for way in ways[process.library]
    }
    times = in_turns(timed, rounds)
    rows = []
    for way, threads in times:
        case = {"workload": workload, "threads": threads, "task": task}
        base = OURS
        if way in (TURNS, SHARD):
            case["task"], base = f"{task}, loops", TURNS
        rows.append(row(case, way, times[way, threads], times[base, threads]))
    return rows


def rows_of_costs(process: Process, load: str, rounds: int, span: float) -> list[dict]:
    """The rows of Shard that is told this and that cost."""
    used = process.call("prepare_costs", load)
    timed = {
        way: partial(process.call, "seconds", (way, load, "cost"), span) for way in used
    }
    case = {"workload": load, "threads": 0, "task": "cost"}
    return [
        one | {"threads": used[one["way"]]} for one in timed_turns(case, timed, rounds)
    ]


def main() -> None:
    options = command_line(__file__, __doc__, rounds=12, span=0.02).parse_args()
    if not (EXAMPLE / "libps_roi_align.so").exists():
        fail("no libps_roi_align.so: make ps_roi_align")
    libraries = [OURS, LOOPS]
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
            f"ratio: to {OURS}'s time with as many threads in the same round, median, q1 and q3; of loops, to turns",
            "loops: one library, which hands out units in turns or in blocks of Shard, around the same machine code",
            "one channel at a time: the kernel of ps_roi_align_plain.cc, on one thread, in a tf.function",
            "settings: TensorFlow's defaults, oneDNN on",
            "cost: ShardBlocks, its ratio to the time when Shard is told 1 cycle; threads: the most in 20 calls",
            *(
                f"{load}: {total} units of {count} multiplications"
                for load, (total, count) in LOADS.items()
            ),
            *(f"{name}: {each}" for name, each in (WORKLOADS | SORTED).items()),
        ],
        ["tensorflow-cpu", "tensorflow", "torch", "torchvision", "numpy"],
    )
    settings = {"TF_ENABLE_ONEDNN_OPTS": "1"}  # as it is where nobody says otherwise
    processes = [
        Process(worker, name, threads, settings)
        for name in libraries
        for threads in sorted({1, cores()})
    ]
    timing = options.rounds, options.span
    with tempfile.TemporaryDirectory() as folder:
        for process, name in product(processes, WORKLOADS):
            process.call("prepare", name, folder)
        loops = [process for process in processes if process.library == LOOPS]
        for process, name in product(loops, SORTED):
            process.call("prepare", name, folder)
    rows = []
    for workload, task in product(WORKLOADS, TASKS):
        rows += rows_of_task(processes, workload, task, *timing)
    for workload in SORTED:
        rows += rows_of_task(loops, workload, "forward", *timing)
    of_all_cores = processes[len(processes) // len(libraries) - 1]
    for load in LOADS:
        rows += rows_of_costs(of_all_cores, load, *timing)
    write(options.output, first_lines, rows)
    print(options.output.read_text(), end="")


if __name__ == "__main__":
    main()
