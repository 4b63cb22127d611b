"""The pictures of the chapter on state, each drawn from calls that were made, or from a traced graph."""

import gc
from collections.abc import Sequence

import tensorflow as tf
from IPython.display import HTML
from pictures.drawing import COLOURS, bold, code, picture, small
from pictures.layout import arrow, box, column, ends, layers, row, table
from state import KeyTable
from watch_table import watch

FAINT, STRONG = 0.12, 0.4


def words(tensor: tf.Tensor) -> list[str]:
    return [
        value.decode() if isinstance(value, bytes) else str(value)
        for value in tensor.numpy().tolist()
    ]


def calls_and_table(calls: Sequence[Sequence[str]]) -> HTML:
    """Makes calls of a new table and draws, for each, keys, table and numbers; what is new in the table is marked."""
    keys_of_all, drawn, arrows, size = KeyTable(), [], [], 0
    for call, keys in enumerate(calls, 1):
        numbers = keys_of_all(keys).numpy()
        kept = words(keys_of_all.keys())
        look = {"width": 46, "height": 26}
        above = [box(code(key), FAINT, COLOURS[1], **look) for key in keys]
        below = [box(code(str(number)), FAINT, **look) for number in numbers]
        arrows += [arrow(*pair) for pair in zip(above, below)]
        entries = [
            box(
                ends(76, code(key), code(f"{i}")),
                STRONG if i >= size else FAINT,
                width=96,
                height=22,
            )
            for i, key in enumerate(kept)
        ]
        after = column(small("the table after it:"), *entries, gap=4)
        drawn.append(
            column(bold(f"call {call}"), table([above, below], (4, 30)), after, gap=14)
        )
        size = len(kept)
    shapes = layers(row(*drawn, gap=24, align="start"), *arrows)
    return picture(shapes, "Calls of one table.")


LIFE = [
    "guests = KeyTable()",
    "@tf.function(autograph=False)\ndef welcome(keys):\n    return guests(keys)",
    'welcome(tf.constant(["ann"]))',
    "del guests",
    'welcome(tf.constant(["bob"]))',
    "del welcome",
]


def life() -> None:
    """Runs lines of Python, and prints beside each whether the table is there after it."""
    names, alive = {"tf": tf, "KeyTable": KeyTable}, None
    for line in LIFE:
        exec(line, names)
        alive = alive or watch(names["guests"])
        gc.collect()
        *before, last = line.split("\n")
        print(*before, f"{last:31} # {'there' if alive() else 'gone'}", sep="\n")
