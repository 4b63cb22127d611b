"""The table of specs of inputs, made from calls of TensorFlow's own ops."""

import re

import input_specs
import tensorflow as tf
from pictures.anchors import entries, marked

# From a form to what one wants, how the kernel gets it, and an op of TensorFlow's that has it.
FORMS = """
float | one tensor of a fixed type | context->input(0) | LogicalNot(x=[True, False])
T | one tensor of many types | context->input(0) | Neg(x=[1.5, 2.5])
N * float | a list of tensors of a fixed type | context->input_list("{name}", &list) \
| StringJoin(inputs=['a', 'b', 'c'])
N * T | a list of tensors of one type | context->input_list("{name}", &list) | ShapeN(input=[[1.5, 2.5], [[4, 3, 5]]])
Ts | a list of tensors of different types | context->input_list("{name}", &list) | IdentityN(input=[7, 'a', 2.5])
"""
Table = tuple[list[str], list[tuple]]  # header and rows


def inputs() -> Table:
    """For each form: what it is for, a declaration, a call and how the kernel gets the tensors."""
    rows = []
    for form, wanted, access, call in entries(FORMS):
        op = call.partition("(")[0]
        definition = input_specs.op_def(op)
        [arg] = definition.input_arg
        assert input_specs.form(arg) == form, op
        result = eval(f"tf.raw_ops.{call}", {"tf": tf})
        assert isinstance(result, list) == ("list" in wanted and op != "StringJoin")
        spec = f'.Input("{arg.name}: {input_specs.spec(arg)}")'
        kinds = {attr.name: attr.type for attr in definition.attr}
        names = re.findall(r"\b[A-Z]\w*", input_specs.spec(arg))
        attrs = ", ".join(f'`.Attr("{name}: {kinds[name]}")`' for name in names)
        declared = f"{attrs}, `{spec}`" if attrs else f"`{spec}`"
        access = access.format(name=arg.name)
        wanted = marked(f"input-{op}", wanted)
        rows.append((wanted, declared, f"`{call}`", f"`{access}`"))
    header = ["You want", "The interface", "A call, of `tf.raw_ops`", "The kernel"]
    return header, rows
