"""Does TensorFlow still accept the graphs that were made with an older definition of an op?

TensorFlow's C++ function OpDefCompatible is not reachable from Python, so its importer is asked
instead: graphs with every kind of node that the old definition allows are imported against the
registered one. What an importer lets pass is compared here: another default for an attr; an attr that
is gone, which it ignores with a warning; and outputs that functions of SavedModels would not find.
"""

from collections.abc import Iterator

import tensorflow as tf
from tensorflow.core.framework import (
    attr_value_pb2,
    graph_pb2,
    node_def_pb2,
    op_def_pb2,
    tensor_shape_pb2,
)


def problems(old: op_def_pb2.OpDef, now: op_def_pb2.OpDef) -> list[str]:
    """What old graphs complain of, one line each.

    Args:
      old: The op as it was.
      now: The op as it is registered.
    """
    found = []
    attrs = {attr.name: attr for attr in now.attr}
    for attr in old.attr:
        if attr.name not in attrs:
            found.append(f"attr {attr.name} is gone")
        elif attr.HasField("default_value"):
            new = attrs[attr.name]
            if not new.HasField("default_value"):
                found.append(f"attr {attr.name} has lost its default")
            elif new.default_value != attr.default_value:
                found.append(
                    f"the default of attr {attr.name} was {_text(attr.default_value)} and "
                    f"is {_text(new.default_value)}"
                )
    found += _lost_outputs(old, now)
    for attrs_of_node in _nodes(old):
        if complaint := _import(old, attrs_of_node):
            if complaint not in found:
                found.append(complaint)
    return found


def _lost_outputs(old: op_def_pb2.OpDef, now: op_def_pb2.OpDef) -> list[str]:
    """Outputs that `tf.saved_model.load` does not find: nodes of a function name them, `Split:output:0`.

    For the length of a list it looks into the node, where an attr that came later is missing
    (`_get_num_args` in tensorflow/python/framework/function_def_to_graph.py).
    """
    outputs = {output.name: output for output in now.output_arg}
    attrs = {attr.name for attr in old.attr}
    found = []
    for output in old.output_arg:
        if output.name not in outputs:
            found.append(f"output {output.name} is gone, or has another name")
            continue
        new = outputs[output.name]
        length = new.number_attr or new.type_list_attr
        if length and length not in attrs:
            found.append(
                f"output {output.name} became a list, which SavedModels do not find"
            )
    return found


def _text(value: attr_value_pb2.AttrValue) -> str:
    return " ".join(str(value).split())


def _nodes(old: op_def_pb2.OpDef) -> Iterator[dict]:
    """Attrs of nodes: each value that the definition lists is in one of them."""
    choices = {attr.name: _values(old, attr) for attr in old.attr}
    base = {name: values[0] for name, values in choices.items()}
    yield base
    for name, values in choices.items():
        for value in values[1:]:
            yield {**base, name: value}


def _values(old: op_def_pb2.OpDef, attr) -> list[attr_value_pb2.AttrValue]:
    """Values for an attr; the first is the default where there is one."""
    value = attr_value_pb2.AttrValue
    allowed = attr.allowed_values.list
    least = attr.minimum if attr.has_minimum else 0
    kind = attr.type.removeprefix("list(").removesuffix(")")
    field, usual = _element(kind)
    choices = list(allowed.type) or list(allowed.s) or [usual]
    if kind != attr.type:
        length = max(least, 1) if kind == "type" or allowed.s else least
        lists = (value.ListValue(**{field: [one] * length}) for one in choices)
        values = [value(list=one) for one in lists]
    else:
        values = [value(**{field: one}) for one in choices]
    if attr.type == "int":
        values = [value(i=least if attr.has_minimum else 1)]
        if attr.name in [arg.number_attr for arg in (*old.input_arg, *old.output_arg)]:
            values.append(value(i=least + 1))
    elif attr.type == "bool":
        values.append(value(b=True))
    if attr.HasField("default_value"):
        others = [one for one in values if one != attr.default_value]
        if attr.type == "int" and not attr.has_minimum:
            others = []  # no value but the default is known to make sense
        values = [attr.default_value, *others]
    return values


def _element(kind: str) -> tuple[str, object]:
    """The field of an AttrValue for a kind of attr, and something to put there."""
    shape = tensor_shape_pb2.TensorShapeProto(unknown_rank=True)
    return {
        "type": ("type", tf.float32.as_datatype_enum),
        "int": ("i", 1),
        "float": ("f", 1.0),
        "bool": ("b", False),
        "string": ("s", b""),
        "shape": ("shape", shape),
        "tensor": ("tensor", tf.make_tensor_proto(0.0)),
        "func": ("func", attr_value_pb2.NameAttrList(name="any")),
    }[kind]


def _dtypes(arguments, attrs: dict) -> list[int]:
    """The dtypes of a node's inputs or outputs."""
    dtypes = []
    for arg in arguments:
        if arg.type_list_attr:
            dtypes += list(attrs[arg.type_list_attr].list.type)
            continue
        dtype = attrs[arg.type_attr].type if arg.type_attr else arg.type
        dtypes += [dtype] * (attrs[arg.number_attr].i if arg.number_attr else 1)
    return dtypes


def _import(old: op_def_pb2.OpDef, attrs: dict) -> str:
    """Imports a graph with one node of the old definition: what is wrong, if anything."""
    graph_def = graph_pb2.GraphDef()
    graph_def.versions.producer = tf.version.GRAPH_DEF_VERSION
    node = node_def_pb2.NodeDef(name="old", op=old.name)
    for name, value in attrs.items():
        node.attr[name].CopyFrom(value)
    for i, dtype in enumerate(_dtypes(old.input_arg, attrs)):
        placeholder = graph_def.node.add(name=f"input_{i}", op="Placeholder")
        placeholder.attr["dtype"].type = dtype
        node.input.append(placeholder.name)
    graph_def.node.append(node)
    try:
        with tf.Graph().as_default() as graph:
            tf.import_graph_def(graph_def, name="")
    except tf.errors.UnimplementedError as error:
        return error.message  # its `Deprecated` names a version of the past
    except ValueError as error:
        # A shape function may refuse the made-up values of attrs.
        return "" if "{{node old}} = " in str(error) else str(error)
    outputs = [
        x.dtype.as_datatype_enum for x in graph.get_operation_by_name("old").outputs
    ]
    wanted = _dtypes(old.output_arg, attrs)
    if outputs != wanted:
        names = [[tf.as_dtype(t).name for t in some] for some in (wanted, outputs)]
        return f"outputs were {names[0]} and are {names[1]}"
    return ""
