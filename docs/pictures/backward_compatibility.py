"""Pictures of the chapter on compatibility, drawn from the files of version 1 and from what is made of them."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import tensorflow as tf
from changes import CHANGES, Change, verdicts
from IPython.display import HTML
from numpy.typing import ArrayLike
from pictures.drawing import BLUE, ORANGE, Shape, bold, code, picture
from pictures.gradient import curves
from pictures.layout import arrow, box, column, layers, row
from tensorflow.core.framework.node_def_pb2 import NodeDef


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
        f"{name}: {value_of(run.attr[name])}": SAVED if name in saved else FILLED_IN
        for name in shown
    }
    lists = {
        "last year: what was saved": {
            f"{name}: {v}": SAVED for name, v in saved.items()
        },
        "today: defaults of the interface": {
            each: {} if name in saved else FILLED_IN for each, name in defaults.items()
        },
        "what runs: attrs of the node": runs,
    }
    boxes = [listing(*each) for each in lists.items()]
    arrows = [arrow(*pair) for pair in pairwise(boxes)]
    told = "; ".join(f"{title}: {', '.join(each)}" for title, each in lists.items())
    shapes = layers(column(*boxes, gap=30), *arrows)
    return picture(shapes, f"{told}. Colours say what comes from where.")


def names_of_inputs(rows: Sequence[tuple[str, NodeDef, NodeDef]]) -> HTML:
    """How a node says where an input comes from: the words on an arrow are the words in the file.

    Args:
      rows: For each kind of file, its name, the node that gives and the node that takes its output.
    """
    drawn, arrows, told = [], [], []
    for kind, gives, takes in rows:
        word = takes.input[0]
        one, other = (
            box(code(node.name, 13), corner=6, **SAVED) for node in (gives, takes)
        )
        arrows.append(arrow(one, other, code(word, 13)))
        drawn.append(column(bold(kind, 13), row(one, other, gap=196)))
        told.append(
            f"in the {kind}, {takes.name} names its input from {gives.name} {word}"
        )
    return picture(layers(column(*drawn, gap=20), *arrows), f"{'; '.join(told)}.")


SAVED, FILLED_IN = {"shade": 0.15, "colour": BLUE}, {"shade": 0.25, "colour": ORANGE}


def listing(title: str, lines: Mapping[str, Mapping]) -> Shape:
    """A box with a title and lines of code, each with the look of the bar behind it."""
    size = {"width": 292, "height": 20, "pad": 6, "corner": 0, "stroke": None}
    texts = [(bold(title, 13), {})]
    texts += [(code(each, 13), look) for each, look in lines.items()]
    bars = [box(text, align="start", **size, **look) for text, look in texts]
    return box(bars, width=300, pad=4)
