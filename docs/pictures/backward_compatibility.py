"""Pictures of the chapter on compatibility, drawn from the files of version 1 and from what is made of them."""

import difflib
import html
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import tensorflow as tf
from changes import CHANGES, HERE, Change, changed, verdicts, version_1
from IPython.display import HTML, display
from numpy.typing import ArrayLike
from pictures.anchors import codes, tables_beside
from pictures.drawing import Shape, bold, code, picture
from pictures.gradient import curves
from pictures.layout import box, flow
from tensorflow.core.framework.node_def_pb2 import NodeDef


def then_and_now(signal: ArrayLike, then: ArrayLike, now: ArrayLike) -> HTML:
    """What a model made of a signal last year, and what it makes of it now."""
    if np.allclose(then, now):
        raise ValueError("there is nothing to see: both results are the same")
    return curves(
        np.asarray(signal),
        {"mu = 255": np.asarray(then), "mu = 10": np.asarray(now)},
        "The model's output for each number of the signal: with the new default it is nearer to 0.",
        ("signal", "output"),
    )


def value_of(attr) -> str:
    """The value of an attr as a graph in text form has it."""
    _, _, value = str(attr).strip().partition(": ")
    return value.removesuffix(".0")


# The rows of the table: what a maintainer would call the edit, and the changes that it stands for. The first of them
# gives the diff and the error message.
ROWS = tables_beside(__file__)["edits"]
IN_THE_KERNEL = {
    "other": ["- return law(x);", "+ return law(0.5f * x);"],
    "none": ['- REGISTER_KERNEL_BUILDER(Name("MuLaw")…);'],
}
GROUPS = {
    "SAFE": ("#1a7f37", "The model loads and returns the same numbers"),
    "BREAKS": ("#bf6a02", "The user gets an error"),
    "SILENTLY WRONG": ("#cf222e", "No error, other numbers"),
}
STYLE = Path(__file__).with_suffix(".css").read_text()


def diff_of(change: Change) -> list[str]:
    """The lines of version 1's registration that a change takes away and those that it adds."""
    if change.kernel:
        return IN_THE_KERNEL[change.kernel]
    old, new = (
        [line.strip() for line in text.splitlines() if line.strip()]
        for text in (version_1(), changed(change))
    )
    return [line for line in difflib.ndiff(old, new) if line[0] in "+-"]


def group_of(verdict) -> str:
    """What a change means for the users of a model: the worse of what becomes of its two files."""
    outcomes = {verdict.graph, verdict.model}
    if "another result" in outcomes:
        return "SILENTLY WRONG"
    return "SAFE" if outcomes == {"same result"} else "BREAKS"


def said(error: str) -> str:
    """The part of an error's message that says what is wrong."""
    ends = r" from Op<|; Op<|; NodeDef| in binary| used by| for '|\n"
    return re.split(ends, error)[0]


def version_2_diff() -> None:
    """Shows what version 2 changes in the registration."""
    source = (HERE / "backward_compatibility_v2.cc").read_text()
    [version_2] = re.findall(r"^REGISTER_OP.*?(?=\n *\.Doc)", source, re.M | re.S)
    old, new = (text.splitlines() for text in (version_1(), version_2))
    lines = (line.rstrip() for line in difflib.ndiff(old, new) if line[0] != "?")
    shown = "\n".join(["```diff", *lines, "```"])
    display({"text/markdown": shown, "text/plain": shown}, raw=True)


SIGNS = {"+": "new", "-": "old"}
CALLS = {"same result": "work", "another result": "other numbers"}


class Found:
    """What becomes of the files of version 1, for each of the changes."""

    HEADER = ("New", "GraphDef", "SavedModel", "TensorFlow's comparison")

    def __init__(self, folder: Path) -> None:
        changes = [each for part in CHANGES.values() for each in part.values()]
        self.verdicts = dict(zip(changes, verdicts(folder, changes)))

    def edits(self) -> HTML:
        """A table of edits to the registration of version 1, and what each does to the model that version 1 saved, and
        to calls of the generated function.

        Raises:
          ValueError: The changes of one row do not have the same consequence.
        """
        rows = {
            group: f'<tr class="group"><td colspan="3"><span class="dot" style="background: {colour}"></span>{group} '
            f'<span class="means">· {means}</span></td></tr>'
            for group, (colour, means) in GROUPS.items()
        }
        for words, *keys in ROWS:
            parts = [key.split(": ") for key in keys]
            changes = [CHANGES[part][what] for part, what in parts]
            found = [self.verdicts[change] for change in changes]
            groups = {group_of(verdict) for verdict in found}
            if len(groups) > 1:
                raise ValueError(f"{words}: {groups}")
            [group] = groups
            lines = ((line[0], line[1:].strip()) for line in diff_of(changes[0]))
            diff = "".join(
                f'<code class="{SIGNS[sign]}">{html.escape(f"{sign} {line}")}</code>'
                for sign, line in lines
            )
            error = ""
            if group == "BREAKS":
                says = html.escape(said(found[0].model))
                error = f'\n<span class="error">{says}</span>'
            edit = f'<td class="edit">{html.escape(words)}{error}</td>'
            calls = dict.fromkeys(CALLS.get(each.python, "break") for each in found)
            python = f'<td class="calls">{" / ".join(calls)}</td>'
            rows[group] += f"<tr>{edit}<td>{diff}</td>{python}</tr>"
        heads = "<th>Edit</th><th>For example</th><th>Python calls</th>"
        return HTML(
            f'<style>{STYLE}</style><table class="table edits"><thead><tr>{heads}</tr></thead>'
            f"<tbody>{''.join(rows.values())}</tbody></table>"
        )

    def everything(self) -> list[tuple[str, ...]]:
        """What each change of a part does to each kind of file, and what the checks say."""
        words = {"same result": "same", "another result": "**another**"}
        found = []
        for part, changes in CHANGES.items():
            for what, change in changes.items():
                verdict = self.verdicts[change]
                results = verdict.graph, verdict.model
                outcomes = [words.get(each, "**refused**") for each in results]
                checks = "passes" if outcomes == ["same", "same"] else "**passes**"
                if verdict.checks:
                    checks = "complains"
                found.append((part, what, new_lines(change), *outcomes, checks))
        return found


def new_lines(change: Change) -> str:
    """The lines that a change adds to the interface, as short as they can be said."""
    before = [line.strip() for line in change.old.splitlines()]
    lines = [line.strip() for line in change.new.splitlines()]
    declared = re.compile(r'^\.(?:Attr|Input|Output)\("(.*)"\)$')
    return codes(declared.sub(r"\1", line) for line in lines if line not in before)


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
    defaults, runs = {}, {}
    for attr in op_def.attr:
        look = SAVED if attr.name in saved else FILLED_IN
        runs[f"{attr.name}: {value_of(run.attr[attr.name])}"] = look
        if attr.HasField("default_value"):
            default = f"{attr.name}: {attr.type} = {value_of(attr.default_value)}"
            defaults[default] = {} if look is SAVED else FILLED_IN
    of_file = {f"{name}: {value}": SAVED for name, value in saved.items()}
    lists = {"saved by version 1": of_file, "defaults in version 2": defaults}
    lists["what runs"] = runs
    boxes = [listing(*each) for each in lists.items()]
    return picture(flow(*boxes, gap=30), "Colours say what comes from where.")


SAVED = {"shade": 0.15, "colour": "blue"}
FILLED_IN = {"shade": 0.25, "colour": "orange"}


def listing(title: str, lines: Mapping[str, Mapping]) -> Shape:
    """A box with a title and lines of code, each with the look of the bar behind it."""
    size = {"width": 292, "height": 20, "pad": 6, "corner": 0, "stroke": None}
    texts = [(bold(title, 13), {})]
    texts += [(code(each, 13), look) for each, look in lines.items()]
    bars = [box(text, align="start", **size, **look) for text, look in texts]
    return box(bars, width=300, pad=4).tells(f"{title}: {', '.join(lines)}")
