"""The tables of the page on attr types, made from calls of ops that return their attrs as text."""

import inspect
import re
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import tensorflow as tf
from pictures.anchors import Table, codes, marked
from tensorflow.python.framework import op_def_registry

EXAMPLE = Path("examples/attrs")
THREE = [tf.int32] * 3
# Of an attr what it means, a value that it accepts, and one that it refuses.
CONSTRAINTS = {
    "fruit": ("one of these strings", "orange", "kiwi"),
    "one_of": ("one of these types", tf.bool, tf.float64),
    "number": ("any numeric type", tf.complex64, tf.string),
    "real": ("any real numeric type", tf.bfloat16, tf.complex64),
    "quantized": ("any quantized type", tf.quint8, tf.uint8),
    "mixed": ("a type of this set, or `bool`", tf.bool, tf.complex64),
    "count": ("at least this number", 2, 1),
    "types": ("at least so many, each one of these types", THREE, THREE[:2]),
}
RECIPES = {
    "mode": ("an option with three names", "last"),
    "flag": ("a switch", True),
    "window": ("a number of at least 1", 7),
    "length": ("an optional number; −1 stands for none", 20),
    "gain": ("a factor", 0.5),
    "sizes": ("a list of sizes, at least one", [3, 5]),
    "names": ("a list of names", ["a", "b"]),
    "out_type": ("the type of an output", tf.float64),
    "fixed_shape": ("a shape, with dimensions left open", [None, 3]),
}
SETS = {
    "`numbertype`, `numerictype`": "number",
    "`realnumbertype`": "real",
    "`quantizedtype`": "quantized",
}
# Values as they are written, and the attrs that they are passed for.
USUAL = "3|True|np.int64(3)|np.float32(2.9)|'float32'|tf.float32|[3]|[2, None]"
COLUMNS = {
    "a_string": "string",
    "an_int": "int",
    "a_float": "float",
    "a_bool": "bool",
    "a_type": "type",
    "a_shape": "shape",
    "ints": "list(int)",
}

library = tf.load_op_library(str(EXAMPLE / "libevery_attr.so"))
source = (EXAMPLE / "every_attr.cc").read_text()
in_cpp = {
    name: kind.replace("tensorflow::", "")
    for kind, name in re.findall(r'Read<(.*)>\(context, "(\w+)"\)', source)
}
# It complains of graphs that are made again and again.
tf.get_logger().setLevel("ERROR")
# Of the errors that TensorFlow leaves behind, Python 3.13 writes with this machine's paths.
sys.unraisablehook = lambda error: None


def declared(source: str, op: str) -> dict[str, str]:
    """From the attrs of an op to what stands behind their names."""
    interface = re.search(rf'REGISTER_OP\("{op}"\)(.*?);', source, re.S)[1]
    attrs = re.findall(r'\.Attr\(((?:\s*".*?")+)\)', interface)
    texts = ("".join(re.findall(r'"(.*?)"', attr)) for attr in attrs)
    return dict(text.split(": ", 1) for text in texts)


def recipes(*names: str) -> Table:
    """What interfaces need most often, or those of these names: a declaration, its C++ type and a call."""
    texts, rows = declared(source, "AttrRecipes"), []
    for name in names or RECIPES:
        wanted, value = RECIPES[name]
        library.attr_recipes(**{name: value})
        columns = f'.Attr("{name}: {texts[name]}")', in_cpp[name], f"{name}={value!r}"
        shown = (column.replace("tf.", "") for column in columns)
        wanted = marked(f"recipe-{name}", wanted)
        rows.append((wanted, *(f"`{column}`" for column in shown)))
    return ["You want", "Write", "C++ type", "A caller passes"], rows


def types() -> Table:
    """Each type of attrs, in C++ and in Python."""
    rows = []
    ops = {"EveryAttr": library.every_attr, "TensorAttrs": library.tensor_attrs}
    for op, function in ops.items():
        parameters = inspect.signature(function).parameters
        texts = declared(source, op)
        for attr in op_def_registry.get(op).attr:
            default = repr(parameters[attr.name].default)
            default = re.sub(r"dtype: .*?(?=\]?$)", "TensorProto", default, flags=re.S)
            declaration = marked(f"type-{attr.type}", f"`{texts[attr.name]}`")
            default = " ".join(default.split())
            rows.append((declaration, f"`{in_cpp[attr.name]}`", f"`{default}`"))
    return ["Declared", "In C++", "Default in Python"], rows


def constraints() -> Table:
    """Each kind of constraint, with a value that it accepts and one that it refuses."""
    texts, rows = declared(source, "ConstrainedAttrs"), []
    for name, (means, good, bad) in CONSTRAINTS.items():
        library.constrained_attrs(**{name: good})
        try:
            library.constrained_attrs(**{name: bad})
            raise ValueError(f"{name} takes {bad}")
        except tf.errors.InvalidArgumentError:
            pass
        values = (f"`{x!r}`".replace("tf.", "") for x in (good, bad))
        text = f"`{texts[name].rpartition(' = ')[0]}`"
        rows.append((marked(f"constraint-{name}", text), means, *values))
    return ["Declared", "Means", "Accepts", "Refuses"], rows


def sets() -> Table:
    """The words for sets of types."""
    attrs = {x.name: x for x in op_def_registry.get("ConstrainedAttrs").attr}
    rows = []
    for words, name in SETS.items():
        dtypes = map(tf.as_dtype, attrs[name].allowed_values.list.type)
        names = [dtype.name for dtype in dtypes]
        rows.append((marked(f"set-{name}", words), len(names), codes(names)))
    return ["Word", "Types", "Stands for"], rows


def outcomes(values: str) -> Table:
    """What becomes of values that are passed for attrs, eagerly and in a graph where that differs."""
    rows, defaults = [], lines(library.every_attr())
    for written in values.split("|"):
        value = eval(written, {"np": np, "tf": tf})
        row = [marked(f"value-{written.replace('[', 'list-')}", f"`{written}`")]
        for name in COLUMNS:
            call = calling(name, value)
            ways = [call, tf.function(call, autograph=False)]
            eager, graph = (outcome(way, name) for way in ways)
            if "None" in written:  # was it taken for an argument that is left out?
                default = f"`{defaults[name]}`"
                eager, graph = (
                    "default" if text == default else text for text in (eager, graph)
                )
            assert graph in (eager, "–")
            row.append(eager if eager == graph else f"{eager} \\*")
        rows.append(tuple(row))
    return ["Value", *(f"`{kind}`" for kind in COLUMNS.values())], rows


def calling(name: str, value: object) -> Callable:
    return lambda: library.every_attr(**{name: value})


def outcome(call: Callable, name: str) -> str:
    try:
        text = lines(call())[name]
    except TypeError:
        return "–"
    except Exception as error:
        return type(error).__name__
    return f"`{text}`" if text else "no element"


def lines(text: tf.Tensor) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in text.numpy().decode().split("\n"))
