"""How long the ways of max pooling take: the direct loop, patches, and TensorFlow's own ops.

`python bench/max_pool.py` prints the figures and writes them to max_pool.csv beside this file. All run inside of a
`tf.function`; for each number of threads there is a process of its own. Ratios are taken within a round, in which every
way takes its turn. Before they are timed, all are compared, bit for bit.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import tensorflow as tf
from measure import run_turns, traced, turns
from processes import by_threads

ROOT = Path(__file__).parents[1]
# The op's module before this file, which has its name.
sys.path[:0] = [str(ROOT / "examples" / "max_pool"), str(ROOT / "examples")]

# From a window to one image of its layer, the size of a window, the stride, and the padding.
LAYERS = {
    "3 × 3, stride 2": ([112, 112, 64], 3, 2, "SAME"),
    "2 × 2, stride 2": ([56, 56, 256], 2, 2, "VALID"),
    "3 × 3, stride 1": ([35, 35, 192], 3, 1, "SAME"),
}
BATCHES = 1, 8


def tasks(ksize: int, strides: int, padding: str) -> dict[str, dict[str, Callable]]:
    """The ways to do each task, ours first: functions of an input and of its output."""
    import max_pool as ours

    size = ksize, strides, padding
    sizes = dict(ksize=[1, ksize, ksize, 1], strides=[1, strides, strides, 1])

    def stock_gradient(x, y):
        return tf.raw_ops.MaxPoolGrad(
            orig_input=x, orig_output=y, grad=y, **sizes, padding=padding
        )

    return {
        "forward": {
            "MaxPool": lambda x, y: ours.max_pool(x, *size),
            "patches": lambda x, y: ours.max_pool_patches(x, *size),
            "TensorFlow": lambda x, y: tf.nn.max_pool2d(x, *size),
        },
        "with argmax": {
            "MaxPool": lambda x, y: ours.max_pool_with_argmax(x, *size),
            "TensorFlow": lambda x, y: tf.nn.max_pool_with_argmax(x, *size),
        },
        "gradient": {
            "MaxPool": lambda x, y: ours.max_pool_grad(x, y, y, *size),
            "TensorFlow": stock_gradient,
        },
    }


def check(runs: dict[str, Callable]) -> None:
    """Whether all give the same bits."""
    expected, *others = ([x.numpy().tobytes() for x in run()] for run in runs.values())
    if any(other != expected for other in others):
        raise AssertionError(f"{', '.join(runs)} differ")


def measure(threads: int, rounds: int, span: float) -> list[dict]:
    """The rows of the table for a number of threads."""
    rows = []
    for layer, (image, *size) in LAYERS.items():
        for batch in BATCHES:
            x = tf.random.stateless_normal([batch, *image], [batch, 0])
            inputs = [x, tf.nn.max_pool2d(x, *size)]
            for task, ways in tasks(*size).items():
                runs = {name: traced(way, *inputs) for name, way in ways.items()}
                check(runs)
                rows += [
                    {"threads": threads, "task": task, "layer": layer, "batch": batch}
                    | {"way": name}
                    | figures
                    for name, figures in turns(runs, rounds, span, "MaxPool")
                ]
    return rows


def main() -> None:
    shapes = "; ".join(
        f"{layer}, {size[2]}: {' x '.join(map(str, image))}"
        for layer, (image, *size) in LAYERS.items()
    )
    notes = [
        "times of a call in a tf.function, random numbers, float32: the median of the rounds",
        f"images: {shapes}",
        "ratio: to the time of our op in the same round, with median, q1 and q3",
        "span: there are many ways, so each has a third of the span in a round",
    ]

    run_turns(
        Path(__file__),
        __doc__.splitlines()[0],
        notes,
        by_threads(measure, 3),
        rounds=15,
    )


if __name__ == "__main__":
    main()
