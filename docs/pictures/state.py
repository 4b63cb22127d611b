"""The pictures of the chapter on state, each drawn from calls that were made, or from a traced graph."""

import gc
from collections.abc import Sequence

import tensorflow as tf
from IPython.display import HTML
from pictures.drawing import bar, bold, code, picture, small, space
from pictures.layout import arrow, at, box, column, ends, layers, row, table
from state import KeyTable
from stock_key_table import StockKeyTable
from watch_table import watch

FAINT, STRONG = 0.12, 0.4


def words(tensor: tf.Tensor) -> list[str]:
    return tf.strings.as_string(tensor).numpy().astype(str).tolist()


def calls_and_table(calls: Sequence[Sequence[str]]) -> HTML:
    """Makes calls of a new table and draws, for each, keys, table and numbers; what is new in the table is marked."""
    keys_of_all, drawn, kept = KeyTable(), [], []
    for call, keys in enumerate(calls, 1):
        numbers = keys_of_all(keys).numpy()
        before, kept = kept, words(keys_of_all.keys())
        look = {"width": 46, "height": 26}
        above = [box(code(key), FAINT, "orange", **look) for key in keys]
        below = [box(code(str(number)), FAINT, **look) for number in numbers]
        given = layers(table([above, below], (4, 30)), *map(arrow, above, below))
        given.tells(f"{', '.join(keys)} get the numbers {', '.join(map(str, numbers))}")
        look = {"width": 96, "height": 22}
        shades = [FAINT if key in before else STRONG for key in kept]
        entries = [
            box(ends(76, code(key), code(f"{i}")), shade, **look)
            for i, (key, shade) in enumerate(zip(kept, shades))
        ]
        after = column(small("the table after it:"), *entries, gap=4)
        after.tells(f"then the table has {', '.join(kept)}")
        drawn.append(column(bold(f"call {call}"), given, after, gap=14))
    return picture(row(*drawn, gap=24, align="start"), "Calls of one table:")


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
    rows = [[small("after this line"), small("the table")]]
    for line, is_there in lines:
        for each in line.split("\n"):
            rows.append(
                [code(each), bar(36, 26, STRONG) if is_there else small("gone")]
            )
    there = "; ".join(" ".join(line.split()) for line, is_there in lines if is_there)
    label = f"The table is there after {there}."
    return picture(table(rows, (16, 0), "start"), label)


def order_of(function: tf.types.experimental.ConcreteFunction, names: dict) -> HTML:
    """Draws the calls of NumberKeys in a graph, a row for each table, by the `id` of its handle, in their order."""
    handles = [(inner.op.name, id(handle)) for handle, inner in function.graph.captures]
    outer = {inner: names[handle] for inner, handle in handles}
    calls = [op for op in function.graph.get_operations() if op.type == "NumberKeys"]
    rows = list(dict.fromkeys(outer[op.inputs[0].op.name] for op in calls))
    boxes = {}
    shapes = [at(-12, 62 * i, bold(row), "e") for i, row in enumerate(rows)]
    for i, op in enumerate(calls):
        number = rows.index(outer[op.inputs[0].op.name])
        boxes[op.name] = box(code(op.name, 11), FAINT, number, width=94, height=36)
        shapes.append(at(84 * i, 62 * number, boxes[op.name], "w"))
        for before in op.control_inputs:
            if before.name in boxes:
                waits = arrow(boxes[before.name], boxes[op.name])
                shapes.append(waits.tells(f"{op.name} waits for {before.name}"))
    label = f"Calls of {' and '.join(rows)} in the order of the code. Only these wait for another:"
    return picture(layers(*shapes), label)


def two_threads() -> HTML:
    """Draws what two threads do with TensorFlow's own table, when one comes between two steps of the other.

    The steps are made here in this order, one by one.
    """
    numbers = StockKeyTable().numbers
    numbers.insert(tf.constant(["ann"]), tf.constant([0], tf.int64))
    keys, steps, size = ("bob", "cid"), [], {}
    for key in keys:
        size[key] = numbers.size()
        steps.append(f"how many keys? {int(size[key])}")
    for key in keys:
        numbers.insert(tf.constant([key]), size[key][None])
        steps.append(f"{key} is number {int(size[key])}")
    given = numbers.lookup(tf.constant(keys)).numpy().tolist()
    if given[0] != given[1]:
        raise ValueError(f"bob and cid have different numbers: {given}")
    rows = [["one thread", "another"]]
    for i, step in enumerate(steps):
        boxes = [space(), space()]
        boxes[i % 2] = box(step, FAINT, i % 2, width=180, height=30)
        rows.append(boxes)
    label = f"Steps of two threads in turn: {'; '.join(steps)}."
    return picture(table(rows, (18, 8)), label)
