"""How long RoiPool and its gradient take beside compositions of TensorFlow's ops, compiled by XLA and not."""

from collections.abc import Callable, Iterator

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import stock_windows
import stock_xla
import tensorflow as tf
from roi_pool import roi_pool, roi_pool_grad, roi_pool_inference
from roi_pool_workloads import WORKLOADS, Workload
from turns import Case, compiled_by_xla, run_turns


def scatter(gradient, argmax, rois, workload: Workload) -> tf.Tensor:
    """Adds each number of the gradient where its maximum was."""
    w = workload
    image = tf.cast(rois[:, 0], tf.int32)[:, None, None, None]
    at = (image * w.height * w.width + argmax) * w.channels + tf.range(w.channels)
    shape = [w.batch, w.height, w.width, w.channels]
    at = tf.where(argmax < 0, -1, at)
    return tf.reshape(tf.math.unsorted_segment_sum(gradient, at, np.prod(shape)), shape)


def tasks(workload: Workload) -> dict[str, dict[str, Callable]]:
    """From a task to ways, functions of no arguments; our op is the first."""
    features, rois = tf.constant(workload.features()), tf.constant(workload.rois())
    gradient = tf.constant(workload.gradient())
    sizes = workload.pooled, workload.pooled, workload.scale
    _, argmax = roi_pool(features, rois, *sizes)
    maxima = compiled_by_xla(lambda f, r: stock_xla.roi_pool(f, r, *sizes))
    keys = compiled_by_xla(
        lambda f, r: stock_xla.roi_pool(f, r, *sizes, with_argmax=True)
    )
    of_keys = compiled_by_xla(stock_xla.of_keys)
    scattered = compiled_by_xla(lambda g, a, r: scatter(g, a, r, workload))
    return {
        "without argmax": {
            "RoiPoolInference": lambda: roi_pool_inference(features, rois, *sizes),
            "windows": lambda: stock_windows.roi_pool(features, rois, *sizes, False)[0],
            "XLA": lambda: maxima(features, rois),
        },
        "with argmax": {
            "RoiPool": lambda: roi_pool(features, rois, *sizes),
            "XLA": lambda: of_keys(keys(features, rois)),
        },
        "gradient": {
            "RoiPoolGrad": lambda: roi_pool_grad(
                gradient, argmax, rois, tf.shape(features)
            ),
            "unsorted_segment_sum": lambda: scatter(gradient, argmax, rois, workload),
            "unsorted_segment_sum, XLA": lambda: scattered(gradient, argmax, rois),
        },
    }


def cases(threads: int) -> Iterator[Case]:
    for name in "abc":
        for task, ways in tasks(WORKLOADS[name]).items():
            atol = 1e-3 if task == "gradient" else 0  # sums in another order
            yield Case({"workload": name, "task": task}, ways, atol=atol)


if __name__ == "__main__":
    notes = [
        "milliseconds: of an eager call, or of one of the function that XLA has compiled, the median of the rounds",
        "windows: stock_windows.py, eager; XLA: stock_xla.py, with jit_compile=True, with argmax in two functions",
        *(f"{name}: {WORKLOADS[name]}" for name in "abc"),
    ]
    run_turns(cases, notes, rounds=7, threads=True)
