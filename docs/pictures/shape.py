"""Pictures of the chapter on shape functions, drawn from inferred shapes and computed tensors."""

from collections.abc import Iterable, Sequence

import numpy as np
from IPython.display import HTML
from numpy.typing import ArrayLike
from pictures.drawing import Shape, bold, code, picture
from pictures.layout import arrow, box, chain, column, layers, row


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

    Inputs, and the ops after them, have a name, a static shape as text, and their values.
    """
    drawn, arrows = [], []
    for head, runs in ("The plan: shapes", False), ("The run: numbers", True):
        above = [tensor(*each, 78, runs) for each in inputs]
        below = [tensor(*each, 168, runs) for each in steps]
        arrows += [arrow(each, below[0]) for each in above]
        arrows += chain(*below)
        stack = column(row(*above, gap=12), *below, gap=24)
        drawn.append(column(bold(head), stack, gap=10))
    label = "Shapes that flow through a graph, and numbers."
    return picture(layers(row(*drawn, gap=12), *arrows), label)


def text_of(sizes: Iterable[int]) -> str:
    return f"[{','.join(map(str, sizes))}]"


def tensor(name: str, shape: str, values: ArrayLike, width: float, runs: bool) -> Shape:
    """A tensor: of its name and the shape that is known, or of its shape and its first numbers."""
    words = [bold(name, 13), code(text_of(np.shape(values)) if runs else shape, 13)]
    words.append(code(numbers(values, most=4 if width > 80 else 3) if runs else "", 13))
    look = {"shade": 0.25} if runs else {"dashed": True}
    return box(words, width=width, height=58, corner=6, align="start", **look)
