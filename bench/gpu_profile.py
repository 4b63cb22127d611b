"""Which CUDA kernels TensorFlow's own ops launch, and how long each takes: `python bench/gpu_profile.py`.

Needs a GPU, TensorFlow for it with cuBLAS and cuDNN, and Nsight Compute's `ncu`, which CUDA has. Two tables:
bench/gpu_profile.csv has each kernel of a call, timed by ncu; bench/gpu_calls.csv has the whole call, timed by the
clock without ncu, and the first call, with cuDNN's autotuning, without, and with next to no workspace.
"""

import argparse
import collections
import csv
import ctypes
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from measure import gpu_and_driver, heading, quartiles, write

PROFILE = Path(__file__).with_name("gpu_profile.csv")
CALLS = Path(__file__).with_name("gpu_calls.csv")
PROFILED = 5  # calls of each case
# Such an element-wise kernel of one block runs before each case, so that its kernels can be told from those before.
MARKER = "main_kernel", "(1, 1, 1)"
TIME = "gpu__time_duration.sum"
UNITS = {"ns": 1e-3, "us": 1, "ms": 1e3}
LATER = "after float32"
SETTINGS = {
    "default": {},
    "autotuning off": {"TF_CUDNN_USE_AUTOTUNE": "0"},
    "workspace 1 MB": {"TF_CUDNN_WORKSPACE_LIMIT_IN_MB": "1"},
    LATER: {},
}
# In processes of their own: the algorithm that was chosen for float32 is taken for TF32, too, if that comes later.
TYPES = ["float32"], ["TF32", "half", "bfloat16"]
SIZE, BATCH, SIDE, CHANNELS = 4096, 64, 56, 64


def cases(types: list[str]) -> dict[tuple[str, str, str], Callable]:
    """Functions of no arguments that launch an op, by op, layout and type."""
    import tensorflow as tf

    raw, found = tf.raw_ops, {}
    dtypes = {"half": tf.float16, "bfloat16": tf.bfloat16}
    attrs = {"strides": [1] * 4, "padding": "SAME"}

    def add(op: str, layout: str, dtype: str, run: Callable, **arguments) -> None:
        def once() -> object:
            tf.config.experimental.enable_tensor_float_32_execution(dtype == "TF32")
            return run(**arguments)

        found[op, layout, dtype] = once

    for name in types:
        dtype = dtypes.get(name, tf.float32)
        square = tf.cast(tf.random.normal([SIZE, SIZE]), dtype)
        add("MatMul", "", name, raw.MatMul, a=square, b=square)
        w = tf.cast(tf.random.normal([3, 3, CHANNELS, CHANNELS]), dtype)
        for layout in ("NHWC", "NCHW"):
            sizes = {"N": BATCH, "H": SIDE, "W": SIDE, "C": CHANNELS}
            shape = [sizes[axis] for axis in layout]
            x = tf.cast(tf.random.normal(shape), dtype)
            given = {**attrs, "data_format": layout, "filter": w}
            add("Conv2D 3 × 3", layout, name, raw.Conv2D, input=x, **given)
            given |= {"input_sizes": shape, "out_backprop": x}
            back = raw.Conv2DBackpropInput
            add("Conv2DBackpropInput", layout, name, back, **given)
    return found


def inside(profile: bool, types: list[str]) -> None:
    """In a process of its own: runs every case; unless under ncu, prints what the first call and later ones took."""
    import tensorflow as tf

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
    sync = tf.test.experimental.sync_devices
    runs = cases(types)
    sync()
    times = []
    for case, run in runs.items():
        start = time.perf_counter()
        run()
        sync()
        first = time.perf_counter() - start
        if profile:
            run()
            under_ncu(run, PROFILED)
            continue
        taken = []
        for _ in range(11):
            start = time.perf_counter()
            for _ in range(20):
                run()
            sync()
            taken.append((time.perf_counter() - start) / 20)
        times.append([*case, first, quartiles(taken)[0]])
    print("cases", json.dumps(times if times else list(runs)))


def under_ncu(run: Callable, calls: int) -> None:
    """Calls a function so often where ncu looks on, after the marker."""
    import tensorflow as tf

    sync = tf.test.experimental.sync_devices
    profiler = ctypes.CDLL("libcudart.so.12")
    small = tf.random.uniform([7])
    tf.math.digamma(small)
    sync()
    profiler.cudaProfilerStart()
    tf.math.digamma(small)
    for _ in range(calls):
        run()
    sync()
    profiler.cudaProfilerStop()


def output_of(command: list, env: dict | None = None) -> list:
    """The cases that a process of `inside` prints."""
    run = subprocess.run(
        command, env=os.environ | (env or {}), capture_output=True, text=True
    )
    last = [line for line in run.stdout.splitlines() if line.startswith("cases ")]
    if run.returncode or not last:
        sys.exit(f"{sys.argv[0]}: {(run.stderr or run.stdout)[-3000:]}")
    return json.loads(last[0].removeprefix("cases "))


def by_ncu(
    metrics: Iterable[str], inside: Sequence[str]
) -> tuple[list, list[dict[str, str]]]:
    """The cases of a process of `inside`, and for each metric of each launch a row of ncu."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "ncu.csv")
        command = [
            *("ncu", "--profile-from-start", "off", "--csv", "--log-file", log),
            *("--metrics", ",".join(metrics)),
            *("--clock-control", "none", "--cache-control", "none"),
            *(sys.executable, *inside),
        ]
        names = output_of(command)
        text = log.read_text()
    lines = [x for x in text[text.index('"ID"') :].splitlines() if x.startswith('"')]
    return names, list(csv.DictReader(lines))


def short(kernel: str) -> str:
    """The name of a kernel without its arguments and most of its template's."""
    kernel = re.sub(r"\(anonymous namespace\)::|<unnamed>::", "", kernel)
    kernel = re.sub(r"^void ", "", kernel).split("(")[0]
    return re.sub(r"\s+", " ", kernel)


def launches_of(
    metrics: Mapping[str, str], inside: Sequence[str]
) -> list[tuple[list[str], list[dict]]]:
    """The cases of a process of `inside`, each with its launches: kernel, and metrics by the names that they get."""
    names, found = by_ncu(metrics, inside)
    launches: dict[str, dict] = {}
    for row in found:
        known = {"kernel": short(row["Kernel Name"]), "grid": row["Grid Size"]}
        value = float(row["Metric Value"].replace(",", ""))
        value *= UNITS.get(row["Metric Unit"], 1)
        launches.setdefault(row["ID"], known)[metrics[row["Metric Name"]]] = value
    of_cases: list[list[dict]] = []
    for launch in launches.values():
        if (launch["kernel"], launch["grid"]) == MARKER:
            of_cases.append([])
        elif of_cases:  # those before the first marker prepare the inputs
            of_cases[-1].append(launch)
    if len(of_cases) != len(names):
        sys.exit(f"{sys.argv[0]}: {len(names)} cases, {len(of_cases)} markers")
    return list(zip(names, of_cases))


def profiled(setting: str, types: list[str]) -> list[dict]:
    """Rows of gpu_profile.csv."""
    inside = [__file__, "--inside", "profile", "--types", *types]
    rows = []
    for case, launches in launches_of({TIME: "microseconds"}, inside):
        of = collections.defaultdict(list)
        for launch in launches:
            of[launch["kernel"]].append(launch["microseconds"])
        for kernel, taken in of.items():
            rows.append(
                {
                    "setting": setting,
                    **dict(zip(["op", "layout", "type"], case)),
                    "kernel": kernel,
                    "launches": f"{len(taken) / PROFILED:g}",
                    "microseconds": f"{quartiles(taken)[0]:.1f}",
                }
            )
    return rows


def called(setting: str, types: list[str]) -> list[dict]:
    """Rows of gpu_calls.csv."""
    command = [sys.executable, __file__, "--inside", "times", "--types", *types]
    return [
        {
            "setting": setting,
            **dict(zip(["op", "layout", "type"], case)),
            "first_milliseconds": f"{first * 1e3:.1f}",
            "microseconds": f"{later * 1e6:.1f}",
        }
        for *case, first, later in output_of(command, SETTINGS[setting])
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inside", choices=["profile", "times"])
    parser.add_argument("--types", nargs="+", help="with --inside")
    parser.add_argument("--libraries", default="", help="which cuBLAS and cuDNN")
    options = parser.parse_args()
    if options.inside:
        return inside(options.inside == "profile", options.types)
    gpu = gpu_and_driver(program="ncu")
    notes = [
        f"libraries: {options.libraries}",
        f"sizes: MatMul {SIZE} x {SIZE}; images {BATCH} x {SIDE} x {SIDE} x {CHANNELS}, as many output channels, "
        "stride 1, SAME",
        "type: TF32 is float32 by default, float32 is with TF32 off",
    ]
    of_calls = "microseconds: a call, the median of 11 rounds of 20 eager calls; first: the first of this kind"
    of_kernels = "microseconds: the median over the launches of five calls, by ncu, which lets kernels run one by one; "
    of_kernels += "launches: in one call"
    for path, note, rows, settings in (
        (PROFILE, of_kernels, profiled, ["default"]),
        (CALLS, of_calls, called, SETTINGS),
    ):
        lines = heading(
            "python bench/gpu_profile.py", ["tensorflow"], [*notes, note], gpu
        )
        found = [
            row
            for setting in settings
            for types in (TYPES if setting != LATER else [["float32", "TF32"]])
            for row in rows(setting, types)
            if setting == "default" or row["op"].startswith("Conv2D")
            if setting != LATER or row["type"] == "TF32"
        ]
        write(path, lines, found)


if __name__ == "__main__":
    main()
