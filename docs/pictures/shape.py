"""Pictures of the chapter on shape functions, drawn from inferred shapes and computed tensors."""

import subprocess
import sys
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
import tensorflow as tf
from IPython.display import HTML
from numpy.typing import ArrayLike
from pictures.drawing import Shape, bold, code, line, picture
from pictures.layout import arrow, box, column, layers, row, table

SIDE = 34  # of a dimension's box


def sizes(shape: str) -> list[str] | None:
    """The sizes in "[?,3]"; None of an unknown rank, "?"."""
    return None if shape == "?" else [x for x in shape.strip("[]").split(",") if x]


def boxes(shape: str) -> Shape:
    """A shape as one box for each dimension; of an unknown rank, one wide box."""
    known = sizes(shape)
    if known is None:
        return box("?", width=2 * SIDE, height=SIDE, corner=17, dashed=True)
    cells = []
    for size in known:
        look = {"dashed": True} if size == "?" else {"shade": 0.25}
        cells.append(box(size, width=SIDE, height=SIDE, corner=0, **look))
    return row(*cells, gap=0)


def knowledge(rows: Sequence[tuple[str, str]], names: Sequence[str]) -> HTML:
    """What a shape function makes of what it is told: a row for each of its calls.

    Args:
      rows: Input shapes such as "[?,3];[2,?]", and the shape that came out of them.
      names: Of the inputs, and of the output.
    """
    drawn, told = [[*names[:-1], "", names[-1]]], []
    for inputs, output in rows:
        shapes = inputs.split(";")
        follows = line((0, 0), (34, 0), tip=True)
        drawn.append([*map(boxes, shapes), follows, boxes(output)])
        told.append(f"from {' and '.join(shapes)} follows {output}")
    label = f"{'; '.join(told)}. A question mark is not known."
    return picture(table(drawn, (20, 14), "start"), label[0].upper() + label[1:])


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
    drawn, arrows = [], []
    for head, runs in ("The plan: shapes", False), ("The run: numbers", True):
        above = [tensor(*each, 78, runs) for each in inputs]
        below = [tensor(*each, 168, runs) for each in steps]
        arrows += [arrow(each, below[0]) for each in above]
        arrows += [arrow(*pair) for pair in pairwise(below)]
        stack = column(row(*above, gap=12), *below, gap=24)
        drawn.append(column(bold(head), stack, gap=10))
    told = (
        f"{name}: {shape} when traced, {text_of(np.shape(values))} when run"
        for name, shape, values in [*inputs, *steps]
    )
    return picture(layers(row(*drawn, gap=12), *arrows), f"{'; '.join(told)}.")


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


def tensor(name: str, shape: str, values: ArrayLike, width: float, runs: bool) -> Shape:
    """A tensor: of its name and the shape that is known, or of its shape and its first numbers."""
    words = [bold(name, 13), code(text_of(np.shape(values)) if runs else shape, 13)]
    words.append(code(numbers(values, most=4 if width > 80 else 3) if runs else "", 13))
    look = {"shade": 0.25} if runs else {"dashed": True}
    return box(words, width=width, height=58, corner=6, align="start", **look)
