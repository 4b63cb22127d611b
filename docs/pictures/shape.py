"""Pictures of the chapter on shape functions, drawn from inferred shapes and computed tensors."""

from collections.abc import Iterable, Sequence

import numpy as np
from IPython.display import HTML
from numpy.typing import ArrayLike
from pictures.drawing import Shape, bold, code, line, picture, small
from pictures.layout import arrow, box, chain, column, layers, row, table

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
    """What a shape function makes of input shapes such as "[?,3];[2,?]": a numbered row for each call."""
    drawn = [["", *names[:-1], "", names[-1]]]
    for case, (inputs, output) in enumerate(rows, 1):
        shapes = inputs.split(";")
        follows = line((0, 0), (34, 0), tip=True)
        follows.tells(f"{case}, from {' and '.join(shapes)} follows {output}")
        drawn.append([small(str(case)), *map(boxes, shapes), follows, boxes(output)])
    shapes = table(drawn, (20, 14), "start")
    return picture(shapes, "What is not known is a question mark:")


def from_a_value(rows: Sequence[tuple[str, str, str]]) -> HTML:
    """What a shape function makes of a value, of which so much is known: a row for each call."""
    drawn = [["the value", "of which is known", "", "output"]]
    for value, known, output in rows:
        follows = line((0, 0), (34, 0), tip=True)
        follows.tells(f"{value}, of which {known} is known, gives {output}")
        drawn.append([code(value, 13), known, follows, boxes(output)])
    return picture(table(drawn, (20, 14), "start"))


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
    drawn = []
    for head, runs in ("The plan: shapes", False), ("The run: numbers", True):
        above = [tensor(*each, 78, runs) for each in inputs]
        below = [tensor(*each, 168, runs) for each in steps]
        stack = column(row(*above, gap=12), *below, gap=24)
        arrows = *(arrow(each, below[0]) for each in above), *chain(*below)
        drawn.append(column(bold(head), layers(stack, *arrows), gap=10))
    return picture(row(*drawn, gap=12))


def text_of(sizes: Iterable[int]) -> str:
    return f"[{','.join(map(str, sizes))}]"


def tensor(name: str, shape: str, values: ArrayLike, width: float, runs: bool) -> Shape:
    """A tensor: of its name and the shape that is known, or of its shape and its first numbers."""
    words = [bold(name, 13), code(text_of(np.shape(values)) if runs else shape, 13)]
    words.append(code(numbers(values, most=4 if width > 80 else 3) if runs else "", 13))
    look = {"shade": 0.25} if runs else {"dashed": True}
    each = box(words, width=width, height=58, corner=6, align="start", **look)
    of = f"{text_of(np.shape(values))} when run" if runs else f"{shape} when traced"
    return each.tells(f"{name}: {of}")
