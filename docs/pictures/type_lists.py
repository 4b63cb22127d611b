"""The tables of the page on lists of types, made from what the macros called."""

import re
from collections.abc import Iterable
from pathlib import Path

import tensorflow as tf
from pictures.anchors import Table, codes, marked
from tensorflow.core.framework.types_pb2 import DataType
from tensorflow.python.framework import op_def_registry

KINDS = "floating", "integer", "unsigned", "complex", "quantized", "bool"
WORDS = {
    "realnumbertype": ("real", "TF_CALL_REAL_NUMBER_TYPES"),
    "numbertype": ("number", "TF_CALL_NUMBER_TYPES"),
    "quantizedtype": ("quantized", "TF_CALL_QUANTIZED_TYPES"),
}

library = tf.load_op_library("examples/types/libtype_lists.so")
lists: dict[str, list[tf.DType]] = {}  # from a macro to its types
in_cpp: dict[tf.DType, str] = {}
for macro, dtype, cpp in library.type_lists().numpy().astype(str):
    lists.setdefault(macro, []).append(tf.as_dtype(dtype))
    in_cpp[tf.as_dtype(dtype)] = cpp.removeprefix("::").removeprefix("tensorflow::")


def place(dtype: tf.DType) -> tuple:
    """By kind and size; what is none of the kinds comes last. An unsigned integer is both."""
    kinds = [i for i, kind in enumerate(KINDS) if getattr(dtype, f"is_{kind}")]
    return max(kinds, default=len(KINDS)), dtype.size, dtype.name


def code(dtypes: Iterable[tf.DType]) -> str:
    return codes(dtype.name for dtype in sorted(dtypes, key=place)) or "–"


def names() -> Table:
    """What the types are called that have more than one name; an integer with _t in C++ does not count."""
    header = "In Python", "In an interface", "In messages about kernels", "In C++"
    rows = []
    for dtype in sorted(in_cpp, key=place):
        message = DataType.Name(dtype.as_datatype_enum)
        interface = message.removeprefix("DT_").lower()
        ending = "_t" if dtype.is_integer and not dtype.is_quantized else ""
        if dtype.name == interface and in_cpp[dtype] == dtype.name + ending:
            continue
        texts = dtype.name, interface, message, in_cpp[dtype]
        first, *others = (f"`{text}`" for text in texts)
        rows.append((marked(f"type-{dtype.name}", first), *others))
    return [*header], rows


def alone() -> str:
    """The types that have a macro of their own, and are in no list; `string` is `tstring` by another name."""
    include = Path(tf.sysconfig.get_include())
    text = (include / "tensorflow/core/framework/register_types.h").read_text()
    text = re.sub(r"//.*", "", text)
    own = re.findall(r"#define TF_CALL_([a-z]\w*)\(m\) m\(", text)
    listed = set(re.findall(r"(?<!#define )TF_CALL_(\w+)\(m\)", text))
    found = sorted({*own} - listed - {"string"}, key=lambda name: own.index(name))
    return ", ".join(found)


def macros() -> Table:
    """Which types each macro has, by their groups."""
    groups = {"Floats": [], "Integers": [], "Complex": [], "Others": []}
    for dtype in in_cpp:
        integer = dtype.is_integer and not dtype.is_quantized
        kinds = dtype.is_floating, integer, dtype.is_complex, True
        [*groups.values()][kinds.index(True)].append(dtype)
    others = groups.pop("Others")

    def part(group: list[tf.DType], types: list[tf.DType]) -> str:
        missing = set(group) - set(types)
        if len(missing) >= len(group) - len(missing):
            return code(set(group) & set(types))
        return f"all but {code(missing)}" if missing else "all"

    rows = []
    for macro, types in sorted(lists.items(), key=lambda x: (len(x[1]), x[0])):
        parts = [part(group, types) for group in groups.values()]
        parts.append(code(set(others) & set(types)))
        rows.append((marked(macro, f"`{macro}`"), len(types), *parts))
    header = ["Macro", "Types", *(f"{name} ({len(groups[name])})" for name in groups)]
    return [*header, "Others"], rows


def words() -> Table:
    """What the words of the interface let in, and the macros do not register."""
    tf.load_op_library("examples/attrs/libevery_attr.so")
    attrs = {x.name: x for x in op_def_registry.get("ConstrainedAttrs").attr}
    rows = []
    for word, (attr, macro) in WORDS.items():
        lets_in = set(map(tf.as_dtype, attrs[attr].allowed_values.list.type))
        lacks, count = code(lets_in - set(lists[macro])), len(lists[macro])
        first = marked(word, f"`{word}`")
        rows.append((first, len(lets_in), f"`{macro}`", count, lacks))
    header = "Word", "Lets in", "Nearest macro", "Calls yours for", "Not in the macro"
    return [*header], rows
