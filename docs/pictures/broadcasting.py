"""The pictures of the chapter on broadcasting: drawn from what the ops return and from what was measured."""

from collections.abc import Callable

import numpy as np
from IPython.display import HTML
from measured import read
from pictures.drawing import picture, small
from pictures.layout import box, column, grid, row, table


def broadcast_picture(op: Callable) -> HTML:
    """A column and a row, and what comes of them: each cell of the result names the two that it is made of."""
    x, y = np.array([[1], [4]], np.int32), np.array([6, 3, 1], np.int32)
    z = op(x, y).numpy()
    size = {"width": 54, "height": 54, "corner": 0, "pad": 0}
    cells = [
        [box([f"{z[i, j]}", small(f"|{x[i, 0]} − {y[j]}|")], **size) for j in range(3)]
        for i in range(2)
    ]
    shapes = row(
        column("x: [2, 1]", grid(x, 1, width=54)),
        column("y: [3]", grid(y, 1, width=54)),
        column("z: [2, 3]", table(cells, 0)),
        gap=32,
        align="start",
    )
    label = (
        f"A column of {x[0, 0]} and {x[1, 0]}, a row of {', '.join(map(str, y))}, and the result: "
        + "; ".join(", ".join(map(str, row)) for row in z.tolist())
        + ". Each of its six elements is made of one element of the column and one of the row."
    )
    return picture(shapes, label)


def places(inputs: dict[str, np.ndarray]) -> tuple[list[object], list[list[object]]]:
    """Head and rows of a table: where in each input the rows of the broadcast output begin."""
    shape = np.broadcast_shapes(*(x.shape for x in inputs.values()))
    begin = {
        name: np.broadcast_to(np.arange(x.size).reshape(x.shape), shape)[..., 0].ravel()
        for name, x in inputs.items()
    }
    rows = [[f"its place in the {name}", *where] for name, where in begin.items()]
    return ["row of the output", *range(len(rows[0]) - 1)], rows


TASKS = {
    "bytes": "uint8",
    "two equal shapes": "equal shapes",
    "a matrix and a row": "a row",
    "[333333, 3] and [3]": "three channels",
    "`Blend`: three equal shapes": "blend, equal shapes",
    "two images [577, 578, 3], a mask [577, 578, 1]": "blend, a mask",
    "image [577, 578, 3], colour [3], mask [578, 1]": "blend, a colour and a row",
}
# The ways that have no name of their own come last: a composition, and the same under XLA.
OURS = ["without use_bcast_optimization", "with packetOp"]


def verdicts() -> tuple[list[str], list[list[str]]]:
    """Head and rows of a table: milliseconds on one thread, of our op and of others, from `bench/broadcast.csv`."""
    found = []
    for name, task in TASKS.items():
        rows = read("broadcast").where(task=task, threads="1")
        times = {row["way"]: f"{float(row['milliseconds']):.2f}" for row in rows}
        ours, *_, composed, compiled = times.values()
        variants = (times.get(way, "") for way in OURS)
        found.append([name, ours, *variants, composed, compiled])
    header = ["", "our op", "without `use_bcast_…`", "with `packetOp`"]
    return [*header, "composition", "under XLA"], found
