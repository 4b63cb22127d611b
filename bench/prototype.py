"""How long Snake and Battery take, which TensorFlow lacks: composed, compiled by XLA, in NumPy and as ops in C++."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import snake as in_cpp
import snake_in_numpy as in_numpy
import tensorflow as tf
from battery import battery
from battery_in_numpy import battery as battery_in_numpy
from turns import Case, compiled_by_xla, differentiated, run_turns

SIZES = [10, 1000, 100_000, 10_000_000]
NODES = 30  # of a model that calls it so often
CHAIN = f"tf.function, {NODES} nodes"
STEP = f"forward and gradient, {NODES} nodes"
HOURS = 96, 8760
BATTERY = "Battery, forward and gradient"


def composed(x: tf.Tensor) -> tf.Tensor:
    """Snake of functions that TensorFlow has."""
    return x + tf.square(tf.sin(x))


def chained(way: Callable) -> Callable:
    """A function that calls it again and again: the cost of a node, where a call of the function counts little."""

    def calls(x: tf.Tensor) -> tf.Tensor:
        for _ in range(NODES):
            x = way(x)
        return x

    return calls


def ways(mode: str) -> dict[str, Callable]:
    """From a name to Snake, eagerly, in a `tf.function`, or many in one, with their gradient or without."""
    found = {"C++ op": in_cpp.snake, "composed": composed, "NumPy": in_numpy.snake}
    if mode in (CHAIN, STEP):
        found = {name: chained(way) for name, way in found.items()}
        if mode == STEP:
            found = {name: differentiated(way) for name, way in found.items()}
        return {name: tf.function(way, autograph=False) for name, way in found.items()}
    if mode == "eager":
        return found
    found = {name: tf.function(way, autograph=False) for name, way in found.items()}
    return {**found, "composed, XLA": compiled_by_xla(composed)}


def hour_by_hour(flow: tf.Tensor, capacity: tf.Tensor) -> tf.Tensor:
    """Battery of functions that TensorFlow has, which run for every hour."""

    def next_level(last: tf.Tensor, charged: tf.Tensor) -> tf.Tensor:
        return tf.clip_by_value(last + charged, 0, capacity)

    return tf.scan(next_level, flow, tf.zeros([]))


def in_pairs(flow: tf.Tensor, capacity: tf.Tensor) -> tf.Tensor:
    """Battery as a scan of pairs: some hours add a sum to a level and clip it, and so do two such spans of hours."""

    def joined(one: Sequence[tf.Tensor], other: Sequence[tf.Tensor]) -> tuple:
        (added, low, high), (then, least, most) = one, other
        ends = (tf.clip_by_value(end + then, least, most) for end in (low, high))
        return added + then, *ends

    empty, full = tf.zeros_like(flow), tf.fill(flow.shape, capacity)
    spans = tf.keras.ops.associative_scan(joined, (flow, empty, full))
    return tf.clip_by_value(*spans)  # from an empty battery


def battery_case(hours: int) -> Case:
    """The gradient of a loss by the capacity, in a `tf.function`, as in the chapter."""
    hour = np.arange(hours)
    flow = 1.5 * np.maximum(0, np.sin((hour - 6) * np.pi / 12)) - 0.5
    flow, guess = tf.constant(flow, tf.float32), tf.constant(2.0)
    readings = battery(flow, 4.2)

    def loss(way: Callable, capacity: tf.Tensor) -> tf.Tensor:
        return tf.reduce_mean((way(flow, capacity) - readings) ** 2)

    found = {
        "C++ op": battery,
        "NumPy": battery_in_numpy,
        "tf.scan": hour_by_hour,
        "associative_scan": in_pairs,
    }
    steps = {name: differentiated(partial(loss, way)) for name, way in found.items()}
    ways = {name: tf.function(step, autograph=False) for name, step in steps.items()}
    ways["tf.scan, XLA"] = compiled_by_xla(steps["tf.scan"])
    calls = {name: partial(way, guess) for name, way in ways.items()}
    return Case({"mode": BATTERY, "size": hours}, calls, rtol=1e-3)


def cases() -> Iterator[Case]:
    yield from map(battery_case, HOURS)
    alone = product(("eager", "tf.function"), SIZES)
    in_one = product((CHAIN, STEP), SIZES[:1])
    for mode, size in (*alone, *in_one):
        x = tf.constant(np.random.default_rng(0).normal(scale=3, size=size), tf.float32)
        calls = {name: partial(way, x) for name, way in ways(mode).items()}
        yield Case({"mode": mode, "size": size}, calls, rtol=1e-3, atol=1e-5)


if __name__ == "__main__":
    notes = [
        "times, float32: the median of the rounds; TensorFlow's settings as it comes, oneDNN on",
    ]
    run_turns(cases, notes)
