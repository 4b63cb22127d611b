"""The pictures of the chapter on state, each drawn from calls that were made, or from a traced graph."""

import gc
from collections.abc import Sequence

import tensorflow as tf
from IPython.display import HTML
from pictures.figures import (
    BOLD,
    CODE,
    COLOURS,
    FITTING,
    MIDDLE,
    POINTED,
    SMALL,
    TIP,
    arrow_down,
    box,
    drawing,
    text,
)
from state import KeyTable
from stock_key_table import StockKeyTable
from watch_table import watch

FAINT, STRONG = 0.12, 0.4


def words(tensor: tf.Tensor) -> list[str]:
    return [
        value.decode() if isinstance(value, bytes) else str(value)
        for value in tensor.numpy().tolist()
    ]


def calls_and_table(calls: Sequence[Sequence[str]]) -> HTML:
    """Makes calls of a new table and draws, for each, keys, table and numbers; what is new in the table is marked."""
    table, parts, left, told, rows = KeyTable(), [], 8, [], 0
    size, cell, gap = 0, 50, 34
    for keys in calls:
        numbers = table(keys)
        kept = words(table.keys())
        across = max(len(keys), 2) * cell
        parts.append(text(left, 14, f"call {len(told) + 1}", BOLD))
        for i, (key, number) in enumerate(zip(keys, numbers.numpy())):
            middle = left + i * cell + cell / 2
            parts += [
                box(left + i * cell + 2, 24, cell - 4, 26, FAINT, 1),
                text(middle, 42, key, MIDDLE, CODE),
                arrow_down(middle, 54, 76),
                box(left + i * cell + 2, 80, cell - 4, 26, FAINT),
                text(middle, 98, str(number), MIDDLE, CODE),
            ]
        parts.append(text(left + 2, 134, "the table after it:", SMALL))
        for number, key in enumerate(kept):
            y = 142 + 26 * number
            parts += [
                box(left + 2, y, 96, 22, STRONG if number >= size else FAINT),
                text(left + 12, y + 16, f"{key}", CODE),
                text(left + 80, y + 16, f"{number}", CODE),
            ]
        told.append(
            f"{', '.join(keys)} get the numbers {', '.join(map(str, numbers.numpy()))}"
        )
        size, rows = len(kept), max(rows, len(kept))
        left += across + gap
    label = (
        f"Calls of one table: {'; '.join(told)}. Then the table has {', '.join(kept)}."
    )
    return HTML(drawing(parts, left, 148 + 26 * rows, label, style=FITTING))


LIFE = [
    "guests = KeyTable()",
    "@tf.function(autograph=False)\ndef welcome(keys):\n    return guests(keys)",
    'welcome(tf.constant(["ann"]))',
    "del guests",
    'welcome(tf.constant(["bob"]))',
    "del welcome",
]


def life() -> HTML:
    """Runs lines of Python, and draws beside each whether the table is there after it."""
    lines, names, alive = [], {"tf": tf, "KeyTable": KeyTable}, None
    for line in LIFE:
        exec(line, names)
        alive = alive or watch(names["guests"])
        gc.collect()
        lines.append((line, alive()))
    rows = [(row, alive) for line, alive in lines for row in line.split("\n")]
    parts, height = [text(8, 16, "after this line", SMALL)], 26
    width = 16 + 8.6 * max(len(row) for row, _ in rows)
    parts.append(text(width + 10, 16, "the table", SMALL))
    for i, (row, alive) in enumerate(rows):
        y = 26 + height * i
        indent = 8.4 * (len(row) - len(row.lstrip()))
        parts.append(text(8 + indent, y + 17, row.strip(), CODE))
        if alive:
            parts.append(
                f'<rect x="{width + 14:g}" y="{y:g}" width="36" height="{height}" fill="{COLOURS[0]}" '
                f'fill-opacity="{STRONG}"/>'
            )
        else:
            parts.append(text(width + 14, y + 17, "gone", SMALL))
    there = "; ".join(" ".join(line.split()) for line, alive in lines if alive)
    label = f"The table is there after {there}."
    return HTML(
        drawing(parts, width + 80, 34 + height * len(rows), label, style=FITTING)
    )


def order_of(function: tf.types.experimental.ConcreteFunction, names: dict) -> HTML:
    """Draws the calls of NumberKeys in a graph, a row for each table, with the arrows that keep their order.

    Args:
      function: Traced; its tables are captured.
      names: From the `id` of each handle to what to call the table.
    """
    outer = {
        inner.op.name: names[id(handle)] for handle, inner in function.graph.captures
    }
    calls = [op for op in function.graph.get_operations() if op.type == "NumberKeys"]
    rows = list(dict.fromkeys(outer[op.inputs[0].op.name] for op in calls))
    places, parts, told = {}, [TIP], []
    for i, op in enumerate(calls):
        row = rows.index(outer[op.inputs[0].op.name])
        places[op.name] = x, y = 66 + 84 * i, 10 + 62 * row
        parts += [
            box(x, y, 94, 36, FAINT, row),
            text(x + 47, y + 22, op.name, MIDDLE, CODE, SMALL),
        ]
        for before in op.control_inputs:
            if before.name in places:
                from_x, from_y = places[before.name]
                parts.append(
                    f'<path d="M{from_x + 94:g} {from_y + 18:g}L{x - 2:g} {y + 18:g}" {POINTED}/>'
                )
                told.append(f"{op.name} waits for {before.name}")
    parts += [text(8, 32 + 62 * i, row, BOLD) for i, row in enumerate(rows)]
    label = f"Calls of {' and '.join(rows)} in the order of the code. {'; '.join(told)}, and for nothing else."
    height = 62 * len(rows) - 4
    return HTML(drawing(parts, 80 + 84 * len(calls), height, label, style=FITTING))


def two_threads() -> HTML:
    """Draws what two threads do with TensorFlow's own table, when one comes between two steps of the other.

    The steps are made here in this order, one by one.
    """
    numbers = StockKeyTable().numbers
    numbers.insert(tf.constant(["ann"]), tf.constant([0], tf.int64))
    steps = []
    size = {}
    for thread, key, step in [
        (0, "bob", "size"),
        (1, "cid", "size"),
        (0, "bob", "insert"),
        (1, "cid", "insert"),
    ]:
        if step == "size":
            size[key] = numbers.size()
            steps.append((thread, f"how many keys? {int(size[key])}"))
        else:
            numbers.insert(tf.constant([key]), size[key][None])
            steps.append((thread, f"{key} is number {int(size[key])}"))
    given = numbers.lookup(tf.constant(["bob", "cid"])).numpy().tolist()
    if given[0] != given[1]:
        raise ValueError(f"bob and cid have different numbers: {given}")
    parts = [text(98, 18, "one thread", MIDDLE), text(298, 18, "another", MIDDLE)]
    for i, (thread, words_of_step) in enumerate(steps):
        x, y = 8 + 200 * thread, 28 + 38 * i
        parts += [
            box(x, y, 180, 30, FAINT, thread),
            text(x + 90, y + 20, words_of_step, MIDDLE),
        ]
    label = f"Steps of two threads in turn: {'; '.join(step for _, step in steps)}."
    return HTML(drawing(parts, 400, 36 + 38 * len(steps), label, style=FITTING))
