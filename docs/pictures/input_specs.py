"""The table of specs of inputs, made from calls of TensorFlow's own ops."""

import re

import input_specs
import tensorflow as tf
from pictures.anchors import Table, entries, marked
from tensorflow.core.framework.types_pb2 import DataType

# From a form to what one wants, how the kernel gets it, and an op of TensorFlow's that has it.
FORMS = """
float | one tensor of a fixed type | context->input("{name}", &tensor) | LogicalNot(x=[True, False])
T | one tensor, of one of several types | context->input("{name}", &tensor) | Floor(x=[1.5, 2.5])
N * float | a list of tensors of a fixed type | context->input_list("{name}", &list) \
| StringJoin(inputs=['a', 'b', 'c'])
N * T | a list of tensors of one type | context->input_list("{name}", &list) | ShapeN(input=[[1.5, 2.5], [[4, 3, 5]]])
Ts | a list of tensors of different types | context->input_list("{name}", &list) | IdentityN(input=[7, 'a', 2.5])
"""


def declared_attr(attr) -> str:
    """An attr as an interface declares it: its types, if not all, and a minimum other than 1."""
    if allowed := attr.allowed_values.list.type:
        words = (DataType.Name(each).removeprefix("DT_").lower() for each in allowed)
        return f"{{{', '.join(words)}}}"
    least = attr.has_minimum and attr.minimum != 1
    return f"{attr.type} >= {attr.minimum}" if least else attr.type


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
        kinds = {attr.name: declared_attr(attr) for attr in definition.attr}
        names = re.findall(r"\b[A-Z]\w*", input_specs.spec(arg))
        attrs = ", ".join(f'`.Attr("{name}: {kinds[name]}")`' for name in names)
        declared = f"{attrs}, `{spec}`" if attrs else f"`{spec}`"
        access = access.format(name=arg.name)
        wanted = marked(f"input-{op}", wanted)
        rows.append((wanted, declared, f"`{call}`", f"`{access}`"))
    header = ["You want", "The interface", "A call, of `tf.raw_ops`", "The kernel"]
    return header, rows
