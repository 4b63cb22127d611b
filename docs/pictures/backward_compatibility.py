"""Pictures of the chapter on compatibility, drawn from the files of version 1 and from what is made of them."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import tensorflow as tf
from changes import CHANGES, Change, verdicts
from IPython.display import HTML
from numpy.typing import ArrayLike
from pictures.figures import (
    BOLD,
    CODE,
    COLOURS,
    LINE,
    MIDDLE,
    arrow_down,
    arrow_right,
    drawing,
    text,
)
from pictures.gradient import curves
from tensorflow.core.framework.node_def_pb2 import NodeDef

BLUE = f'fill="{COLOURS[0]}" fill-opacity="0.15"'
ORANGE = f'fill="{COLOURS[1]}" fill-opacity="0.25"'
MONO = f'{CODE} font-size="13"'
TITLE = f'{BOLD} font-size="13"'
HIGH = 20  # of a line of code


def then_and_now(signal: ArrayLike, then: ArrayLike, now: ArrayLike) -> HTML:
    """What a model made of a signal last year, and what it makes of it now."""
    if np.allclose(then, now):
        raise ValueError("there is nothing to see: both results are the same")
    return curves(
        np.asarray(signal),
        {"last year": np.asarray(then), "today": np.asarray(now)},
        "The feature for each number of the signal. Except at 0 and at both ends, today is nearer to 0 than last "
        "year's.",
        ("signal", "feature"),
    )


def value_of(attr) -> str:
    """The value of an attr as a graph in text form has it."""
    _, _, value = str(attr).strip().partition(": ")
    return value.removesuffix(".0")


def box(
    x: float, y: float, width: float, title: str, lines: Mapping[str, str]
) -> list[str]:
    """A box with a title and lines of code; each line in a look of its own.

    Args:
      lines: From each line to the look of the bar behind it, or the empty string.
    """  # fmt: skip
    height = 34 + HIGH * len(lines)
    parts = [
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" {LINE}/>',
        text(x + 10, y + 21, title, TITLE),
    ]
    for i, (line, look) in enumerate(lines.items()):
        top = y + 28 + HIGH * i
        if look:
            parts.append(
                f'<rect x="{x + 4}" y="{top}" width="{width - 8}" height="{HIGH}" {look}/>'
            )
        parts.append(text(x + 10, top + 15, line, MONO))
    return parts


class Found:
    """What becomes of the files of version 1, for each of the changes."""

    HEADER = ("New", "GraphDef", "SavedModel", "Checks")

    def __init__(self, folder: Path) -> None:
        changes = [
            change for of_part in CHANGES.values() for change in of_part.values()
        ]
        self.verdicts = dict(zip(changes, verdicts(folder, changes)))

    def rows(self, part: str) -> list[tuple[str, ...]]:
        """A row for each change of a part of the op."""
        found = []
        for what, change in CHANGES[part].items():
            verdict = self.verdicts[change]
            outcomes = [
                in_a_word(outcome) for outcome in (verdict.graph, verdict.model)
            ]
            checks = "silent" if outcomes == ["same", "same"] else "**silent**"
            if verdict.checks:
                checks = "complain"
            found.append((what, new_lines(change), *outcomes, checks))
        return found


def in_a_word(outcome: str) -> str:
    words = {"same result": "same", "another result": "**another**"}
    return words.get(outcome, "**refused**")


def new_lines(change: Change) -> str:
    """The lines that a change adds to the interface, as short as they can be said."""
    before = [line.strip() for line in change.old.splitlines()]
    lines = [line.strip() for line in change.new.splitlines()]
    short, declared = r"\1", r'^\.(?:Attr|Input|Output)\("(.*)"\)$'
    return ", ".join(
        f"`{re.sub(declared, short, line)}`" for line in lines if line not in before
    )


def loaded(node: NodeDef) -> NodeDef:
    """A node as it is in a graph that has been imported, with all of its attrs."""
    graph = tf.compat.v1.GraphDef(node=[node])
    graph.node[0].attr.pop("_output_shapes")
    signal = graph.node.add(name="signal", op="Placeholder")
    signal.attr["dtype"].type = tf.float32.as_datatype_enum
    with tf.Graph().as_default() as imported:
        tf.graph_util.import_graph_def(graph, name="")
    return imported.get_operation_by_name(node.name).node_def


def completed(node: NodeDef) -> HTML:
    """A node as it was saved, the interface that it meets, and the node that runs."""
    op_def = tf.compat.v1.get_default_graph().op_def_for_type(node.op)
    run = loaded(node)
    shown = [attr.name for attr in op_def.attr]
    saved = {"op": node.op, "input": node.input[0].partition(":")[0]}
    saved |= {name: value_of(node.attr[name]) for name in shown if name in node.attr}
    defaults = {
        f"{attr.name}: {attr.type} = {value_of(attr.default_value)}": attr.name
        for attr in op_def.attr
        if attr.HasField("default_value")
    }
    runs = {
        f"{name}: {value_of(run.attr[name])}": ORANGE if name not in saved else BLUE
        for name in shown
    }
    filled = [name for name in shown if name not in saved]
    if not filled or {*filled} - {*defaults.values()}:
        raise ValueError(f"defaults fill in {filled}, of {defaults}")
    width, gap = 300, 30
    boxes = [
        (
            "last year: what was saved",
            {f"{name}: {value}": BLUE for name, value in saved.items()},
        ),
        (
            "today: defaults of the interface",
            {line: ORANGE if name in filled else "" for line, name in defaults.items()},
        ),
        ("what runs: attrs of the node", runs),
    ]
    parts, y = [], 4
    for i, (title, lines) in enumerate(boxes):
        parts += box(4, y, width, title, lines)
        bottom = y + 34 + HIGH * len(lines)
        if i < 2:
            parts.append(arrow_down(4 + width / 2, bottom, bottom + gap))
        y = bottom + gap
    told = "; ".join(f"{title}: {', '.join(lines)}" for title, lines in boxes)
    return HTML(
        drawing(parts, width + 8, y - gap + 4, f"{told}. Colours say what comes from where.")
    )  # fmt: skip


def names_of_inputs(rows: Sequence[tuple[str, NodeDef, NodeDef]]) -> HTML:
    """How a node says where an input comes from: the words on an arrow are the words in the file.

    Args:
      rows: For each kind of file, its name, the node that gives and the node that takes its output.
    """
    parts, told = [], []
    for i, (kind, gives, takes) in enumerate(rows):
        y = 24 + i * 84
        word = takes.input[0]
        if not word.startswith(gives.name):
            raise ValueError(f"{takes.name} takes {word}, not {gives.name}")
        parts.append(text(4, y - 8, kind, TITLE))
        for x, width, name in ((4, 84, gives.name), (286, 70, takes.name)):
            parts.append(
                f'<rect x="{x}" y="{y}" width="{width}" height="36" rx="6" stroke="currentColor" {BLUE}/>'
            )
            parts.append(text(x + width / 2, y + 23, name, MONO, MIDDLE))
        parts.append(arrow_right(88, 284, y + 18))
        parts.append(text(186, y + 12, word, MONO, MIDDLE))
        told.append(
            f"in the {kind}, {takes.name} names its input from {gives.name} {word}"
        )
    return HTML(drawing(parts, 360, 24 + len(rows) * 84 - 40, f"{'; '.join(told)}."))
