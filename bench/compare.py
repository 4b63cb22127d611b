"""Times an example's ops against those of another commit: `make compare REF=COMMIT EXAMPLES="roi_pool threads"`.

Builds the other commit's library in build/compare, without CUDA, and this tree's where it lies. Each has a process of
its own for each number of threads, with TensorFlow's default memory; the processes take turns, and all but one are
stopped. A ratio is this tree's time over the other's, taken within a round: the table has its median and quartiles.
Exits with 1 if a lower quartile is above 1.1, that is, if something has become slower.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from measure import cores, heading, mean_time, timed_turns
from processes import Process

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "compare"
SLOWER = 1.1


# Of the ops of an example's module: the name of each call, its function, and the function's arguments.
Calls = Iterator[tuple]


def roi_pool_of(ops, name: str) -> Calls:
    from roi_pool_workloads import WORKLOADS

    work = WORKLOADS[name]
    x, rois, shape = work.features(), work.rois(), np.int32(work.features().shape)
    size = work.pooled, work.pooled, work.scale

    def pool(x, rois):
        return ops.roi_pool(x, rois, *size)

    def infer(x, rois):
        return ops.roi_pool_inference(x, rois, *size)

    def gradient(dy, argmax, rois):
        return ops.roi_pool_grad(dy, argmax, rois, shape, work.scale)

    yield f"{name}, with argmax", pool, x, rois
    yield f"{name}, without argmax", infer, x, rois
    yield f"{name}, gradient", gradient, work.gradient(), pool(x, rois).argmax, rois


def roi_pool(ops) -> Calls:
    for name in "abc":
        yield from roi_pool_of(ops, name)


def max_pool(ops) -> Calls:
    from turns import trained

    def pool(x):
        return ops.max_pool(x, 3, 2, "SAME")

    def gradient(x, y):
        return ops.max_pool_grad(x, y, y, 3, 2, "SAME")

    def apart(x):
        return ops.max_pool(x, 2, 2, "VALID")

    def with_argmax(x):
        return ops.max_pool_with_argmax(x, 3, 2, "SAME")

    x = np.random.default_rng(0).standard_normal((8, 112, 112, 64), np.float32)
    few = np.ascontiguousarray(x[..., :32])
    many = x.reshape(8, 56, 56, 256)
    yield "3 × 3", pool, x
    yield "3 × 3, gradient", gradient, x, pool(x)
    yield "2 × 2", apart, x
    yield "2 × 2, forward and gradient", trained(apart), x
    yield "2 × 2, 256 channels", apart, many
    yield "2 × 2, 256 channels, forward and gradient", trained(apart), many
    yield "32 channels", pool, few
    yield "32 channels, gradient", gradient, few, pool(few)
    yield "32 channels, with argmax", with_argmax, few


def conv2d(ops) -> Calls:
    random = np.random.default_rng(0)
    x = random.standard_normal((4, 28, 28, 64), np.float32)
    w = random.standard_normal((3, 3, 64, 64), np.float32)
    dy = random.standard_normal((4, 28, 28, 64), np.float32)
    forward = partial(ops.conv2d, padding="SAME")
    for_x = partial(ops.conv2d_backprop_input, x.shape, padding="SAME")

    def for_filter(x, dy):
        return ops.conv2d_backprop_filter(x, w.shape, dy, padding="SAME")

    yield "3 × 3", forward, x, w
    yield "3 × 3, float16", forward, x.astype(np.float16), w.astype(np.float16)
    yield "3 × 3, for x", for_x, w, dy
    yield "3 × 3, for the filter", for_filter, x, dy


def broadcasting(ops) -> Calls:
    random = np.random.default_rng(0)
    x, y = random.standard_normal((2, 1000, 1000), np.float32)
    yield "AbsDifference", ops.abs_difference, x, y
    yield "AbsDifference, a row", ops.abs_difference, x, y[0]
    yield "Blend, a column", ops.blend, x, y, y[:, :1]


def cpu(ops) -> Calls:
    random = np.random.default_rng(0)
    for points, centers, size in (1000, 4096, 512), (4000, 256, 64):
        name = f"{points} points, {centers} centers, {size} numbers"
        inputs = (random.random((n, size), np.float32) for n in (points, centers))
        yield name, ops.manhattan_distances, *inputs


def elementwise(ops) -> Calls:
    x = np.random.default_rng(0).standard_normal([1000, 1000], np.float32)
    yield "LogCosh", ops.log_cosh, x


def lists(ops) -> Calls:
    import tensorflow as tf

    for count, size, dtype in (
        (64, 2**14, tf.float32),
        (64, 2**20, tf.float32),
        (3, 2**20, tf.float32),
        (64, 2**14, tf.float64),
        (64, 2**14, tf.float16),
        (64, 2**14, tf.bfloat16),
    ):
        inputs = tf.random.stateless_normal([count, size], [0, size])
        inputs = tf.unstack(tf.cast(inputs, dtype))
        # The tensors are captured: as arguments, Python would look at each of them.
        weighted_sum = partial(ops.weighted_sum, inputs)
        name = f"WeightedSum, {count} × {size}, {dtype.name}"
        yield name, weighted_sum, tf.ones(count, dtype)


def mat_mul(ops) -> Calls:
    x = np.random.default_rng(0).standard_normal((512, 512), np.float32)
    yield "MatMul", ops.mat_mul, x, x
    yield "MatMul, 64 rows", ops.mat_mul, x[:64], x


def ps_roi_align(ops) -> Calls:
    from ps_roi_align_workloads import WORKLOADS, given_gradient

    for name, work in WORKLOADS.items():
        x, rois, shape = work.features(), work.rois(), np.int32(work.features().shape)
        attrs = dict(pooled_height=7, pooled_width=7, spatial_scale=work.scale)
        pool = partial(ops.ps_roi_align, **attrs)
        gradient = partial(ops.ps_roi_align_grad, **attrs)
        yield name, pool, x, rois
        yield f"{name}, gradient", gradient, given_gradient(work), rois, shape


def sliding_max(ops) -> Calls:
    x = np.random.default_rng(0).standard_normal((64, 65_536), np.float32)
    for window in (3, 64):
        yield f"SlidingMax, {window}", partial(ops.sliding_max, window=window), x


def stochastic_rounding(ops) -> Calls:
    x = np.random.default_rng(0).standard_normal(2**22, np.float32)
    seed = np.int64([1, 2])
    yield "StatelessStochasticRound", ops.stateless_stochastic_round, x, seed
    yield "StochasticRound", ops.stochastic_round, x


def threads(ops) -> Calls:
    random = np.random.default_rng(0)
    lengths = np.maximum(1, 20_000 // np.arange(1, 10_001))
    splits = np.append(0, np.cumsum(lengths))
    yield "SteadySum", ops.steady_sum, random.random(2**22, np.float32)
    yield "SortRows", ops.sort_rows, random.integers(0, 10**9, splits[-1]), splits


def xla(ops) -> Calls:
    random = np.random.default_rng(0)
    for shape in (1000, 256), (100, 10_000):
        name = "ExponentialAverage, {} × {}".format(*shape)
        yield name, ops.exponential_average, random.standard_normal(shape, np.float32)


# From an example to its calls.
CALLS = {
    call.__name__: call
    for call in (
        *(broadcasting, conv2d, cpu, elementwise, lists, mat_mul, max_pool),
        *(ps_roi_align, roi_pool, sliding_max, stochastic_rounding, threads, xla),
    )
}


def fail(message: str) -> None:
    sys.exit(f"make compare: {message}")


class Ops:
    """The calls of an example of a tree, in the process that times them."""

    def __init__(self, place: str, threads: int) -> None:
        root, example = place.split("|")
        folder = Path(root, "examples", example)
        for path in (folder.parent, folder.parent / "common", folder):
            sys.path.insert(0, str(path))
        import tensorflow as tf
        from turns import traced

        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(threads)
        self.calls = {
            name: traced(function, *map(tf.constant, inputs))
            for name, function, *inputs in CALLS[example](__import__(example))
        }

    def names(self) -> list[str]:
        return list(self.calls)

    def seconds(self, name: str, span: float) -> float:
        return mean_time(self.calls[name], span)


def other_tree(ref: str, examples: list[str]) -> Path:
    """The sources of a commit, with the libraries of these examples."""
    commit = subprocess.run(
        ["git", "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    ).stdout.strip()
    if not commit:
        fail(f"REF is a commit of this repository, not {ref!r}")
    tree = BUILD / commit[:10]
    tree.mkdir(parents=True, exist_ok=True)
    archive = subprocess.run(
        ["git", "archive", commit], cwd=ROOT, stdout=subprocess.PIPE
    )
    subprocess.run(["tar", "-x"], cwd=tree, input=archive.stdout, check=True)
    if unknown := [x for x in examples if not (tree / "examples" / x).exists()]:
        fail(f"{ref} has no example {', '.join(unknown)}")
    compile_examples(tree, examples, ref, CUDA="off")
    return tree


def compile_examples(
    tree: Path, examples: list[str], whose: str, **environment: str
) -> None:
    """As `make examples` of that tree does."""
    tool = [sys.executable, tree / "tools" / "examples.py", *examples]
    environment = {**os.environ, **environment}
    if subprocess.run(tool, stdout=subprocess.DEVNULL, env=environment).returncode:
        fail(f"the examples of {whose} do not build, see above")


def compared(
    tree: Path, example: str, threads: int, rounds: int, span: float
) -> Iterator[tuple[str, dict, dict]]:
    """Each call, with the rows of the other tree and of this one."""
    trees = {"before": tree, "now": ROOT}
    both = {
        way: Process(Ops, f"{root}|{example}", threads) for way, root in trees.items()
    }
    try:
        for name in both["now"].call("names"):
            timed = {
                way: partial(process.call, "seconds", name, span)
                for way, process in both.items()
            }
            yield name, *timed_turns({}, timed, rounds)
    finally:
        for process in both.values():
            process.kill()


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="make compare", description=__doc__.splitlines()[0]
    )
    parser.add_argument("ref")
    parser.add_argument("examples", nargs="*", metavar="example")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--span", type=float, default=0.1, help="seconds of each turn")
    options = parser.parse_args()
    examples = options.examples or list(CALLS)
    if unknown := sorted({*examples} - {*CALLS}):
        fail(f"EXAMPLES are some of {', '.join(CALLS)}, not {', '.join(unknown)}")
    tree = other_tree(options.ref, examples)
    compile_examples(ROOT, examples, "this tree")
    command = f"make compare REF={options.ref} EXAMPLES={' '.join(examples)!r}"
    print(*heading(command, ["tensorflow-cpu", "tensorflow"]), sep="\n", flush=True)
    print("example,call,threads,milliseconds,before,ratio,q1,q3")
    slower = []
    for example in examples:
        for threads in sorted({1, cores()}):
            for name, before, now in compared(
                tree, example, threads, options.rounds, options.span
            ):
                figures = now["milliseconds"], before["milliseconds"]
                figures += now["ratio"], now["q1"], now["q3"]
                print(example, f'"{name}"', threads, *figures, sep=",", flush=True)
                if float(now["q1"]) > SLOWER:
                    slower.append(
                        f"{example}, {name}, {threads} threads: {now['ratio']}"
                    )
    if slower:
        fail(f"slower than {options.ref}: {'; '.join(slower)}")


if __name__ == "__main__":
    main()
