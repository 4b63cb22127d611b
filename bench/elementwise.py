"""How long LogCosh and Snake take beside compositions of TensorFlow's ops, with XLA and without.

It compiles other variants of LogCosh and Snake, from elementwise.cc. All run inside of a `tf.function`; for each number
of threads there is a process of its own.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from compiler import NEWER, can, compiled_op
from elementwise import log_cosh, log_cosh_plain
from snake import snake
from turns import Case, compiled_by_xla, run_turns, traced, trained

ROOT = Path(__file__).parents[1]
SOURCE = Path(__file__).with_suffix(".cc")
SIZE, LARGE = 1_000_000, 10_000_000
PROCESSORS = {"any x86-64": (), **NEWER}


def keras_formula(x: tf.Tensor) -> tf.Tensor:
    """What `keras.losses.log_cosh` computes before the mean: the best composition where few digits do."""
    return x + tf.nn.softplus(-2.0 * x) - np.log(2)


def all_digits(x: tf.Tensor) -> tf.Tensor:
    """The formulas of LogCosh, of TensorFlow's ops: the best composition with as many right digits."""
    size = tf.abs(x)
    near = size < 1
    v = tf.where(near, 2 * tf.square(tf.sinh(size / 2)), tf.exp(-2 * size))
    return tf.math.log1p(v) + tf.where(near, 0.0, size - np.float32(np.log(2)))


def logarithm(x: tf.Tensor) -> tf.Tensor:
    """Keras' formula by the plain logarithm, with as many right digits."""
    size = tf.abs(x)
    return size + tf.math.log(1 + tf.exp(-2 * size)) - np.log(2)


def snake_composed(x: tf.Tensor) -> tf.Tensor:
    return x + tf.square(tf.sin(x))


def polynomial(x: tf.Tensor) -> tf.Tensor:
    """Snake by the Taylor polynomial of the sine, whose square repeats after π, which two numbers subtract exactly."""
    halves = tf.round(x / np.float32(np.pi))
    near = x - halves * np.float32(3.140625) - halves * np.float32(np.pi - 3.140625)
    square, series = tf.square(near), 0.0
    for last in (11, 9, 7, 5, 3):
        series = (1 + series) * square * np.float32(-1 / (last * (last - 1)))
    return x + tf.square(near * (1 + series))


def variant(name: str, functor: str, *options: str) -> Callable:
    """An op with a functor, compiled with more options."""
    headers = [ROOT / "examples" / "elementwise" / "log_cosh.h"]
    return compiled_op(name, SOURCE, [f"-DFUNCTOR={functor}", *options], headers)


def variants(name: str, functor: str) -> dict[str, Callable]:
    """The op by Eigen's loop, compiled for processors such as this one or older."""
    return {
        f"for {processor}": variant(
            f"{name}For{words[0].title() if words else 'Any'}",
            functor,
            *(f"-m{word}" for word in words),
        )
        for processor, words in PROCESSORS.items()
        if can(*words)
    }


def with_xla(ways: Mapping[str, Callable]) -> dict[str, Callable]:
    """Compositions, each as it is and compiled by XLA."""
    compiled = {f"{name}, XLA": compiled_by_xla(way) for name, way in ways.items()}
    return {**ways, **compiled}


def traced_case(
    task: str, ways: Mapping[str, Callable], inputs: list, **more: object
) -> Case:
    runs = {name: traced(way, *inputs) for name, way in ways.items()}
    return Case({"task": task}, runs, **more)


def cases(threads: int) -> Iterator[Case]:
    numbers = np.random.default_rng(0).normal(scale=3, size=LARGE)
    large = tf.constant(numbers, tf.float32)
    x = tf.constant(numbers[:SIZE], tf.float32)
    close, softplus = {"rtol": 1e-5, "atol": 1e-6}, {"tf.nn.softplus": tf.nn.softplus}
    composed = {"four stock ops": keras_formula, "all digits": all_digits}
    ways = {"LogCosh": log_cosh, "LogCoshOfOne": log_cosh_plain}
    ways |= {"one by one": variant("LogCoshOneByOne", "OneByOne")}
    ways |= variants("LogCosh", "LogCosh<float>") | with_xla(composed)
    ways |= {"logarithm, XLA": compiled_by_xla(logarithm), **softplus}
    yield traced_case("float32", ways, [x], **close, unlike=[*softplus])

    ways = {"LogCosh": trained(log_cosh)}
    ways |= with_xla({name: trained(way) for name, way in composed.items()})
    ways |= {"logarithm, XLA": compiled_by_xla(trained(logarithm))}
    yield traced_case("forward and gradient", ways, [x], **close)
    ways = {"LogCosh": log_cosh, **softplus}
    inputs = [tf.cast(x, tf.float64)]
    yield traced_case("float64", ways, inputs, unlike=[*softplus])

    ways = {"Snake": snake} | with_xla({"composed": snake_composed})
    ways |= {"polynomial, XLA": compiled_by_xla(polynomial)}
    ways |= variants("Snake", "Snake")
    yield traced_case("Snake", ways, [x], **close)
    yield traced_case(f"Snake of {LARGE}", ways, [large], unlike=[*ways][1:])


if __name__ == "__main__":
    notes = [
        f"times of a call in a tf.function, {SIZE} random numbers, float32 if not said: the median of the rounds",
        "XLA: the same with jit_compile=True; all digits: the formulas of LogCosh, composed",
        "logarithm, polynomial: formulas that suit XLA",
        "Snake, the op: one thread; for any x86-64 and the like: the same formula by Eigen's loop, which threads share",
    ]
    run_turns(cases, notes, rounds=21, span=0.017, threads=True)
