"""How long max pooling takes: our ops beside TensorFlow's, forward and in a training step.

All ways run inside of a `tf.function`. TensorFlow decides about oneDNN when it is loaded, so each setting has a process
of its own for each number of threads, in which our op runs, too.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path

import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from compiler import can, compiled_op
from measure import command_line, cores, heading_of, write
from processes import in_process
from tensorflow.python.framework.test_util import IsMklEnabled
from turns import Case, compiled_by_xla, rows_with_threads, traced, trained

ROOT = Path(__file__).parents[1]
SETTINGS = {"default": {}, "oneDNN off": {"TF_ENABLE_ONEDNN_OPTS": "0"}}
# From a window to one image of its layer, the size of a window, the stride, and the padding.
LAYERS = {
    "3 × 3, stride 2": ([112, 112, 64], 3, 2, "SAME"),
    "2 × 2, stride 2": ([56, 56, 256], 2, 2, "VALID"),
    "3 × 3, stride 1": ([35, 35, 192], 3, 1, "SAME"),
}
# How many images a node has, and how many nodes a graph has, one after the other, each with inputs of its own. What a
# call of one image uses is still in a cache when the next one begins.
NODES = {"1": 8, "8": 1, "1, in cache": 1}
TASKS = {
    "float32": ("forward", "forward and gradient", "with argmax"),
    "float16": ("forward",),
    "bfloat16": ("forward",),
    "float64": ("forward",),
}


def without_wide_vectors(x: tf.Tensor, y: tf.Tensor, **attrs: object) -> tf.Tensor:
    """MaxPool, compiled without what makes it fast."""
    source = Path(__file__).with_suffix(".cc")
    headers = [ROOT / "examples" / "max_pool" / "max_pool.h"]
    option = "-D__builtin_cpu_supports(x)=false"
    return compiled_op("MaxPoolBaseline", source, [option], headers)(input=x, **attrs)


def ways_of(case: dict) -> dict[str, Callable]:
    """The ways of a task, ours first: functions of an input and its output."""
    import max_pool as ours
    from max_pool_slices import max_pool_slices, max_pool_with_argmax_slices

    default = case["setting"] == "default"
    _, ksize, strides, padding = LAYERS[case["layer"]]
    size = ksize, strides, padding

    def slices(x: tf.Tensor, y: tf.Tensor | None = None) -> tf.Tensor:
        return max_pool_slices(x, *size)

    if case["task"] == "with argmax":
        ways = {
            "MaxPool": lambda x, y: ours.max_pool_with_argmax(x, *size),
            "TensorFlow": lambda x, y: tf.nn.max_pool_with_argmax(x, *size),
        }
        if default:
            ways["slices, XLA"] = lambda x, y: max_pool_with_argmax_slices(x, *size)
        return ways
    if case["task"] == "forward and gradient":
        ways = {
            "MaxPool": trained(lambda x: ours.max_pool(x, *size)),
            "TensorFlow": trained(lambda x: tf.nn.max_pool2d(x, *size)),
        }
        if default:
            ways["slices, XLA"] = compiled_by_xla(trained(slices))
        return ways
    ways = {
        "MaxPool": lambda x, y: ours.max_pool(x, *size),
        "TensorFlow": lambda x, y: tf.nn.max_pool2d(x, *size),
    }
    if case["type"] == "float32":
        ways["plain"] = lambda x, y: ours.max_pool_plain(x, *size)
        if default:
            ways["slices, XLA"] = compiled_by_xla(slices)
            if can("avx2"):
                attrs = dict(ksize=[1, ksize, ksize, 1], padding=padding)
                attrs["strides"] = [1, strides, strides, 1]
                way = partial(without_wide_vectors, **attrs)
                ways["without wide vectors"] = way
            if case["batch"] == "8":
                ways["patches"] = lambda x, y: ours.max_pool_patches(x, *size)
    return ways


def nodes(way: Callable) -> Callable:
    """A way for several pairs of inputs, one node after the other."""

    def graph(*inputs: tf.Tensor) -> list[tf.Tensor]:
        results = []
        for x, y in zip(inputs[::2], inputs[1::2]):
            with tf.control_dependencies(results[-1:]):
                results += tf.nest.flatten(way(x, y))
        return results

    return graph


def cases(setting: str, threads: int) -> Iterator[Case]:
    """What is measured: of other types than float32 eight images, with TensorFlow as it comes."""
    onednn = "on" if IsMklEnabled() else "off"
    for dtype, tasks in TASKS.items():
        for task, layer, batch in product(tasks, LAYERS, NODES):
            usual = dtype == "float32" and batch != "1, in cache"
            default = setting == "default" and (dtype == "float32" or batch == "8")
            if not (usual or default):
                continue
            image, *size = LAYERS[layer]
            inputs, images = [], int(batch.split(",")[0])
            for seed in range(NODES[batch]):
                x = tf.random.stateless_normal([images, *image], [images, seed])
                x = tf.cast(x, dtype)
                inputs += [x, tf.nn.max_pool2d(x, *size)]
            case = {"setting": setting, "type": dtype, "task": task, "layer": layer}
            case |= {"batch": batch, "oneDNN": onednn}
            # oneDNN adds the gradients in another order.
            close = 1e-2 if task == "forward and gradient" else 0
            runs = {
                name: traced(nodes(way), *inputs) for name, way in ways_of(case).items()
            }
            if len({run()[0].numpy().tobytes() for run in runs.values()}) > 1:
                raise AssertionError(f"{', '.join(runs)} differ in {case}")
            yield Case(case, runs, close, close, nodes=NODES[batch])


def main() -> None:
    options = command_line(__file__, __doc__, rounds=21, span=0.03).parse_args()
    shapes = "; ".join(
        f"{layer}, {size[2]}: {' x '.join(map(str, image))}"
        for layer, (image, *size) in LAYERS.items()
    )
    notes = [
        "milliseconds: of one pooling in a tf.function of random numbers, the median of the rounds",
        "batch 1: one image after the other, of eight, so that none is in the cache; 1, in cache: the same image again",
        "setting: default is TensorFlow as it comes, oneDNN off is TF_ENABLE_ONEDNN_OPTS=0",
        f"images: {shapes}",
        "forward and gradient: both in one tf.function, as a training step has them",
        "plain: max_pool_plain, its best numbers in memory; without wide vectors: MaxPool with vectors of 4 floats",
        "slices, XLA: examples/max_pool/max_pool_slices.py",
        "ratio: to the time of our op in the same round, with median, q1 and q3",
    ]
    first_lines = heading_of(__file__, options, notes)
    rows = []
    for threads, setting in product(sorted({1, cores()}), SETTINGS):
        given = partial(cases, setting), threads, options.rounds, options.span
        rows += in_process(rows_with_threads, *given, settings=SETTINGS[setting])
    write(options.output, first_lines, rows)
    print(options.output.read_text(), end="")


if __name__ == "__main__":
    main()
