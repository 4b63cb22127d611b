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


TASKS = {
    "arrays of bytes": "uint8",
    "two equal shapes": "equal shapes",
    "a matrix and a row": "a row",
    "[333333, 3] and [3]": "three channels",
}


def verdicts() -> tuple[list[str], list[tuple[str, ...]]]:
    """Head and rows of a table: milliseconds of our op, of the composition, and of the composition under XLA."""
    found = []
    for name, task in TASKS.items():
        rows = read("elementwise").where(task=task, threads="1")[:3]
        found.append((name, *(f"{float(row['milliseconds']):.2f}" for row in rows)))
    return ["", "our op", "composition", "under XLA"], found


def bytes_figures() -> dict[str, float]:
    """How many times as long as our op the composition takes for bytes, and XLA, on one thread."""
    rows = read("elementwise").where(task="uint8", threads="1")
    _, composed, compiled = (float(row["ratio"]) for row in rows[:3])
    return {"composed": composed, "compiled": compiled}
