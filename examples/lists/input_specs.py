"""How the ops in this process declare their inputs and outputs, read from TensorFlow's table of ops."""

import tensorflow as tf
from tensorflow.core.framework.types_pb2 import DataType
from tensorflow.python.framework import (
    op_def_registry,
)  # no public module reads the table

FORMS = {
    "float": "one tensor of this type",
    "T": "one tensor, its type in a `type` attr",
    "N * float": "a list of tensors of this type, their number in an `int` attr",
    "N * T": "a list of tensors of one type, number and type in attrs",
    "Ts": "a list of tensors, their types in a `list(type)` attr",
    "Ref(float)": "a tensor of this type that the op may write into",
    "Ref(T)": "a tensor that the op may write into, its type in an attr",
    "Ref(N * float)": "a list of such tensors of this type",
    "Ref(N * T)": "a list of such tensors, number and type in attrs",
}
"""From the form of a spec, with `float` for any type and `T`, `N`, `Ts` for any attr, to its meaning."""

HEADER = ["Spec", "What is passed", "Inputs", "Outputs", "For example"]


def op_def(name: str):
    """The `OpDef`, a protocol buffer, of a registered op; None where there is none."""
    return op_def_registry.get(name)


def tensorflow_op_defs() -> list:
    """The definition of each op that `tf.raw_ops` has."""
    return [found for name in dir(tf.raw_ops) if (found := op_def(name))]


def spec(arg) -> str:
    """Writes an input or output, an `OpDef.ArgDef`, as `.Input()` and `.Output()` read it, without its name."""
    word = DataType.Name(arg.type).removeprefix("DT_").lower()
    text = arg.type_list_attr or arg.type_attr or word
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


def uses(name: str, field: str) -> dict[str, str]:
    """From each of TensorFlow's ops that has an input or output of this form to one such spec.

    Args:
      name: A key of FORMS.
      field: `input_arg` or `output_arg`.
    """
    return {
        definition.name: f"{arg.name}: {spec(arg)}"
        for definition in tensorflow_op_defs()
        for arg in getattr(definition, field)
        if form(arg) == name
    }


def rows() -> list[tuple]:
    """For each form, how many of TensorFlow's ops use it, and the one with the shortest name."""
    found = []
    for name, meaning in FORMS.items():
        inputs, outputs = uses(name, "input_arg"), uses(name, "output_arg")
        op = min(inputs, key=len)
        example = f"`{inputs[op]}` of `{op}`"
        found.append((f"`{name}`", meaning, len(inputs), len(outputs), example))
    return found
