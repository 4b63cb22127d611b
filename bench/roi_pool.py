"""RoiPool against the same in other libraries, and against what memory allows: `make bench`.

Each library runs in a process of its own, as one gets it by default. One process more has RoiPool with allocators that
keep memory, in which its variants are compared with each other and with the limits. Before anything is timed, results
are compared. Then, in each round, every way runs in turn, after one call that is not timed unless it is slow, and all
other processes are stopped meanwhile, so that no thread of theirs spins. Ratios are taken within a round; the table,
bench/roi_pool.csv, has their medians and quartiles. Each workload on each number of threads is a piece of its own,
whose rows the table gets as soon as it is done: `--workloads` and `--threads` choose some of them, and the rows of the
others stay, which have to be of the same machine, versions and day. The rows of workload a-c are the geometric means
of the three.
"""

import argparse
import dataclasses
import os
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from compiler import streaming
from measure import cores, heading, kept, quartiles, write
from processes import Process, fail
from roi_pool_libraries import LIBRARIES, ROOT, Worker
from roi_pool_workloads import KEEP, WORKLOADS, Workload

RESULT = ROOT / "bench" / "roi_pool.csv"
MODULES = {
    "TensorFlow": ["tensorflow"],
    "OnnxRuntime": ["onnx", "onnxruntime"],
    "OpenVINO": ["openvino"],
    "Paddle": ["paddle"],
    "Torchvision": ["torch", "torchvision"],
}
PACKAGES = [
    *("tensorflow-cpu", "tensorflow", "onnxruntime", "openvino", "paddlepaddle"),
    *("torch", "torchvision"),
]
LARGE = "abc"
MEAN = "a-c"

# From a task to what its ways are compared with, and the ways by the names of the table.
TASKS = {
    "with argmax": (
        "RoiPool",
        {
            "onnxruntime": "onnxruntime",
            "OpenVINO": "OpenVINO",
            "OpenVINO, node": "OpenVINO, node",
            "Paddle": "Paddle",
            "torchvision": "torchvision",
            "TensorFlow, windows": "stock: windows and argmax",
            "RoiPool, oneDNN off": "RoiPool, oneDNN off",
            "RoiPool, oneDNN off, small pages": "RoiPool, small pages, oneDNN off",
            "RoiPool, kept memory": "RoiPool, kept memory",
            "limit": "limit, with argmax",
            "traffic": "traffic, with argmax",
        },
    ),
    "without argmax": (
        "RoiPoolInference",
        {
            "onnxruntime": "onnxruntime",
            "OpenVINO": "OpenVINO",
            "OpenVINO, node": "OpenVINO, node",
            "TensorFlow, list of pixels": "stock: list of pixels",
            "TensorFlow, windows": "stock: windows",
            "RoiPoolInference, oneDNN off": "RoiPoolInference, oneDNN off",
            "RoiPoolInference, kept memory": "RoiPoolInference, kept memory",
            "limit": "limit, without argmax",
            "traffic": "traffic, without argmax",
        },
    ),
    "gradient": (
        "RoiPoolGrad",
        {
            "Paddle": "Paddle, gradient",
            "torchvision": "torchvision, gradient",
            "TensorFlow, unsorted_segment_sum": "stock: unsorted_segment_sum",
            "RoiPoolGrad, oneDNN off": "RoiPoolGrad, oneDNN off",
            "RoiPoolGrad, kept memory": "RoiPoolGrad, kept memory",
            "limit": "limit, gradient",
        },
    ),
}
LIMITS = ("limit", "traffic")
KEPT = "{}, kept memory"
ONE_DNN = "TF_ENABLE_ONEDNN_OPTS"
SETTINGS = {  # oneDNN is on where nobody says otherwise
    "TensorFlow": {ONE_DNN: "1"},
    "KeptMemory": {ONE_DNN: "1"} | KEEP,
    "OneDnnOff": {ONE_DNN: "0"},
}
CALL = "call"
CALLS = ["RoiPool", "RoiPoolInference", "Maximum", "TopKV2"]


def check(workload: str, prepared: dict[str, tuple]) -> dict[str, float]:
    """The share of differing elements of each way; fails where there must be none."""
    shares = {}
    for way, differences in prepared.items():
        for result, (share, furthest) in differences.items():
            allowed = way.startswith("OpenVINO")
            if result == "gradient":  # sums in another order
                allowed = furthest < 1e-3
            if share and not allowed:
                fail(
                    f"{way}, workload {workload}: {share:.2%} of {result} differ from RoiPool's, by up to {furthest:g}"
                )
            shares[way] = max(share, shares.get(way, 0.0))
    return shares


class Bench:
    """All that is measured with a number of threads."""

    def __init__(
        self, threads: int, libraries: list[str], workloads: dict[str, Workload]
    ) -> None:
        self.threads = threads
        self.workloads = workloads
        self.libraries = libraries
        self.processes = [
            Process(
                Worker,
                library,
                threads,
                SETTINGS.get(library, {}),
            )
            for library in libraries
        ]
        self.ways: list[tuple[Process, str, str]] = []
        self.different: dict[tuple[str, str], float] = {}
        # From workload and way to round to seconds, and to busy cores and pages.
        self.seconds: dict[tuple[str, str], dict[int, float]] = {}
        self.busy: dict[tuple[str, str], list[float]] = {}
        self.faults: dict[tuple[str, str], list[float]] = {}

    def prepare(self) -> None:
        """Compares the results of all with RoiPool's."""
        with tempfile.TemporaryDirectory() as references:
            for process in self.processes:
                for name, workload in self.workloads.items():
                    prepared = process.call("prepare", name, workload, references)
                    self.ways += [(process, name, way) for way in prepared]
                    for way, share in check(name, prepared).items():
                        self.different[name, way] = share
                    if workload.calls or process.library != "TensorFlow":
                        continue
                    if self.threads == 1:
                        for key, share in process.call(
                            "in_a_function", name, workload, references
                        ).items():
                            self.different[name, f"folding {key}"] = share

    def rounds(self, seconds: float, span: float, least: int) -> None:
        """Takes turns for so long, and at least so many times."""
        end = time.monotonic() + seconds
        number = 0
        while number < least or time.monotonic() < end:
            order = np.random.default_rng(number).permutation(len(self.ways))
            for i in order:
                process, *key = self.ways[i]
                key = tuple(key)
                taken, busy, faults = process.call("measure", *key, span)
                self.seconds.setdefault(key, {})[number] = taken
                self.busy.setdefault(key, []).append(busy)
                self.faults.setdefault(key, []).append(faults)
            number += 1

    def close(self) -> None:
        for process in self.processes:
            process.kill()

    def limit(self, workload: str, way: str) -> str:
        """Of the two kinds of stores, the faster one."""
        both = [f"{way}, {stores} stores" for stores in ("ordinary", "streaming")]
        return min(
            both, key=lambda way: np.median([*self.seconds[workload, way].values()])
        )

    def row(
        self, workload: str, task: str, name: str, way: str, base: str
    ) -> dict | None:
        """A row of the table; None where this machine lacks the library, or the workload was not measured."""
        base = KEPT.format(base) if name in LIMITS else base
        if (workload, base) not in self.seconds:
            return None
        if name in LIMITS and "Streaming" not in self.libraries:
            return None
        key = workload, self.limit(workload, way) if name in LIMITS else way
        if key not in self.seconds:
            return None
        taken, bases = self.seconds[key], self.seconds[workload, base]
        common = sorted(set(taken) & set(bases))
        ratio, q1, q3 = quartiles([taken[i] / bases[i] for i in common])
        different = self.different.get(key)
        return {
            "workload": workload,
            "threads": str(self.threads),
            "task": task,
            "way": name,
            "base": base,
            "milliseconds": f"{np.median([*taken.values()]) * 1e3:.4g}",
            "ratio": f"{ratio:.4g}",
            "q1": f"{q1:.4g}",
            "q3": f"{q3:.4g}",
            "rounds": str(len(common)),
            "cores": f"{np.median(self.busy[key]):.2f}",
            "faults": f"{np.median(self.faults[key]):.0f}",
            "different": "" if different is None else f"{different:.3g}",
        }

    def rows(self) -> list[dict]:
        """Those of the workloads that were measured."""
        found = []
        known = dict.fromkeys(way for _, _, way in self.ways)
        variants = [way for way in known if way.startswith("kernel")]
        for name, workload in self.workloads.items():
            if workload.calls:
                found += [self.row(name, CALL, way, way, CALLS[-1]) for way in CALLS]
                continue
            for task, (base, ways) in TASKS.items():
                for way, key in {base: base, **ways}.items():
                    found.append(self.row(name, task, way, key, base))
            for key in variants:
                way, base = key.removeprefix("kernel "), KEPT.format("RoiPool")
                found.append(self.row(name, "variants", way, key, base))
            for key in ("with", "without"):
                if (name, f"folding {key}") in self.different:
                    way = f"TensorFlow, list of pixels, {key} constant folding"
                    share = self.different[name, f"folding {key}"]
                    found.append(
                        dict.fromkeys(found[0], "")
                        | {
                            "workload": name,
                            "threads": str(self.threads),
                            "task": "in tf.function",
                            "way": way,
                            "base": "RoiPool",
                            "different": f"{share:.3g}",
                        }
                    )
        return [row for row in found if row]


def means(rows: list[dict]) -> list[dict]:
    """The rows of workload a-c: geometric means of the medians, and of the quartiles."""
    found = {}
    for row in rows:
        if row["workload"] in LARGE and row["ratio"]:
            key = row["threads"], row["task"], row["way"]
            found.setdefault(key, {})[row["workload"]] = row
    return [
        dict.fromkeys(of["a"], "")
        | {"workload": MEAN, "threads": threads, "task": task, "way": way}
        | {"base": of["a"]["base"], "rounds": of["a"]["rounds"]}
        | {
            key: f"{np.exp(np.mean([np.log(float(row[key])) for row in of.values()])):.4g}"
            for key in ("ratio", "q1", "q3")
        }
        for (threads, task, way), of in found.items()
        if set(of) == set(LARGE)
    ]


def in_order(rows: list[dict]) -> list[dict]:
    """By threads, task, workload and, as they came, ways."""
    tasks = [*TASKS, "variants", CALL, "in tf.function"]
    names = [*LARGE, MEAN, "d"]

    def place(row: dict) -> tuple:
        return (
            int(row["threads"]),
            tasks.index(row["task"]),
            names.index(row["workload"]),
        )

    return sorted(rows, key=place)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60, help="of each piece")
    parser.add_argument("--span", type=float, default=0.03, help="seconds of each turn")
    parser.add_argument("--rounds", type=int, default=9, help="at least")
    parser.add_argument("--workloads", default="abcd", help="their letters")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument(
        "--tiny", action="store_true", help="with small workloads, to try the bench"
    )
    parser.add_argument(
        "--prebuilt",
        action="store_true",
        help="without what a compiler makes, and what is not installed",
    )
    parser.add_argument("--output", type=Path, default=RESULT)
    options = parser.parse_args()
    if not (ROOT / "examples" / "roi_pool" / "libroi_pool.so").exists():
        fail("no examples/roi_pool/libroi_pool.so: make roi_pool")
    libraries = []
    for library in LIBRARIES:
        missing = [name for name in MODULES.get(library, []) if not find_spec(name)]
        if options.prebuilt and (missing or library == "Streaming"):
            print(f"{library} is left out")
        elif not missing:
            libraries.append(library)
        elif library == "Torchvision":
            print("no torchvision: it is left out (pip install torchvision: gigabytes)")
        elif library == "Paddle" and (
            sys.platform != "linux" or os.uname().machine != "x86_64"
        ):
            print("no Paddle for this kind of machine: it is left out")
        else:
            fail(f"no {', '.join(missing)}: make bench installs what is missing")
    if "Streaming" in libraries:
        streaming()  # compiled before the processes start
    workloads = {
        name: dataclasses.replace(workload, channels=8, num_rois=10)
        if options.tiny and not workload.calls
        else workload
        for name, workload in WORKLOADS.items()
    }
    first_lines = heading(
        "python bench/roi_pool.py "
        f"--seconds {options.seconds:g} --span {options.span:g} --rounds {options.rounds}"
        f"{' --tiny' if options.tiny else ''}",
        [*PACKAGES, "numpy"],
        [
            "milliseconds: the median of the rounds, of a call with its output's allocation",
            "calls of TensorFlow's ops and of ours: eager",
            "ratio: to the base's time in the same round, median, q1 and q3; a-c: the geometric means of the three",
            "limit: reads each pixel of any region once, writes each output once; its ratio is the share reached",
            "traffic: reads the pixels once for each region, in the order of the map, and writes each output once",
            f"kept memory: with {' '.join(f'{k}={v}' for k, v in KEEP.items())}, as all variants; all others without",
            f"oneDNN off: with {ONE_DNN}=0; small pages: and without asking the system for huge pages (madvise)",
            "settings: TensorFlow's defaults, oneDNN on; OpenVINO in float32 and in one stream; "
            "onnxruntime into an output that it is given",
            "faults: minor page faults of a call, by getrusage, median of the rounds",
            "OpenVINO, node: its pooling alone, by its own clock, without the two reorderings of a call",
            "cores: processor time over time; different: the share of elements unlike the base's",
            *(f"{name}: {workload}" for name, workload in workloads.items()),
        ],
    )
    rows = kept(
        options.output,
        first_lines,
        lambda row: (
            int(row["threads"]) in options.threads
            and row["workload"] in (*options.workloads, MEAN)
        ),
    )
    for threads in options.threads:
        if threads > cores():
            print(f"{threads} threads are left out: {cores()} core")
            continue
        for name in options.workloads:
            one = {name: workloads[name]}
            # Only the call is timed on a workload that is nothing but a call.
            needed = libraries[:1] if workloads[name].calls else libraries
            bench = Bench(threads, needed, one)
            try:
                print(f"Workload {name}, threads: {threads}", flush=True)
                bench.prepare()
                bench.rounds(options.seconds, options.span, options.rounds)
            finally:
                bench.close()
            new = bench.rows()
            others = [row for row in rows if row["workload"] != MEAN] + new
            rows = in_order(others + means(others))
            write(options.output, first_lines, rows)
            for row in new:
                print(
                    f"{row['threads']} {row['workload']:3} {row['task']:14} {row['way']:34.34} "
                    f"{row['milliseconds']:>9} ms {row['ratio']:>8} ({row['q1']}-{row['q3']}) {row['cores']:>5} "
                    f"{row['faults']:>6} {row['different']}"
                )


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        fail("interrupted")
