"""The interface of the op: its names, its documentation, and whether old graphs still fit it."""

import inspect
import keyword
import re
import sys

import tensorflow as tf
from google.protobuf import text_format
from tensorflow.core.framework import op_def_pb2

from opcheck import compatibility
from opcheck.findings.report import Findings
from opcheck.findings.source import function_of
from opcheck.subject import Subject, is_builtin, parameter_names


def schema(subject: Subject, found: Findings) -> str:
    """Looks for names that mean something else in Python, and tests whether graphs of an older definition still load.

    That is the option `old_op_def`. A name against TensorFlow's conventions and an undocumented attr are notes.
    """
    description = subject.describe()
    for op_def in description.op_defs.values():
        _check_names(op_def, found)
        check_documentation(subject, op_def, found)
    text = subject.options.get("old_op_def") or ""
    old = text_format.Parse(text, op_def_pb2.OpList()).op
    for op_def in old:
        now = description.op_defs.get(op_def.name)
        if now is None:
            found.fail(
                f"the older OpDef of {op_def.name}",
                "a definition of an op under test",
                f"the ops under test are {', '.join(description.op_types)}",
                "the op was renamed: graphs that use the old name do not load",
                "backward_compatibility",
            )
            continue
        for problem in compatibility.problems(op_def, now):
            found.fail(
                f"the older OpDef of {op_def.name}",
                "a graph made with it runs as before",
                problem,
                "a change of the interface that old graphs do not survive",
                "backward_compatibility",
            )
    named = f"names and documentation of {', '.join(description.op_types)}"
    if old:
        return f"{named}; old graphs fit"
    return f"{named}; no older OpDef was given to compare with"


def _check_names(op_def, found: Findings) -> None:
    if is_builtin(op_def.name):
        return
    arguments = [x.name for x in (*op_def.input_arg, *op_def.output_arg)]
    attrs, attr = [x.name for x in op_def.attr], "lower_case, or as T and Tindices"
    for kind, names, pattern, rule in (
        ("op", [op_def.name.split(">")[-1]], r"_?[A-Z][A-Za-z0-9]*", "CamelCase"),
        ("input or output", arguments, r"[a-z][a-z0-9_]*", "lower_case"),
        ("attr", attrs, r"[a-z][a-z0-9_]*|[A-Z][A-Za-z0-9_]*", attr),
    ):
        for name in names:
            what = f"the name of {kind} {name}"
            if not re.fullmatch(pattern, name):
                found.note(f"{what} is against the convention: {rule}")
            elif keyword.iskeyword(name) or name in ("self", "name"):
                found.fail(
                    what,
                    "a name that Python can take as an argument",
                    name,
                    "a keyword of Python, or the generated function's own argument `name`",
                )


def check_documentation(subject: Subject, op_def, found: Findings) -> None:
    """Looks in the docstrings of both functions for each attr that a caller sets."""
    inferred = {
        attr
        for arg in op_def.input_arg
        for attr in (arg.type_attr, arg.number_attr, arg.type_list_attr)
    }
    generated = generated_docstring(op_def.name)
    own = inspect.getdoc(subject.op) or ""
    if own == generated:
        own = ""
    parameters = parameter_names(subject.op)
    attrs = [
        attr.name
        for attr in op_def.attr
        if attr.name not in inferred
        and (attr.name in parameters or not is_builtin(op_def.name))
    ]

    def described(name: str) -> bool:
        texts = own if name in parameters else "", description_in(generated, name)
        return any(re.search(rf"\b{re.escape(name)}\b", text) for text in texts)

    def explained(name: str) -> bool:
        """Whether a docstring explains an argument. Prose in which the name is a mere word does not count."""
        own_line = (
            rf"(?m)^\W*(param \S*\s*)?{re.escape(name)}\b[^.]*:|`{re.escape(name)}`"
        )
        by_line = name in parameters and re.search(own_line, own)
        return bool(by_line or description_in(generated, name))

    inputs = (x.name for x in op_def.input_arg)
    if not any(map(described, attrs)) and not any(map(explained, inputs)):
        if attrs:
            found.note(f"{op_def.name} has no documentation of its arguments")
        return
    for name in attrs:
        if not described(name):
            found.note(f"attr {name} of {op_def.name} has no documentation")


def generated_docstring(op_type: str) -> str:
    """The docstring that TensorFlow made from .Doc()."""
    if is_builtin(op_type):
        return getattr(tf.raw_ops, op_type).__doc__ or ""
    for module in list(sys.modules.values()):
        if "_IS_TENSORFLOW_PLUGIN" in getattr(module, "__dict__", ()):
            if function := getattr(module, function_of(op_type), None):
                return inspect.getdoc(function) or ""
    return ""


def description_in(docstring: str, name: str) -> str:
    """What a generated docstring says about an argument besides its type and default."""
    for line_number, line in enumerate(lines := docstring.splitlines()):
        if not re.match(rf"\s*{re.escape(name)}: ", line):
            continue
        indent = len(line) - len(line.lstrip())
        text = line.split(": ", 1)[1]
        for more in lines[line_number + 1 :]:
            if len(more) - len(more.lstrip()) <= indent:
                break
            text += " " + more.strip()
        # What TensorFlow writes by itself: the type, from which attr it is, and the default.
        text = re.sub("`[^`]*`", "``", text)
        types = "Must be one of the following types:|(Must have|Has) the same type as"
        own = rf"An? [^.]*\.( ({types})[^.]*\.)?( Defaults to [^.]*\.)?"
        said = re.sub(f"^{own}", "", text)
        return f"{name} {said}" if said.strip() else ""
    return ""
