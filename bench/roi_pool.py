"""RoiPool against the same in other libraries, each as one gets it by default.

Each library runs in a process of its own, and all others are stopped meanwhile, so that no thread of theirs spins.
Before anything is timed, results are compared. The rows of workload a-c are the geometric means of the three.
"""

import os
import sys
import tempfile
from functools import partial
from importlib.util import find_spec
from itertools import product

import numpy as np
import prologue  # noqa: F401  before TensorFlow
from measure import command_line, cores, heading_of, timed_turns, write
from processes import Process, fail
from roi_pool_libraries import LIBRARIES, Key, Worker
from roi_pool_workloads import WORKLOADS

PACKAGES = [
    *("tensorflow-cpu", "tensorflow", "onnxruntime", "openvino", "paddlepaddle"),
    *("torch", "torchvision", "numpy"),
]


def available() -> list[str]:
    """The libraries that are installed; exits where one is missing that `make bench` installs."""
    found = []
    for name, library in LIBRARIES.items():
        missing = [module for module in library.modules if not find_spec(module)]
        if not missing:
            found.append(name)
        elif name == "Torchvision":
            print("no torchvision: it is left out (pip install torchvision: gigabytes)")
        elif name == "Paddle" and (
            sys.platform != "linux" or os.uname().machine != "x86_64"
        ):
            print("no Paddle for this kind of machine: it is left out")
        else:
            fail(f"no {', '.join(missing)}: make bench installs what is missing")
    return found


def check(workload: str, key: Key, result: str, share: float, furthest: float) -> None:
    """Whether so many elements of a result may differ from RoiPool's, by so much."""
    allowed = key[1].startswith("OpenVINO")
    if result == "gradient":  # sums in another order
        allowed = furthest < 1e-3
    if share and not allowed:
        fail(
            f"{key}, workload {workload}: {share:.2%} of {result} differ from RoiPool's, by up to {furthest:g}"
        )


def measure(workload: str, threads: int, rounds: int, span: float) -> list[dict]:
    """The rows of a workload."""
    processes = [Process(Worker, library, threads) for library in available()]
    timed, different = {}, {}
    try:
        with tempfile.TemporaryDirectory() as references:
            for process in processes:
                found = process.call("prepare", WORKLOADS[workload], references)
                for key, results in found.items():
                    timed[key] = partial(process.call, "seconds", *key, span)
                    for result, difference in results.items():
                        check(workload, key, result, *difference)
                        share = different.get(key, 0.0)
                        different[key] = max(share, difference[0])
        rows = []
        for task in dict.fromkeys(task for task, _ in timed):
            ways = {way: run for (of, way), run in timed.items() if of == task}
            case = {"workload": workload, "threads": threads, "task": task}
            for row in timed_turns(case, ways, rounds):
                share = different[task, row["way"]]
                rows.append(row | {"different": f"{share:.3g}"})
        return rows
    finally:
        for process in processes:
            process.kill()


def means(rows: list[dict]) -> list[dict]:
    """The rows of workload a-c: geometric means of the medians, and of the quartiles."""
    found = {}
    for row in rows:
        key = row["threads"], row["task"], row["way"]
        found.setdefault(key, []).append(row)
    return [
        dict.fromkeys(of[0], "")
        | {"workload": "a-c", "threads": threads, "task": task, "way": way}
        | {
            name: f"{np.exp(np.mean([np.log(float(row[name])) for row in of])):.3f}"
            for name in ("ratio", "q1", "q3")
        }
        for (threads, task, way), of in found.items()
    ]


def main() -> None:
    options = command_line(__file__, __doc__, rounds=9, span=0.03).parse_args()
    notes = [
        "milliseconds: of a call with its output's allocation, eager, the median of the rounds",
        "ratio: to our op in the same round, median, q1 and q3; a-c: the geometric means of the three",
        "settings: TensorFlow's defaults, oneDNN on; OpenVINO in float32 and in one stream; "
        "onnxruntime into an output that it is given",
        "OpenVINO, node: its pooling alone, by its own clock, without the two reorderings of a call",
        "different: the share of elements unlike our op's",
        *(f"{name}: {workload}" for name, workload in WORKLOADS.items()),
    ]
    first_lines = heading_of(__file__, options, notes, PACKAGES)
    rows = []
    for threads, workload in product(sorted({1, cores()}), WORKLOADS):
        print(f"Workload {workload}, threads: {threads}", flush=True)
        rows += measure(workload, threads, options.rounds, options.span)
    write(options.output, first_lines, rows + means(rows))
    print(options.output.read_text(), end="")


if __name__ == "__main__":
    main()
