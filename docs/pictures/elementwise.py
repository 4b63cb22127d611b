"""The pictures of the chapter on unary ops: drawn from what the ops return and from what was measured."""

import math
import re
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import tensorflow as tf
from elementwise_reference import log_cosh_reference
from IPython.display import HTML
from measured import read
from pictures.drawing import picture, words
from pictures.layout import grid, table
from pictures.plots import Plot, chart

LOOKS = [
    {"colour": "blue", "width": 3},
    {"colour": "orange", "width": 2.5, "dash": "7 3"},
    {"width": 1.5, "dash": "2 3"},
]
SMALLEST, LARGEST = -6, 3  # powers of ten


def right_digits(ways: Mapping[str, Callable]) -> dict[str, np.ndarray]:
    """How many digits of log(cosh(x)) are right in float32, at worst, in each tenth of a power of ten."""
    edges = np.linspace(SMALLEST, LARGEST, 10 * (LARGEST - SMALLEST) + 1)
    between = np.linspace(0, 0.1, 50, endpoint=False)
    x = (10 ** (edges[:-1, None] + between)).astype(np.float32)
    with np.errstate(over="ignore"):
        expected = log_cosh_reference(x.astype(np.float64))
    digits = {}
    for name, way in ways.items():
        error = np.abs(np.asarray(way(x), np.float64) / expected - 1).max(axis=1)
        digits[name] = -np.log10(np.clip(error, 10**-7.5, 1))
    return digits


def digits_picture(ways: Mapping[str, Callable]) -> HTML:
    """Draws `right_digits` over x."""
    found = right_digits(ways)
    ends = 10.0**SMALLEST, 10.0**LARGEST
    plot = Plot(410, 146, ends, (0, 8), "x")
    plot.axes("x", "right digits")
    plot.ticks("y", (0, 2, 4, 6))
    plot.ticks("x", [10.0**power for power in range(SMALLEST, LARGEST + 1, 3)])
    for look, (name, digits) in zip(LOOKS, found.items()):
        powers = SMALLEST + 0.05 + 0.1 * np.arange(len(digits))
        plot.line(10**powers, digits, **look)
        places = {5: "a millionth", 35: "a thousandth", 65: "3", -5: "300"}
        says = ", ".join(f"{round(digits[i])} at {x}" for i, x in places.items())
        plot.tells(f"{name}: {says}")
    plot.legend(dict(zip(found, LOOKS)))
    label = (
        "How many digits of the result are right, for x between a millionth and 1000."
    )
    return picture(plot.shape(), label)


def packet_picture(op: Callable) -> HTML:
    """What LogCosh computes of a packet of four numbers: v twice, of which a mask selects, and the logarithm once."""
    x = np.float32([-100, 0.001, 0, 8])
    size = np.abs(x)
    near = size < 1
    # As packetOp does for floats: the first four terms of sinh.
    terms = [(size / 2) ** power / math.factorial(power) for power in (1, 3, 5, 7)]
    v_near, v_far = 2 * np.square(sum(terms)), np.exp(-2 * size)
    logarithm = np.log1p(np.where(near, v_near, v_far))
    added = np.where(near, 0, size - np.float32(np.log(2)))
    result = op(x).numpy()
    np.testing.assert_allclose(result, logarithm + added, rtol=1e-6)
    rows = {
        "x": x,
        "|x|": size,
        "near: |x| < 1": near,
        "v near 0": v_near,
        "v elsewhere": v_far,
        "log(1 + v)": logarithm,
        "|x| − log(2), or 0": added,
        "result": result,
    }
    marked = {"v near 0": near, "v elsewhere": ~near}
    drawn = []
    for name, values in rows.items():
        texts = [f"{v:.4g}" for v in values]
        if values is near:
            texts = np.where(near, "yes", "no").tolist()
        cells = grid(texts, marked.get(name, 0), width=86, height=30, shade=0.3)
        cells.tells(f"{name}: {', '.join(texts)}")
        drawn.append([words(name, bold=name == "result"), cells])
    shapes = table(drawn, (10, 6), "end")
    return picture(shapes, "Four numbers in the lanes of a packet.")


# What the picture calls the ways.
TIMES = {
    "LogCoshOfOne": "plain loop",
    "LogCosh": "LogCosh",
    "four stock ops": "Keras",
    "four stock ops, XLA": "Keras, XLA",
    "logarithm, XLA": "logarithm, XLA",
    "all digits": "all digits",
    "all digits, XLA": "all digits, XLA",
}


SNAKE = {
    "Snake": "our op, for any x86-64 processor",
    "for AVX2 and FMA": "its formula, for AVX2 and FMA",
    "for AVX-512": "its formula, for AVX-512",
    "composed": "composition",
    "composed, XLA": "composition, XLA",
    "polynomial, XLA": "composition with a polynomial for the sine, XLA",
}


def unary_times() -> HTML:
    """Draws milliseconds of LogCosh and of compositions from `bench/elementwise.csv`."""
    rows = read("elementwise").where(task="float32")
    return chart(rows, "milliseconds", name=TIMES, value="milliseconds")


def times_as_long(way: str, task: str = "float32", threads: int = 1) -> float:
    """How many times as long a way takes as our op."""
    of = {"task": task, "way": way, "threads": str(threads)}
    return read("elementwise").number(**of)


def figures() -> dict[str, float]:
    """What the page says in numbers."""
    ways = {
        "xla": ["four stock ops, XLA"],
        "digits": ["all digits, XLA"],
        "logarithm": ["logarithm, XLA"],
        "training": ["logarithm, XLA", "forward and gradient"],
    }
    alone = {
        "any": "for any x86-64",
        "avx2": "for AVX2 and FMA",
        "single": "one by one",
    }
    found = {name: times_as_long(way) for name, way in alone.items()}
    for name, way in ways.items():
        found[name] = times_as_long(*way)
        found[f"{name}_2"] = times_as_long(*way, threads=2)
    return found | functors() | keras_near_zero()


def keras_near_zero() -> dict[str, float]:
    """How far Keras' formula is off in float32, to a digit: for |x| below 1, and its slope at 1e-4 in percent."""
    x = np.append(np.linspace(-1, 1, 20001), 1e-4).astype(np.float32)
    watched = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(watched)
        y = watched + tf.nn.softplus(-2 * watched) - math.log(2)
    slope = tape.gradient(y, watched)[-1].numpy()
    x = x.astype(np.float64)
    off = abs(y.numpy() - log_cosh_reference(x)).max()
    slope_off = 100 * abs(slope / np.tanh(x[-1]) - 1)
    return {"off": float(f"{off:.1g}"), "slope_off": float(f"{slope_off:.1g}")}


def snake_times() -> list[tuple[str, str]]:
    """Ways to compute Snake and their milliseconds on one thread."""
    of, table = {"task": "Snake", "threads": "1"}, read("elementwise")
    return [(name, table.text(way=way, **of)) for way, name in SNAKE.items()]


def _header(name: str) -> str:
    """A header of TensorFlow's kernels, as pip has installed it."""
    folder = Path(tf.sysconfig.get_include(), "tensorflow", "core", "kernels")
    return (folder / name).read_text()


def part_of_header(name: str, first: str, end: str) -> str:
    """From one line of a header on, up to another."""
    _, _, rest = _header(name).partition(first)
    part, found, _ = rest.partition(end)
    assert found, (name, first, end)
    return textwrap.dedent(first + part).rstrip()


def functors() -> dict[str, int]:
    """How many functors with one input TensorFlow has, and with two.

    Raises:
      ValueError: One that the page names is not there.
    """
    text = _header("cwise_ops.h")
    _, *parts = re.split("// (?:Unary|Binary) functors", text, maxsplit=2)
    struct = re.compile(r"^struct (\w+)\s*:\s*base<", re.M)
    one, two = (set(struct.findall(part)) for part in parts)
    of_complex = {"conj", "get_angle", "get_imag", "get_real"}  # of one number, too
    one, two = one | of_complex, two - of_complex
    named = {"maximum", "pow", "safe_div", "squared_difference"}
    if not {"exp", "rsqrt", "sigmoid", "erf"} <= one or not named <= two:
        raise ValueError(f"{sorted(one)}, {sorted(two)}")
    return {"one_input": len(one), "two_inputs": len(two)}
