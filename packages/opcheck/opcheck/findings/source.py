"""A call as one line of Python."""

import ast
import itertools
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

OFTEN = 100  # calls, among which memory that one has broken is met
_LONG = 100  # elements
_DIFFERENT = re.compile(
    r"(?:the )?((?:out|in)put(?: \d+)?(?:\[[\d, ]*\])?) is (.+) instead of (.+) \(\d+ of \d+ elements differ\)"
)
_OF_OUTPUTS = re.compile(r"print\((?!\*|\[|past_the_end|left_behind|opcheck\.)")
_NUMPY = "import numpy as np; "
_ALL_DIGITS = f"{_NUMPY}np.set_printoptions(precision=17); "
_COPY = "lambda x: tf.raw_ops.DeepCopy(x=x)"
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
      modes: How it is called: "eager"; "often", that many times; in a "graph" for its very shapes; in one for "any
        shape"; in one whose inputs are "owned" by the op alone; two of these with the same tensors, which may be
        printed after a call as its "inputs"; with "variables", printing what was read from them before; "inferred":
        its output shapes in a graph, then the eager call; "guarded": twice eagerly, with inputs that end at an
        unreadable page and unused memory filled with other bytes; "watched": how often it touches what is behind the
        last element of each input; or "refused": what it leaves behind. "malloc" beside another one turns oneDNN's
        allocator off.
      shapes: For "inferred", what is known of the shape of each tensor.
    """
    own_memory = "malloc" in modes or "guarded" in modes
    modes = [mode for mode in modes if mode != "malloc"]
    imports, name = _imported(location, op)
    named = [f"{key}={_attr(value)}" for key, value in attrs.items()]
    arguments = ", ".join([*map(_input, inputs), *named])
    in_graph = f"tf.function({name}, autograph=False)"
    if "inferred" in modes:
        specs = ", ".join([*_specs(inputs, iter(shapes)), *named])
        inferred = f"{in_graph}.get_concrete_function({specs}).output_shapes"
        call = f"print({inferred}, {name}({arguments}))"
    elif "guarded" in modes:
        imports += "from opcheck.inputs.memory import fill_memory, guarded; "
        some = [_guarded(x) for x in inputs]
        again = f"print(*({name}({', '.join([*some, *named])}) for byte in (90, 90, 165, 165) "
        call = again + "if not fill_memory(byte)))"
    elif "often" in modes:
        call = f"print([{name}({arguments}) for _ in range({OFTEN})][-1])"
    elif "watched" in modes:
        imports += "from opcheck.inputs.memory import past_the_end; "
        call = f"print(past_the_end({', '.join([name, arguments])}))"
    elif "variables" in modes:
        made = f"variables = [tf.Variable(x) for x in ({', '.join(map(_input, inputs))},)]; "
        read = "read = [x.read_value() for x in variables]; "
        called = f"{name}({', '.join(['*variables', *named])}); "
        call = f"{made}{read}{called}print(*read)"
    elif "refused" in modes:
        imports += "from opcheck.inputs.memory import left_behind; "
        call = f"print(left_behind({', '.join([name, arguments])}))"
    else:
        given = ", ".join(map(_input, inputs))
        called = [_called(mode, name, inputs, named) for mode in modes]
        call = f"print({called[0](given)})"
        if len(called) > 1:
            both = ", ".join(one("*inputs") for one in called)
            call = f"print(*(lambda *inputs: ({both}))({given}))"
    modules = (("np.", "numpy as np"), ("tf.", "tensorflow as tf"))
    needed = [
        f"import {module}; "
        for prefix, module in modules
        if prefix in call and module not in imports
    ]
    before = _WITH_MALLOC if own_memory else ""
    return f"{before}{''.join(needed)}{imports}{call}"


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
        library = _quoted(_library(location.file))
        if not getattr(function, "handles", ()):
            load = f"import tensorflow as tf; lib = tf.load_op_library({library}); "
            return load, f"lib.{name}"
        made = f"{name} = LibraryOp({library}, {_quoted(name)})"
        return f"from opcheck.locations import LibraryOp; {made}; ", name
    if not location.file:
        return "", f"tf.{name}"
    module, folder = _module(location)
    path = f"import sys; sys.path.insert(0, {_quoted(folder)}); "
    imports = f"from {module} import {name.split('.')[0]}; "
    return (path if folder != "." else "") + imports, name


def _called(mode: str, name: str, inputs, named: Sequence[str]) -> Callable:
    """From what a call is given, without attrs, to the call."""

    def call(function: str, given: str) -> str:
        return f"{function}({', '.join(filter(None, [given, *named]))})"

    if mode == "eager":
        return lambda given: call(name, given)
    if mode == "inputs":
        return lambda given: "*inputs"
    if mode == "graph":
        return lambda given: call(f"tf.function({name}, autograph=False)", given)
    of_graph = "*inputs"
    if mode == "owned":
        of_graph = f"*tf.nest.map_structure({_COPY}, inputs)"
    wrapped = f"lambda *inputs: {call(name, of_graph)}"
    signature = ", ".join(_specs(inputs, itertools.repeat(None)))
    graph = f"tf.function({wrapped}, autograph=False, input_signature=[{signature}])"
    return lambda given: f"{graph}({given})"


def with_expected(text: str, seen: str) -> str:
    """A line that prints outputs or inputs, with the value that one should have, and all digits where that is near.

    Args:
      text: The line.
      seen: The difference, as `compare.difference` tells it.
    """
    found = _DIFFERENT.fullmatch(seen)
    if not found or not text:
        return text
    if found[1].startswith("output") and not _OF_OUTPUTS.match(text, _last_print(text)):
        return text
    place, got, wanted = found.groups()
    if _are_near(got, wanted):
        text = f"{_ALL_DIGITS}{text.replace(_NUMPY, '')}"
    return f"{text[:-1]}, {_quoted(f'expected {place}: {wanted}')})"


def _last_print(text: str) -> int:
    """Where the last call of print begins, which is not that of an op such as fingerprint."""
    places = [one.start() for one in re.finditer(r"(?<!\w)print\(", text)]
    return places[-1] if places else len(text)


def _are_near(*numbers: str) -> bool:
    try:
        one, other = map(float, numbers)
    except ValueError:
        return False
    return abs(one - other) < 1e-4 * abs(one)


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
    begin, call = text[: _last_print(text)], text[_last_print(text) + len("print(") :]
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
    same = len(value) > 100 and len(set(value)) == 1
    return f"{_quoted(value[:1])} * {len(value)}" if same else _quoted(value)


def _quoted(value: str | bytes) -> str:
    """A literal without single quotes, so that a shell's can be put around the line."""
    prefix, body = re.fullmatch("(b?)['\"](.*)['\"]", repr(value[:])).groups()
    other = {"'": r"\x27", r"\'": r"\x27", '"': r"\""}
    body = re.sub(r"\\.|['\"]", lambda found: other.get(found[0], found[0]), body)
    return f'{prefix}"{body}"'


def _float(value) -> str:
    """The shortest number that becomes the value, whatever its type."""
    exact = float(value)
    if not np.isfinite(exact):
        return f'float("{exact}")'
    short = float(str(value))
    return repr(short if type(value)(short) == value else exact)
