"""How fast each step on the way to ManhattanDistances' kernel is, and what shows why: `make bench`.

The steps run on one thread, without TensorFlow, and their times include the copy of the centers.
"""

import subprocess
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from compiler import can
from cpu import manhattan_distances
from cpu_steps import aligned, step
from measure import caches
from turns import Case, run_turns

LARGE = 1000, 4096, 512
SMALL = 4000, 256, 64
SCALAR = "-fno-tree-vectorize -fno-tree-slp-vectorize"
COUNTS = [2**i for i in range(5, 14)]


def inputs(n: int, count: int, size: int) -> list[np.ndarray]:
    """Random points and centers; each begins with a cache line."""
    random = np.random.default_rng(0)
    made = [aligned(rows * size).reshape(rows, size) for rows in (n, count)]
    for each in made:
        random.random(out=each, dtype=np.float32)
    return made


def of_steps(
    task: str, steps: dict[str, Callable], sizes: tuple[int, int, int]
) -> Case:
    """Steps that take turns, whose results have to be the same, bit for bit."""
    points, centers = inputs(*sizes)
    shape = len(points), len(centers)
    ways = {
        name: partial(run, points, centers, aligned(shape[0] * shape[1]).reshape(shape))
        for name, run in steps.items()
    }
    return Case({"task": task} | columns(sizes), ways)


def columns(sizes: tuple[int, int, int]) -> dict[str, int]:
    return dict(zip(("points", "centers", "size"), sizes))


def cases_of_steps() -> Iterator[Case]:
    steps = {name: step(name) for name in ("Plain", "SideBySide", "SideBySideClones")}
    steps |= {name: step(name) for name in ("Panels", "PanelsAvx2", "PanelsClones")}
    steps |= {
        f"{name}, scalar": step(name, SCALAR)
        for name in ("Plain", "FourSums", "SideBySide")
    }
    # Centers fit into a cache, or do not.
    yield of_steps("ladder", steps, LARGE)
    yield of_steps("ladder", steps, SMALL)
    steps = {
        f"{name} {level}": step(name, level)
        for name in ("Plain", "SideBySide", "Panels", "PanelsClones")
        for level in ("-O3", "-O2", "-O1")
    }
    yield of_steps("options", steps, SMALL)
    steps = {name: step(name) for name in ("SideBySideClones", "PanelsClones")}
    for count in COUNTS:
        yield of_steps("size", steps, (LARGE[0], count, LARGE[2]))
    # Panels that are not copied, whose rows are a power of two apart or a little more.
    steps = {name: step(name) for name in ("PanelsClones", "NotPacked")}
    for count in (4096, 4128):
        yield of_steps("sets", steps, (LARGE[0], count, LARGE[2]))
    # Panels that begin with a cache line, and some that do not.
    steps = {
        f"{name}, {offset} bytes": step(name, offset=offset)
        for name in ("PanelsClones", "Panels")
        for offset in (0, 4)
    }
    yield of_steps("alignment", steps, SMALL)


def cases_of_ops() -> Iterator[Case]:
    """The op and what TensorFlow offers, with its default settings."""

    def mapped(points, centers):
        return tf.map_fn(lambda x: tf.reduce_sum(tf.abs(x - centers), axis=-1), points)

    def broadcast(points, centers):
        return tf.reduce_sum(tf.abs(points[:, None] - centers), axis=-1)

    for sizes in LARGE, SMALL:
        ways = {
            "ManhattanDistances": tf.function(manhattan_distances),
            "tf.map_fn": tf.function(mapped),
            "XLA": tf.function(broadcast, jit_compile=True),
        }
        if sizes == SMALL:  # the differences of the other need 8 GB
            ways["broadcast"] = tf.function(broadcast)
        given = [tf.constant(each) for each in inputs(*sizes)]
        runs = {name: partial(way, *given) for name, way in ways.items()}
        yield Case({"task": "ops"} | columns(sizes), runs, rtol=1e-4)


def cases(threads: int) -> Iterator[Case]:
    if threads == 1:
        yield from cases_of_steps()
    yield from cases_of_ops()


if __name__ == "__main__":
    compiler = subprocess.run(
        ["c++", "--version"], capture_output=True, text=True, check=True
    ).stdout.splitlines()[0]
    notes = [
        f"caches: {caches()}",
        f"compiler: {compiler}, with -O3 unless the way says otherwise",
        "milliseconds: of a call, with the copy of the centers; the median of the rounds",
        f"scalar: with {SCALAR}",
        f"clones: {'AVX-512' if can('avx512f') else 'AVX2' if can('avx2') else 'no AVX'} on this machine",
        "ops: in a tf.function, TensorFlow's default settings; XLA: the broadcast with jit_compile",
    ]

    run_turns(cases, notes, rounds=9, threads=True)
