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
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from measure import cores, heading, mean_and_cores, timed_turns, trained
from processes import Process

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "compare"
SLOWER = 1.1


def roi_pool(ops, traced: Callable) -> dict[str, Callable]:
    from roi_pool_workloads import WORKLOADS

    def calls_of(work) -> dict[str, Callable]:
        features, rois = work.features(), work.rois()
        size = work.pooled, work.pooled, work.scale
        shape = np.int32(features.shape)
        argmax = ops.roi_pool(features, rois, *size).argmax
        return {
            "with argmax": traced(
                lambda x, r: ops.roi_pool(x, r, *size), features, rois
            ),
            "without argmax": traced(
                lambda x, r: ops.roi_pool_inference(x, r, *size), features, rois
            ),
            "gradient": traced(
                lambda g, a, r: ops.roi_pool_grad(g, a, r, shape, work.scale),
                work.gradient(),
                argmax,
                rois,
            ),
        }

    return {
        f"{name}, {task}": call
        for name in "abc"
        for task, call in calls_of(WORKLOADS[name]).items()
    }


def max_pool(ops, traced: Callable) -> dict[str, Callable]:
    x = np.random.default_rng(0).standard_normal((8, 112, 112, 64), np.float32)
    size = 3, 2, "SAME"
    few = np.ascontiguousarray(x[..., :32])
    many = x.reshape(8, 56, 56, 256)
    apart = 2, 2, "VALID"
    y, y_few = ops.max_pool(x, *size), ops.max_pool(few, *size)
    return {
        "3 × 3": traced(lambda x: ops.max_pool(x, *size), x),
        "3 × 3, gradient": traced(lambda x, y: ops.max_pool_grad(x, y, y, *size), x, y),
        "2 × 2": traced(lambda x: ops.max_pool(x, *apart), x),
        "2 × 2, forward and gradient": traced(
            trained(lambda x: ops.max_pool(x, *apart)), x
        ),
        "2 × 2, 256 channels": traced(lambda x: ops.max_pool(x, *apart), many),
        "2 × 2, 256 channels, forward and gradient": traced(
            trained(lambda x: ops.max_pool(x, *apart)), many
        ),
        "32 channels": traced(lambda x: ops.max_pool(x, *size), few),
        "32 channels, gradient": traced(
            lambda x, y: ops.max_pool_grad(x, y, y, *size), few, y_few
        ),
        "32 channels, with argmax": traced(
            lambda x: ops.max_pool_with_argmax(x, *size), few
        ),
    }


def conv2d(ops, traced: Callable) -> dict[str, Callable]:
    random = np.random.default_rng(0)
    x = random.standard_normal((4, 28, 28, 64), np.float32)
    w = random.standard_normal((3, 3, 64, 64), np.float32)
    dy = random.standard_normal((4, 28, 28, 64), np.float32)
    return {
        "3 × 3": traced(lambda x, w: ops.conv2d(x, w, padding="SAME"), x, w),
        "3 × 3, float16": traced(
            lambda x, w: ops.conv2d(x, w, padding="SAME"),
            x.astype(np.float16),
            w.astype(np.float16),
        ),
        "3 × 3, for x": traced(
            lambda w, dy: ops.conv2d_backprop_input(x.shape, w, dy, padding="SAME"),
            w,
            dy,
        ),
        "3 × 3, for the filter": traced(
            lambda x, dy: ops.conv2d_backprop_filter(x, w.shape, dy, padding="SAME"),
            x,
            dy,
        ),
    }


def broadcasting(ops, traced: Callable) -> dict[str, Callable]:
    random = np.random.default_rng(0)
    x, y = random.standard_normal((2, 1000, 1000), np.float32)
    return {
        "AbsDifference": traced(ops.abs_difference, x, y),
        "AbsDifference, a row": traced(ops.abs_difference, x, y[0]),
        "Blend, a column": traced(ops.blend, x, y, y[:, :1]),
    }


def cpu(ops, traced: Callable) -> dict[str, Callable]:
    random = np.random.default_rng(0)
    return {
        f"{points} points, {centers} centers, {size} numbers": traced(
            ops.manhattan_distances,
            random.random((points, size), np.float32),
            random.random((centers, size), np.float32),
        )
        for points, centers, size in ((1000, 4096, 512), (4000, 256, 64))
    }


def elementwise(ops, traced: Callable) -> dict[str, Callable]:
    x = np.random.default_rng(0).standard_normal([1000, 1000], np.float32)
    return {"LogCosh": traced(ops.log_cosh, x)}


def lists(ops, traced: Callable) -> dict[str, Callable]:
    import tensorflow as tf

    calls = {}
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
        calls[f"WeightedSum, {count} × {size}, {dtype.name}"] = traced(
            lambda weights, inputs=inputs: ops.weighted_sum(inputs, weights),
            tf.ones(count, dtype),
        )
    return calls


def mat_mul(ops, traced: Callable) -> dict[str, Callable]:
    x = np.random.default_rng(0).standard_normal((512, 512), np.float32)
    return {
        "MatMul": traced(ops.mat_mul, x, x),
        "MatMul, 64 rows": traced(ops.mat_mul, x[:64], x),
    }


def ps_roi_align(ops, traced: Callable) -> dict[str, Callable]:
    from roi_pool_workloads import Workload

    work = Workload(1, 38, 50, 7 * 7 * 21, 300, 7, 1 / 16)
    call = traced(
        lambda x, r: ops.ps_roi_align(x, r, 7, 7, work.scale),
        work.features(),
        work.rois(),
    )
    return {"7 × 7": call}


def sliding_max(ops, traced: Callable) -> dict[str, Callable]:
    x = np.random.default_rng(0).standard_normal((64, 65_536), np.float32)
    return {
        f"SlidingMax, {window}": traced(lambda x, w=window: ops.sliding_max(x, w), x)
        for window in (3, 64)
    }


def stochastic_rounding(ops, traced: Callable) -> dict[str, Callable]:
    x = np.random.default_rng(0).standard_normal(2**22, np.float32)
    seed = np.int64([1, 2])
    return {
        "StatelessStochasticRound": traced(ops.stateless_stochastic_round, x, seed),
        "StochasticRound": traced(ops.stochastic_round, x),
    }


def threads(ops, traced: Callable) -> dict[str, Callable]:
    random = np.random.default_rng(0)
    lengths = np.maximum(1, 20_000 // np.arange(1, 10_001))
    splits = np.append(0, np.cumsum(lengths))
    return {
        "SteadySum": traced(ops.steady_sum, random.random(2**22, np.float32)),
        "SortRows": traced(
            ops.sort_rows, random.integers(0, 10**9, splits[-1]), splits
        ),
    }


def xla(ops, traced: Callable) -> dict[str, Callable]:
    random = np.random.default_rng(0)
    x = {
        shape: random.standard_normal(shape, np.float32)
        for shape in [(1000, 256), (100, 10_000)]
    }
    return {
        f"ExponentialAverage, {rows} × {length}": traced(ops.exponential_average, each)
        for (rows, length), each in x.items()
    }


# From an example to what makes its calls, of its module.
CALLS = {
    call.__name__: call
    for call in (
        broadcasting,
        conv2d,
        cpu,
        elementwise,
        lists,
        mat_mul,
        max_pool,
        ps_roi_align,
        roi_pool,
        sliding_max,
        stochastic_rounding,
        threads,
        xla,
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
        from measure import traced

        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(threads)
        constants = partial(tf.nest.map_structure, tf.constant)
        self.calls = CALLS[example](
            __import__(example), lambda way, *inputs: traced(way, *constants(inputs))
        )

    def names(self) -> list[str]:
        return list(self.calls)

    def seconds(self, name: str, span: float) -> float:
        """The mean time of a call, of as many as take about `span` seconds."""
        self.calls[name]()  # not counted: memory that lay idle may have to come back
        return mean_and_cores(self.calls[name], span)[0]


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
