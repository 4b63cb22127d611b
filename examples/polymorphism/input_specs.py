"""How the ops in this process declare their inputs and outputs, read from TensorFlow's table of ops."""

import tensorflow as tf
from tensorflow.python.framework import (
    op_def_registry,
)  # no public module reads the table

FORMS = {
    "float": "one tensor of this type",
    "T": "one tensor, its type in a `type` attr",
    "N * float": "a list of tensors of this type, its length in an `int` attr",
    "N * T": "a list of tensors of one type",
    "Ts": "a list of tensors, their types in a `list(type)` attr",
    "Ref(float)": "one v1 variable of this type",
    "Ref(T)": "one v1 variable",
    "Ref(N * float)": "a list of v1 variables of this type",
    "Ref(N * T)": "a list of v1 variables of one type",
}
"""From the form of a spec, with `float` for any type and `T`, `N`, `Ts` for any attr, to its meaning."""


def op_def(name: str):
    """The `OpDef`, a protocol buffer, of a registered op; None where there is none."""
    return op_def_registry.get(name)


def tensorflow_op_defs() -> list:
    """The definition of each op that `tf.raw_ops` has."""
    return [found for name in dir(tf.raw_ops) if (found := op_def(name))]


def spec(arg) -> str:
    """Writes an input or output, an `OpDef.ArgDef`, as `.Input()` and `.Output()` read it, without its name."""
    text = arg.type_list_attr or arg.type_attr or tf.as_dtype(arg.type).base_dtype.name
    if arg.number_attr:
        text = f"{arg.number_attr} * {text}"
    return f"Ref({text})" if arg.is_ref else text


def form(arg) -> str:
    """The spec with `float` for any type and `T`, `N`, `Ts` for any attr: a key of FORMS."""
    text = "Ts" if arg.type_list_attr else "T" if arg.type_attr else "float"
    if arg.number_attr:
        text = f"N * {text}"
    return f"Ref({text})" if arg.is_ref else text


def inferred_attrs(definition) -> set[str]:
    """The attrs of an op that its inputs tell."""
    return {
        attr
        for arg in definition.input_arg
        for attr in (arg.type_attr, arg.number_attr, arg.type_list_attr)
        if attr
    }


def table() -> str:
    """A Markdown table: for each form, how many of TensorFlow's ops use it, and one of them."""
    rows = [
        "| Spec | Means | Ops with such an input | … with such an output | For example |",
        "|---|---|--:|--:|---|",
    ]
    definitions = tensorflow_op_defs()
    for name, meaning in FORMS.items():
        inputs, outputs = (
            [
                (len(d.name), f"`{d.name}`: `{arg.name}: {spec(arg)}`")
                for d in definitions
                for arg in args(d)
                if form(arg) == name
            ]
            for args in (lambda d: d.input_arg, lambda d: d.output_arg)
        )
        count = [
            len({text.split(":")[0] for _, text in uses}) for uses in (inputs, outputs)
        ]
        rows.append(
            f"| `name: {name}` | {meaning} | {count[0]} | {count[1]} | {min(inputs)[1]} |"
        )
    return "\n".join(rows)
