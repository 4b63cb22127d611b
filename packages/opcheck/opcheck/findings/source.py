"""A call as one line of Python."""

import ast
import itertools
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from opcheck.findings.expected import last_print, quoted
from opcheck.inputs.samples import flattened

OFTEN = 100  # calls, among which memory that one has broken is met
_LONG = 100  # elements
_COPY = "lambda x: tf.raw_ops.DeepCopy(x=x)"
_MEMORY = "from opcheck.inputs.memory import "
# What a line imports for each mode that is no function of the inputs, and prints.
_OTHERS = {
    "often": ("", f"print([{{op}}({{arguments}}) for _ in range({OFTEN})][-1])"),
    "guarded": (
        f"{_MEMORY}fill_memory, guarded; ",
        "print(*({op}({guarded}) for byte in (90, 90, 165, 165) if not fill_memory(byte)))",
    ),
    "watched": (f"{_MEMORY}past_the_end; ", "print(past_the_end({op}, {arguments}))"),
    "refused": (f"{_MEMORY}left_behind; ", "print(left_behind({op}, {arguments}))"),
    "repeated": (
        "from opcheck.findings.shown import repeated; ",
        "print(repeated({op}, {arguments}))",
    ),
    "kept": (
        f"{_MEMORY}growth; ",
        "print(growth((lambda f: lambda: f({arguments}))(tf.function({op}, autograph=False)), 4, 50))",
    ),
    "variables": (
        "",
        "variables = [tf.Variable(x) for x in ({inputs},)]; read = [x.read_value() for x in variables]; "
        "{op}(*variables{named}); print(*read)",
    ),
    "mapped": (
        "",
        "print(*(lambda *inputs: (tf.vectorized_map(lambda one: {op}(*one{named}), inputs), "
        "[{op}(*one{named}) for one in zip(*inputs)]))({inputs}))",
    ),
}
# As in opcheck's processes: oneDNN's allocator hides what malloc shows.
_WITH_MALLOC = 'import os; os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"; '


def line(
    location,
    op: Callable,
    inputs: Sequence,
    attrs: Mapping,
    modes=("eager",),
    shapes: Sequence | None = None,
) -> str:
    """Python that makes the call in a fresh process.

    Args:
      location: A samples.Location, or None if the op cannot be imported.
      op: The function.
      inputs: Arrays and lists of arrays.
      attrs: Keyword arguments.
      modes: How it is called: "eager"; in a "graph" for its very shapes; in one for "any size" or "any shape"; in one
        whose inputs are "owned" by the op alone; in a "dataset", for two equal elements; or compiled by "xla". Two of
        these get the same tensors, which may be printed after a call as its "inputs"; of the same mode twice, there is
        one function. Or "often", that many times; "repeated", until a result differs; "mapped", over the first
        dimension; with "variables", printing what was read from them before; "inferred": its output shapes in a graph,
        then the eager call; "guarded": twice eagerly, with inputs that end at an unreadable page and unused memory
        filled with other bytes; "watched": how often it touches what is behind the last element of each input;
        "refused": what it leaves behind; or "kept": by how many files and bytes 50 calls of a graph make the process
        grow. "malloc" beside another one turns oneDNN's allocator off.
      shapes: For "inferred", what is known of the shape of each tensor; None if the inputs are constants.
    """
    before = _WITH_MALLOC if {*modes} & {"malloc", "guarded", "kept"} else ""
    modes = [mode for mode in modes if mode != "malloc"]
    imports, name = _imported(location, op)
    named = [f"{key}={_attr(value)}" for key, value in attrs.items()]
    given = ", ".join(map(_input, inputs))
    arguments = _joined(given, *named)
    if modes[0] in _OTHERS:
        module, text = _OTHERS[modes[0]]
        imports += module
        call = text.format(
            op=name,
            inputs=given,
            arguments=arguments,
            named="".join(f", {one}" for one in named),
            guarded=_joined(*map(_guarded, inputs), *named),
        )
    elif modes[0] == "inferred":
        function, specs = f"lambda: {name}({arguments})", ""
        if shapes is not None:
            function, specs = name, _joined(*_specs(inputs, iter(shapes)), *named)
        graph = f"tf.function({function}, autograph=False).get_concrete_function"
        call = f"print({graph}({specs}).output_shapes, {name}({arguments}))"
    else:
        functions = [_function(mode, name, inputs, named) for mode in modes]
        if len(modes) == 1:
            [(function, rest)] = functions
            call = f"print({function}({_joined(given, *rest)}))"
        elif modes[0] == modes[1]:
            function, rest = functions[0]
            again = f"f({_joined('*inputs', *rest)})"
            call = f"print(*(lambda f, *inputs: ({again}, {again}))({_joined(function, given)}))"
        else:
            calls = [
                f"{function}({_joined('*inputs', *rest)})" if function else "*inputs"
                for function, rest in functions
            ]
            call = f"print(*(lambda *inputs: ({', '.join(calls)}))({given}))"
    return f"{before}{_needed(call, imports)}{imports}{call}"


def helper_line(
    location, op: Callable, inputs: Sequence, attrs: Mapping, helper: str, **given
) -> str:
    """Python that prints what a function of opcheck's says of a call.

    Args:
      location: As for `line`, and so are the next three.
      op: The function.
      inputs: Arrays and lists of arrays.
      attrs: Keyword arguments.
      helper: The name of one in `findings.shown`.
      **given: Its own keyword arguments.
    """
    imports, name = _imported(location, op)
    pairs = [f"{_text(key)}: {_attr(value)}" for key, value in attrs.items()]
    own = [f"{key}={_attr(value)}" for key, value in given.items()]
    some = _joined(name, _input(list(inputs)), f"{{{', '.join(pairs)}}}", *own)
    imports += f"from opcheck.findings.shown import {helper}; "
    call = f"print({helper}({some}))"
    return f"{_needed(call, imports)}{imports}{call}"


def _joined(*arguments: str) -> str:
    return ", ".join(filter(None, arguments))


def _needed(call: str, imports: str) -> str:
    """The imports of NumPy and TensorFlow that a call needs."""
    modules = (("np.", "numpy as np"), ("tf.", "tensorflow as tf"))
    needed = (
        f"import {module}; "
        for prefix, module in modules
        if prefix in call and module not in imports
    )
    return "".join(needed)


def _imported(location, function: Callable) -> tuple[str, str]:
    """Python that imports a function, and its name after that."""
    if location is None:
        return "", getattr(function, "__name__", "op")
    name = location.name
    if kinds := getattr(location, "kinds", ()):
        of_parts = f"{name.rpartition('.')[2]}_of_parts"
        imports, name = _imported(replace(location, kinds=()), function)
        made = f"{of_parts} = OfParts({name}, {_attr(list(kinds))}); "
        return f"{imports}from opcheck.parts import OfParts; {made}", of_parts
    if not location.module:
        library = quoted(_library(location.file))
        if not getattr(function, "handles", ()):
            load = f"import tensorflow as tf; lib = tf.load_op_library({library}); "
            return load, f"lib.{name}"
        made = f"{name} = LibraryOp({library}, {quoted(name)})"
        return f"from opcheck.locations import LibraryOp; {made}; ", name
    if not location.file:
        return "", f"tf.{name}"
    module, folder = _module(location)
    path = f"import sys; sys.path.insert(0, {quoted(folder)}); "
    imports = f"from {module} import {name.split('.')[0]}; "
    return (path if folder != "." else "") + imports, name


def _function(
    mode: str, name: str, inputs, named: Sequence[str]
) -> tuple[str, Sequence[str]]:
    """The op in a mode, and what it takes besides the inputs; an empty text for the inputs themselves."""
    if mode == "eager":
        return name, named
    if mode == "inputs":
        return "", ()
    if mode in ("graph", "xla"):
        compiled = ", jit_compile=True" * (mode == "xla")
        return f"tf.function({name}, autograph=False{compiled})", named
    given = f"*tf.nest.map_structure({_COPY}, inputs)" if mode == "owned" else "*inputs"
    wrapped = f"lambda *inputs: {name}({_joined(given, *named)})"
    if mode == "dataset":
        mapped = f"tf.data.Dataset.from_tensors(inputs).repeat(2).map({wrapped})"
        return f"(lambda *inputs: [*{mapped}])", ()
    ranks = ([None] * x.ndim for x in map(np.asarray, flattened(inputs)))
    shapes = ranks if mode == "any size" else itertools.repeat(None)
    signature = ", ".join(_specs(inputs, shapes))
    return (
        f"tf.function({wrapped}, autograph=False, input_signature=[{signature}])",
        (),
    )


def check_line(
    location,
    op: Callable,
    inputs,
    attrs: Mapping,
    check: str,
    options: Mapping,
    reference=None,
    taken: Collection[str] = (),
) -> str:
    """Python that makes one check again, where no single call shows what it found.

    Args:
      location: As for `line`, and so are the next three.
      op: The function.
      inputs: Arrays and lists of arrays.
      attrs: Keyword arguments.
      check: Its name.
      options: Those of `opcheck.check`.
      reference: The samples.Location of the reference, if it is given one.
      taken: Names of attrs that are options, too: `attrs=` says which is meant.
    """
    plain = {name: value for name, value in attrs.items() if name not in taken}
    text = line(location, op, inputs, plain)
    begin, call = text[: last_print(text)], text[last_print(text) + len("print(") :]
    own = [f"{_text(x)}: {_attr(attrs[x])}" for x in attrs if x in taken]
    named = [f"attrs={{{', '.join(own)}}}"] if taken else []
    named += [f"{name}={value!r}" for name, value in options.items()]
    if reference is not None:
        imports, name = _imported(reference, op)
        named.append(f"reference={name}")
        begin = "; ".join(dict.fromkeys((begin + imports).split("; ")))
    function, _, given = call.partition("(")
    rest = ", ".join(filter(None, [function, given[:-2], f'checks="{check}"', *named]))
    return f"import opcheck; {begin}print(opcheck.check({rest}))"


def in_turn(*lines: str) -> str:
    """One line that makes the calls of several, in the same process."""
    parts = [split(text) for text in lines]
    imports = dict.fromkeys(one for some, _ in parts for one in some)
    return "; ".join([*imports, *(call for _, call in parts)])


def split(text: str) -> tuple[list[str], str]:
    """The imports at the beginning of a line of Python, and the calls that it prints."""
    try:
        parts = [ast.get_source_segment(text, x) for x in ast.parse(text).body]
    except SyntaxError:
        parts = [text]
    calls = [i for i, part in enumerate(parts) if part.startswith("print(")]
    first = calls[0] if calls else len(parts) - 1
    return parts[:first], "; ".join(parts[first:])


def function_of(op_type: str) -> str:
    """The name of the generated function of an op: zero_out of ZeroOut, op_by_op_conv2d of OpByOp>Conv2D."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[^>])(?=[A-Z][a-z])", "_", op_type)
    return words.replace(">", "_").lower()


def _specs(inputs: Sequence, shapes: Iterator) -> list[str]:
    """A tf.TensorSpec for each input, with the shapes in order."""
    specs = []
    for value in inputs:
        if isinstance(value, list | tuple):
            specs.append(f"[{', '.join(_specs(value, shapes))}]")
        else:
            shape = next(shapes)
            known = shape if shape is None else list(shape)
            specs.append(f'tf.TensorSpec({known}, "{_dtype(np.asarray(value))}")')
    return specs


def _module(location) -> tuple[str, str]:
    """The name of a module, and the folder from which it can be imported by that name."""
    path = Path(location.file).with_suffix("")
    if path.name == "__init__":
        path = path.parent
    parts = location.module.split(".")
    if path.parts[-len(parts) :] != tuple(parts):
        parts = [path.name]
    return ".".join(parts), os.path.relpath(path.parents[len(parts) - 1])


def _library(file: str) -> str:
    """The path of a library, with a slash: without one, the system looks for it elsewhere."""
    path = os.path.relpath(file)
    return file if path.startswith("..") else os.path.join(".", path)


def _attr(value) -> str:
    kind = type(value).__name__
    if kind == "DType":
        return f'tf.as_dtype("{value.name}")'
    if isinstance(value, np.dtype):
        return f'np.dtype("{value.name}")'
    if isinstance(value, type) and issubclass(value, np.generic):
        return f'np.dtype("{np.dtype(value).name}").type'
    if kind == "TensorShape":
        return f"tf.{value!r}"
    if isinstance(value, list):
        return f"[{', '.join(map(_attr, value))}]"
    if isinstance(value, tuple):
        comma = "," if len(value) == 1 else ""
        return f"({', '.join(map(_attr, value))}{comma})"
    if isinstance(value, np.ndarray):
        return f'np.array({_attr(value.tolist())}, "{value.dtype.name}")'
    if isinstance(value, float | np.floating):
        return _float(value)
    if isinstance(value, np.generic):
        value = value.item()
    return _text(value) if isinstance(value, str | bytes) else repr(value)


class Written(np.ndarray):
    """An array of so many elements that a line makes it instead.

    Attributes:
      text: Python that does.
    """

    text = ""


def in_columns(x: np.ndarray, count: int, rising: bool) -> Written:
    """So many columns of an array, by chance, each as often as it comes."""
    columns = np.random.default_rng(0).integers(x.shape[-1], size=count)
    text = f"np.random.default_rng(0).integers({x.shape[-1]}, size={count})"
    if rising:
        columns, text = np.sort(columns), f"np.sort({text})"
    made = x[..., columns].view(Written)
    made.text = f"tf.gather({_input(x)}, {text}, axis=-1)"
    return made


def _input(value) -> str:
    """A tensor, since that is what the checks call the op with."""
    if isinstance(value, Written) and value.text:
        return value.text
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_input, value))}]"
    array = np.asarray(value)
    dtype = _dtype(array)
    if array.dtype.names:
        array = array[dtype]
    if repeated := _repeated(array):
        return repeated
    shape = f", shape={list(array.shape)}"
    if counted := _counted(array.reshape(-1)):
        return f'tf.constant({counted}, "{dtype}"{shape})'
    elements = list(map(_element, array.reshape(-1)))
    shown = f"[{', '.join(elements)}]"
    if len(elements) > 1 and len(set(elements)) == 1:
        shown = elements[0]
    elif array.ndim == 0:
        shown, shape = elements[0], ""
    elif array.ndim == 1:
        shape = ""
    return f'tf.constant({shown}, "{dtype}"{shape})'


def _repeated(array: np.ndarray) -> str:
    """A concatenation, where the array is some part of it many times, as the checks make it."""
    if array.size < _LONG or array.dtype == object or not array.ndim:
        return ""
    for times, axis in itertools.product((1 << n for n in range(18, 1, -1)), (0, -1)):
        size, rest = divmod(array.shape[axis], times)
        if rest or not size:
            continue
        part = np.take(array, range(size), axis)
        if part.size == 1:
            return ""
        if np.concatenate([part] * times, axis).tobytes() == array.tobytes():
            return f"tf.concat([{_input(part)}] * {times}, {axis})"
    return ""


def _counted(flat: np.ndarray) -> str:
    """A range, where that has the elements of a long array."""
    if flat.size < _LONG or flat.dtype.kind not in "iuf":
        return ""
    first, last = flat[0].item(), flat[-1].item()
    if first != first // 1 or last != first + flat.size - 1 or str(first) == "-0.0":
        return ""
    begin, end = int(first), int(first) + flat.size
    numbers = np.arange(begin, end).astype(flat.dtype)
    return f"np.arange({begin}, {end})" if np.array_equal(flat, numbers) else ""


def _guarded(value) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_guarded, value))}]"
    return f"guarded({_input(value)}, byte)"


def _dtype(array: np.ndarray) -> str:
    if array.dtype.names:  # qint8 and the like
        return array.dtype.names[0]
    return "string" if array.dtype == object else array.dtype.name


def _element(value) -> str:
    if isinstance(value, bytes):
        return _text(value)
    exact = value.item()
    if isinstance(exact, complex):
        return f"complex({_float(value.real)}, {_float(value.imag)})"
    return _float(value) if isinstance(exact, float) else repr(exact)


def _text(value: str | bytes) -> str:
    part = value[: (value + value).find(value, 1)] if len(value) > 100 else value
    times = len(value) // max(len(part), 1)
    return f"{quoted(part)} * {times}" if times > 1 else quoted(value)


def _float(value) -> str:
    """The shortest number that becomes the value, whatever its type."""
    exact = float(value)
    if not np.isfinite(exact):
        return f'float("{exact}")'
    short = float(str(value))
    return repr(short if type(value)(short) == value else exact)
