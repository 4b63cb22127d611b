"""How long the ways of max pooling take: the direct loop, patches, and TensorFlow's own ops.

`python bench/max_pool.py` prints the figures and writes them to max_pool.csv beside this file. All run inside of a
`tf.function`; for each number of threads there is a process of its own. Ratios are taken within a round, in which every
way takes its turn. Before they are timed, all are compared, bit for bit.

Beside them stand what a call of an op takes, and the limit, which only reads and writes as much memory.
"""

import os
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import numpy as np
import tensorflow as tf
from compiler import can, compiled_op, streaming
from measure import run_turns, traced, turns
from processes import by_threads

ROOT = Path(__file__).parents[1]
# The op's module before this file, which has its name.
sys.path[:0] = [str(ROOT / "examples" / "max_pool"), str(ROOT / "examples" / "common")]

# From a window to one image of its layer, the size of a window, the stride, and the padding.
LAYERS = {
    "3 × 3, stride 2": ([112, 112, 64], 3, 2, "SAME"),
    "2 × 2, stride 2": ([56, 56, 256], 2, 2, "VALID"),
    "3 × 3, stride 1": ([35, 35, 192], 3, 1, "SAME"),
}
BATCHES = 1, 8
TYPES = "float32", "float16", "bfloat16", "float64"
# MaxPool without one of the things that make it fast: names and options of the compiler.
WITHOUT = {
    "without prefetching": ("MaxPoolDemanded", "-D__builtin_prefetch(...)=0"),
    "without AVX2": ("MaxPoolBaseline", "-D__builtin_cpu_supports(x)=false"),
}
if not can("avx2"):
    del WITHOUT["without AVX2"]


def variant(name: str, option: str, sizes: dict) -> Callable:
    """Compiles and loads a variant of MaxPool, as a function of an input and of its output."""
    source = Path(__file__).with_suffix(".cc")
    headers = [ROOT / "examples" / "max_pool" / "max_pool.h"]
    op = compiled_op(name, source, [option], headers)
    return lambda x, y: op(input=x, **sizes)


def limits(x: tf.Tensor, y: tf.Tensor, threads: int) -> dict[str, Callable]:
    """A call of our op for a single number, and the limit: functions of no arguments that return tensors."""
    import max_pool as ours

    library = streaming()
    read, written = (np.ones(each.numpy().nbytes, np.uint8) for each in (x, y))

    def limit():
        whence, whither = read.ctypes.data, written.ctypes.data
        library.ReadAndWrite(
            whence, read.nbytes, 1, whither, written.nbytes, threads, 0
        )
        return [y]

    one = traced(lambda x: ours.max_pool(x, 1, 1, "SAME"), x[:1, :1, :1, :1])
    return {"a call": one, "limit": limit}


def tasks(
    dtype: str, ksize: int, strides: int, padding: str
) -> dict[str, dict[str, Callable]]:
    """The ways to do each task, ours first: functions of an input and of its output."""
    import max_pool as ours

    size = ksize, strides, padding
    forward = {
        "MaxPool": lambda x, y: ours.max_pool(x, *size),
        "TensorFlow": lambda x, y: tf.nn.max_pool2d(x, *size),
    }
    if dtype != "float32":
        return {"forward": forward}

    sizes = dict(ksize=[1, ksize, ksize, 1], strides=[1, strides, strides, 1])
    sizes["padding"] = padding
    variants = {way: variant(*each, sizes) for way, each in WITHOUT.items()}

    def stock_gradient(x, y):
        return tf.raw_ops.MaxPoolGrad(orig_input=x, orig_output=y, grad=y, **sizes)

    return {
        "forward": forward
        | variants
        | {"patches": lambda x, y: ours.max_pool_patches(x, *size)},
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
    for dtype, (layer, (image, *size)), batch in product(
        TYPES, LAYERS.items(), BATCHES
    ):
        x = tf.cast(tf.random.stateless_normal([batch, *image], [batch, 0]), dtype)
        inputs = [x, tf.nn.max_pool2d(x, *size)]
        for task, ways in tasks(dtype, *size).items():
            runs = {name: traced(way, *inputs) for name, way in ways.items()}
            check(runs)
            if task == "forward":
                runs |= limits(*inputs, threads)
            case = {"threads": threads, "type": dtype, "task": task, "layer": layer}
            rows += [
                case | {"batch": batch, "way": name} | figures
                for name, figures in turns(runs, rounds, span, "MaxPool")
            ]
    return rows


def main() -> None:
    shapes = "; ".join(
        f"{layer}, {size[2]}: {' x '.join(map(str, image))}"
        for layer, (image, *size) in LAYERS.items()
    )
    notes = [
        "times of a call in a tf.function, random numbers: the median of the rounds",
        f"images: {shapes}",
        "without prefetching, without AVX2: MaxPool, compiled without",
        "a call: MaxPool of a single number; limit: reads and writes as many bytes, without TensorFlow",
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
