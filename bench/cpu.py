"""How fast each step on the way to ManhattanDistances' kernel is, and what shows why: `make bench`.

The steps run on one thread, without TensorFlow, and their times include the copy of the centers.
"""

import subprocess
from collections.abc import Callable
from functools import partial

import numpy as np
import prologue  # noqa: F401  before TensorFlow
from compiler import can
from cpu_steps import aligned, step
from measure import caches, run_turns, turns
from processes import by_threads

LARGE = 1000, 4096, 512
SMALL = 4000, 256, 64
SCALAR = "-fno-tree-vectorize -fno-tree-slp-vectorize"
COUNTS = [2**i for i in range(5, 14)]


def inputs(n: int, count: int, size: int) -> list[np.ndarray]:
    """Random points and centers, and memory for the distances; each begins with a cache line."""
    random = np.random.default_rng(0)
    made = [aligned(rows * size).reshape(rows, size) for rows in (n, count)]
    for each in made:
        random.random(out=each, dtype=np.float32)
    return [*made, aligned(n * count).reshape(n, count)]


def of_steps(
    task: str,
    steps: dict[str, Callable],
    sizes: tuple[int, int, int],
    rounds: int,
    span: float,
) -> list[dict]:
    """The rows of steps that take turns, whose results have to be the same, bit for bit."""
    arguments = inputs(*sizes)
    results = [run(*arguments).copy() for run in steps.values()]
    for other in results[1:]:
        np.testing.assert_array_equal(other, results[0])
    runs = {way: partial(run, *arguments) for way, run in steps.items()}
    shape = dict(zip(("points", "centers", "size"), sizes))
    return turns({"task": task, "threads": 1} | shape, runs, rounds, span)


def ladder(rounds: int, span: float) -> list[dict]:
    """The steps and their counter-experiments, where centers fit into a cache and where they do not."""
    steps = {name: step(name) for name in ("Plain", "SideBySide", "SideBySideClones")}
    steps |= {name: step(name) for name in ("Panels", "PanelsAvx2", "PanelsClones")}
    steps |= {
        "Plain, scalar": step("Plain", SCALAR),
        "FourSums, scalar": step("FourSums", SCALAR),
        "SideBySide, scalar": step("SideBySide", SCALAR),
    }
    return [
        row
        for sizes in (LARGE, SMALL)
        for row in of_steps("ladder", steps, sizes, rounds, span)
    ]


def options(rounds: int, span: float) -> list[dict]:
    """What the compiler's options make of each step."""
    names = "Plain", "SideBySide", "Panels", "PanelsClones"
    steps = {
        f"{name} {level}": step(name, level)
        for name in names
        for level in ("-O3", "-O2", "-O1")
    }
    return of_steps("options", steps, SMALL, rounds, span)


def size(rounds: int, span: float) -> list[dict]:
    """Few centers and many, of which each has as many points."""
    steps = {name: step(name) for name in ("SideBySideClones", "PanelsClones")}
    rows = []
    for count in COUNTS:
        rows += of_steps("size", steps, (LARGE[0], count, LARGE[2]), rounds, span)
    return rows


def sets(rounds: int, span: float) -> list[dict]:
    """Panels that are not copied, whose rows are a power of two apart or a little more."""
    steps = {name: step(name) for name in ("PanelsClones", "NotPacked")}
    return [
        row
        for count in (4096, 4128)
        for row in of_steps("sets", steps, (LARGE[0], count, LARGE[2]), rounds, span)
    ]


def alignment(rounds: int, span: float) -> list[dict]:
    """Panels that begin with a cache line, and some that do not."""
    steps = {
        f"{name}, {offset} bytes": step(name, offset=offset)
        for name in ("PanelsClones", "Panels")
        for offset in (0, 4)
    }
    return of_steps("alignment", steps, SMALL, rounds, span)


def of_ops(threads: int, rounds: int, span: float) -> list[dict]:
    """The rows of the op and of what TensorFlow offers, with its default settings."""
    import tensorflow as tf
    from cpu import manhattan_distances

    def mapped(points, centers):
        return tf.map_fn(lambda x: tf.reduce_sum(tf.abs(x - centers), axis=-1), points)

    def broadcast(points, centers):
        return tf.reduce_sum(tf.abs(points[:, None] - centers), axis=-1)

    rows = []
    for sizes in LARGE, SMALL:
        points, centers = map(tf.constant, inputs(*sizes)[:2])
        ways = {
            "ManhattanDistances": tf.function(manhattan_distances),
            "tf.map_fn": tf.function(mapped),
            "XLA": tf.function(broadcast, jit_compile=True),
        }
        if sizes == SMALL:  # the differences of the other need 8 GB
            ways["broadcast"] = tf.function(broadcast)
        expected = ways["ManhattanDistances"](points, centers)
        for name, way in ways.items():
            found = way(points, centers)
            np.testing.assert_allclose(found, expected, rtol=1e-4, err_msg=name)
        runs = {name: partial(way, points, centers) for name, way in ways.items()}
        shape = dict(zip(("points", "centers", "size"), sizes))
        case = {"task": "ops", "threads": threads} | shape
        rows += turns(case, runs, rounds, span)
    return rows


def main() -> None:
    compiler = subprocess.run(
        ["c++", "--version"], capture_output=True, text=True, check=True
    ).stdout.splitlines()[0]
    notes = [
        f"caches: {caches()}",
        f"compiler: {compiler}, with -O3 unless the way says otherwise",
        "milliseconds: of a call, with the copy of the centers; the median of the rounds",
        "ratio: to the first way of the task with these sizes and threads, in the same round, with median, q1 and q3",
        f"scalar: with {SCALAR}",
        f"clones: {'AVX-512' if can('avx512f') else 'AVX2' if can('avx2') else 'no AVX'} on this machine",
        "ops: in a tf.function, TensorFlow's default settings; XLA: the broadcast with jit_compile",
    ]

    def rows(rounds: int, span: float) -> list[dict]:
        tasks = ladder, options, size, sets, alignment, by_threads(of_ops)
        return [row for task in tasks for row in task(rounds, span)]

    run_turns(__file__, __doc__, notes, rows, rounds=9)


if __name__ == "__main__":
    main()
