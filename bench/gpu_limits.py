"""What limits the kernels of RoiPool on a GPU: `python bench/gpu_limits.py`.

Needs a GPU, TensorFlow for it, the libraries that `make roi_pool CUDA=on` builds, and Nsight Compute's
`ncu`, which CUDA has. Writes bench/gpu_limits.csv: for each kernel of a call how long it takes, and how near it comes
to what the GPU's parts can do.
"""

import argparse
import collections
import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from gpu_profile import TIME, launches_of, under_ncu
from measure import gpu_and_driver, heading, write
from roi_pool_workloads import WORKLOADS, scaled

ROOT = Path(__file__).parents[1]
RESULT = Path(__file__).with_suffix(".csv")
EXAMPLES = ("common", "roi_pool")
sys.path[:0] = [str(ROOT / "examples" / name) for name in EXAMPLES]
PROFILED = 3  # calls of each case
METRICS = {
    TIME: "microseconds",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": "multiprocessors %",
    "l1tex__throughput.avg.pct_of_peak_sustained_active": "L1 %",
    "lts__throughput.avg.pct_of_peak_sustained_elapsed": "L2 %",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": "memory %",
}


def cases() -> dict[tuple[str, str, str], Callable]:
    """Functions of no arguments that call an op, by op, workload and task."""
    import tensorflow as tf
    from roi_pool import roi_pool, roi_pool_grad

    found = {}
    for batch in (1, 8):
        for name in "abc":
            work = scaled(WORKLOADS[name], batch)
            features, rois = tf.constant(work.features()), tf.constant(work.rois())
            attrs = work.pooled, work.pooled, work.scale
            pooled, argmax = roi_pool(features, rois, *attrs)
            found["RoiPool", f"{name}, batch {batch}", "forward"] = partial(
                roi_pool, features, rois, *attrs
            )
            found["RoiPool", f"{name}, batch {batch}", "gradient"] = partial(
                roi_pool_grad,
                *(pooled, argmax, rois, features.shape),
                spatial_scale=work.scale,
            )
    return found


def inside() -> None:
    """In a process under ncu: runs every case, and prints their names."""
    import tensorflow as tf

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
    runs = cases()
    for run in runs.values():
        run()
        under_ncu(run, PROFILED)
    print("cases", json.dumps(list(runs)))


def profiled() -> list[dict]:
    """The rows of the table."""
    rows = []
    inside = [__file__, "--inside"]
    for case, launches in launches_of(METRICS, inside):
        found = collections.defaultdict(list)
        for launch in launches:
            found[launch["kernel"].split("<")[0].split("::")[-1]].append(launch)
        for kernel, of_kernel in found.items():
            figures = {
                name: f"{np.median([launch[name] for launch in of_kernel]):.3g}"
                for name in METRICS.values()
            }
            labels = dict(zip(["op", "workload", "task"], case))
            rows.append(labels | {"kernel": kernel} | figures)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inside", action="store_true")
    options = parser.parse_args()
    if options.inside:
        return inside()
    gpu = gpu_and_driver(program="ncu")
    notes = [
        "the median over the launches of three calls, by ncu, which runs a kernel several times and lets none overlap",
        "%: of the most that the GPU's multiprocessors, caches and memory can do",
        *(
            f"RoiPool {name}, batch {batch}: {scaled(WORKLOADS[name], batch)}"
            for batch in (1, 8)
            for name in "abc"
        ),
    ]
    lines = heading("python bench/gpu_limits.py", ["tensorflow"], notes, gpu)
    write(RESULT, lines, profiled())
    print(RESULT.read_text(), end="")


if __name__ == "__main__":
    main()
