"""Pictures of the chapter on shape functions, drawn from inferred shapes and computed tensors."""

import subprocess
import sys
from collections.abc import Iterable, Sequence

import numpy as np
import tensorflow as tf
from IPython.display import HTML
from numpy.typing import ArrayLike
from pictures.figures import (
    BOLD,
    CODE,
    COLOURS,
    FITTING,
    MIDDLE,
    arrow_down,
    drawing,
    text,
)

SIDE = 34  # of a dimension's box
BLUE = f'fill="{COLOURS[0]}" fill-opacity="0.25"'
UNKNOWN = 'fill="none" stroke-dasharray="4 4"'


def sizes(shape: str) -> list[str] | None:
    """The sizes in "[?,3]"; None of an unknown rank, "?"."""
    return None if shape == "?" else [x for x in shape.strip("[]").split(",") if x]


def boxes(shape: str, x: float, y: float) -> tuple[list[str], float]:
    """A shape as one box for each dimension, and where it ends; of an unknown rank, one wide box."""
    known = sizes(shape)
    if known is None:
        wide = 2 * SIDE
        return [
            f'<rect x="{x}" y="{y}" width="{wide}" height="{SIDE}" rx="17" stroke="currentColor" {UNKNOWN}/>',
            text(x + wide / 2, y + 22, "?", MIDDLE),
        ], x + wide
    parts = []
    for size in known:
        look = UNKNOWN if size == "?" else BLUE
        parts.append(
            f'<rect x="{x}" y="{y}" width="{SIDE}" height="{SIDE}" stroke="currentColor" {look}/>'
        )
        parts.append(text(x + SIDE / 2, y + 22, size, MIDDLE))
        x += SIDE
    return parts, x


def knowledge(rows: Sequence[tuple[str, str]], names: Sequence[str]) -> HTML:
    """What a shape function makes of what it is told: a row for each of its calls.

    Args:
      rows: Input shapes such as "[?,3];[2,?]", and the shape that came out of them.
      names: Of the inputs, and of the output.
    """
    lefts = [10.0 + 110 * i for i in range(len(names))]
    lefts[-1] += 40
    parts = [text(x, 16, name) for x, name in zip(lefts, names)]
    told = []
    for i, (inputs, output) in enumerate(rows):
        y = 30 + i * (SIDE + 14)
        shapes = [*inputs.split(";"), output]
        for x, shape in zip(lefts, shapes):
            parts += boxes(shape, x, y)[0]
        arrow = lefts[-1] - 50
        parts.append(
            f'<path d="M{arrow} {y + 17}h34m-7 -5 7 5 -7 5" fill="none" stroke="currentColor"/>'
        )
        told.append(f"from {' and '.join(shapes[:-1])} follows {output}")
    width = lefts[-1] + 3 * SIDE
    height = 30 + len(rows) * (SIDE + 14)
    label = f"{'; '.join(told)}. A question mark is not known."
    label = label[0].upper() + label[1:]
    return HTML(drawing(parts, width, height, label, style=FITTING))


def numbers(values: ArrayLike, most: int = 6) -> str:
    """The beginning of a tensor's first row."""
    row = np.atleast_2d(np.asarray(values))[0]
    rounded = [f"{x:.1f}".removesuffix(".0") for x in row[:most]]
    return " ".join(rounded) + (" …" if len(row) > most else "")


def plan_and_run(
    inputs: Sequence[tuple[str, str, ArrayLike]],
    steps: Sequence[tuple[str, str, ArrayLike]],
) -> HTML:
    """A graph with the shapes that are known when it is made, beside what flows through it when it runs.

    Args:
      inputs: The two inputs: their names, their static shapes as text, and what they were.
      steps: Likewise the ops that come one after the other.
    """
    parts, told = [], []
    for name, shape, values in [*inputs, *steps]:
        ran = text_of(np.shape(values))
        told.append(f"{name}: {shape} when traced, {ran} when run")
    for left, runs in ((2, False), (182, True)):
        head = "The run: numbers" if runs else "The plan: shapes"
        parts.append(text(left, 16, head, BOLD))
        x = left
        for name, shape, values in inputs:
            parts += box(x, 30, 78, name, shape, values if runs else None)
            parts.append(arrow_down(x + 39, 86, 108))
            x += 90
        for i, (name, shape, values) in enumerate(steps):
            y = 110 + i * 80
            parts += box(left, y, 168, name, shape, values if runs else None)
            if i + 1 < len(steps):
                parts.append(arrow_down(left + 84, y + 56, y + 78))
    return HTML(drawing(parts, 352, 110 + len(steps) * 80 - 20, f"{'; '.join(told)}."))


def box(
    x: float, y: float, width: float, name: str, shape: str, values: ArrayLike | None
) -> list[str]:
    """A tensor: of its name and the shape that is known, or of its shape and its first numbers."""
    planned = values is None
    look = UNKNOWN if planned else BLUE
    first = shape if planned else text_of(np.shape(values))
    second = "" if planned else numbers(values, most=4 if width > 80 else 3)
    mono = f'{CODE} font-size="13"'
    return [
        f'<rect x="{x}" y="{y}" width="{width}" height="56" rx="6" stroke="currentColor" {look}/>',
        text(x + 8, y + 17, name, f'{BOLD} font-size="13"'),
        text(x + 8, y + 34, first, mono),
        text(x + 8, y + 50, second, mono),
    ]


def text_of(sizes: Iterable[int]) -> str:
    return f"[{','.join(map(str, sizes))}]"


REMOTE = """
import sys
import tensorflow as tf

library = tf.load_op_library(sys.argv[1])
server = tf.distribute.Server.create_local_server()
tf.config.experimental_connect_to_host(server.target)
with tf.device("/job:worker/replica:0/task:0/device:CPU:0"):
    print(int(library.times_asked(0.0)))
"""


def times_asked(library: str) -> dict[str, int]:
    """How often the shape function of TimesAsked is called in the life of a function that calls the op once.

    Args:
      library: Where the op is.

    Returns:
      From what happens to the number of calls.
    """
    op = tf.load_op_library(library).times_asked
    once = tf.function(lambda x: op(x), autograph=False)
    x = tf.constant(0.0)
    remote = [sys.executable, "-c", REMOTE, library]
    run = subprocess.run(remote, capture_output=True, text=True, check=True)
    counts = [int(op(x)), int(op(x))]
    concrete = once.get_concrete_function(tf.TensorSpec([], tf.float32))
    counts.append(int(op(x)))
    for _ in range(2):
        concrete(x)
        counts.append(int(op(x)))
    with tf.Graph().as_default():
        tf.graph_util.import_graph_def(concrete.graph.as_graph_def())
    counts.append(int(op(x)))
    eager, tracing, first, second, importing = np.diff(counts).tolist()
    return {
        "an eager call of the op": eager,
        "an eager call that runs on a worker of a cluster": int(run.stdout.split()[-1]),
        "the function is traced": tracing,
        "it is called for the first time: its graph is optimized": first,
        "it is called for the second time": second,
        "its graph is imported": importing,
    }
