"""An op with its sample inputs, and the ways to call it. TensorFlow runs here."""

import contextlib
import inspect
import itertools
import re
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.core.framework.op_def_pb2 import OpList
from tensorflow.python.client import pywrap_tf_session
from tensorflow.python.framework import kernels, op_def_registry

from opcheck.findings.compare import compared, difference, is_inexact
from opcheck.findings.source import line
from opcheck.inputs.constants import Constants
from opcheck.inputs.memory import FILLINGS, filled_memory, show_filling
from opcheck.processes.budget import Budget
from opcheck.processes.pulse import one_call
from opcheck.tensors import arrays, constant, tensors_of

# Ops that a Python wrapper around an op is made of. They are not what is tested, unless
# there is nothing else.
_PLUMBING = frozenset(
    "Cast ConcatV2 Const ExpandDims Fill Identity IdentityN NoOp Pack PartitionedCall "
    "Placeholder Range Rank ReadVariableOp Reshape Shape ShapeN Size Slice Squeeze "
    "StatefulPartitionedCall StopGradient StridedSlice Unpack ZerosLike "
    # Control flow: what it runs is looked at, too.
    "Case If StatelessCase StatelessIf StatelessWhile While".split()
)
_ANONYMOUS = "cd2c89b7-88b7-44c8-ad83-06c2a9158347"  # the kernel makes a new variable
UNREPEATED = (
    "the same call gives other values when it is repeated, whatever unused memory holds: state kept between calls, or "
    "chance, for which the op has to be stateful (SetIsStateful)"
)
UNWRITTEN = (
    "it depends on what unused memory holds: outputs that are not written, or memory of its own that the kernel reads "
    "before it writes it"
)
PAST_THE_END = (
    "it depends on what is behind the last element: a read past the end of an input"
)
BEFORE_THE_START = "it depends on what is in front of the first element: a read before the start of an input"
AFTER_LARGER = (
    "the sample call, after one with a larger sample",
    "the values of before",
)
CLEAN_ERRORS = (
    tf.errors.DataLossError,  # what is to be decoded is too short, or damaged
    tf.errors.FailedPreconditionError,
    tf.errors.InvalidArgumentError,
    tf.errors.NotFoundError,
    tf.errors.OutOfRangeError,
    tf.errors.ResourceExhaustedError,
    tf.errors.UnimplementedError,
    NotImplementedError,
    OverflowError,
    TypeError,
    ValueError,
)


# How Python code says that it needs more of a shape than a graph may know.
_NEEDS_SHAPE = re.compile(
    r"(?i)(?=.*\b(rank|shape|dimension)s?\b).*\b(known|unknown|static(ally)?|dynamic|(un)?defined|no shape)\b",
    re.S,
)


def shown_by(cause: str) -> str:
    """The mode of a line, as `source.line` has them, that shows what has this cause."""
    if UNREPEATED in cause:
        return "repeated"
    return "guarded" if cause in (UNWRITTEN, PAST_THE_END) else "eager"


@dataclass(frozen=True)
class Description:
    """What tracing the sample call tells of the op.

    Attributes:
      op_types: The registered ops that are under test.
      names: For each input the names that an error message may call it by.
      type_attrs: For each input the attr that holds its dtype, where there is one.
      op_defs: The definition of each op type.
    """

    op_types: list[str]
    names: list[list[str]]
    type_attrs: list[str]
    op_defs: dict[str, Any]

    @property
    def labels(self) -> list[str]:
        """What to call each input: those of a list have their numbers."""
        names = [some[0] if some else f"input {i}" for i, some in enumerate(self.names)]
        return [
            f"{name}[{i - names.index(name)}]" if names.count(name) > 1 else name
            for i, name in enumerate(names)
        ]

    def all_of(self, field: str) -> list:
        """What the definitions of all ops have as "attr", "input_arg" or "output_arg"."""
        return [x for op in self.op_defs.values() for x in getattr(op, field)]

    def other_words(self, name: str, value) -> list:
        """What else the op's interface allows for an attr that is one of some words."""
        if not isinstance(value, str | bytes):
            return []
        kind = bytes if isinstance(value, bytes) else bytes.decode
        allowed = [
            kind(word)
            for attr in self.all_of("attr")
            if attr.name == name
            for word in attr.allowed_values.list.s
        ]
        return [word for word in dict.fromkeys(allowed) if word != value]

    @property
    def takes_variants(self) -> bool:
        return any(x.type == tf.variant for x in self.all_of("input_arg"))

    @property
    def makes_handles(self) -> bool:
        """Whether an op has an output that may stand for something that lives on."""
        made = self.all_of("output_arg")
        return any(x.type in (tf.variant, tf.resource) for x in made)


@dataclass(frozen=True)
class Traced:
    """A concrete function. To run it is one call of the op."""

    concrete: Callable

    def __call__(self, *tensors):
        with one_call():
            return self.concrete(*tensors)

    def __getattr__(self, name: str):
        return getattr(self.concrete, name)


def made(function: Callable, specs: Sequence = ()) -> Traced:
    """The graph of a function of flat tensors, or of none."""
    traced = tf.function(function, autograph=False)
    return Traced(traced.get_concrete_function(*specs))


def as_it_is(function: Callable) -> Callable:
    """A function that AutoGraph leaves alone in datasets and loops, as `made` does in graphs.

    To convert it takes as long as to make the graph.
    """
    return tf.autograph.experimental.do_not_convert(function)


@dataclass
class Subject:
    """An op, its sample inputs and attrs, and what the caller said of it.

    Attributes:
      op: The function that calls the op.
      inputs: Arrays and lists of arrays.
      attrs: The keyword arguments of `op`.
      options: The keyword arguments of `opcheck.check` that steer the checks.
      reference: Called with arrays; raises whatever the caller's function raised.
      progress: Told what is tried next, so that a crash can be put down to it: in words, with the flat inputs and the
        attrs of a call where these are not the sample's.
      location: The samples.Location of the op, where it has one.
    """

    op: Callable
    inputs: list
    attrs: dict
    options: Mapping = field(default_factory=dict)
    reference: Callable | None = None
    progress: Callable[..., None] = lambda label, flat=None, attrs=None: None
    location: Any = None

    def __post_init__(self):
        self.flat: list[np.ndarray] = tf.nest.flatten(self.inputs)
        self._description = None
        self._expected = None
        self._repeats = None
        self.constants = Constants()  # that the reference names
        self.functions: dict = {}  # that serve all shapes, by dtypes and attrs

    def pack(self, flat: Sequence) -> list:
        """Puts flat inputs back into the lists they came from."""
        return tf.nest.pack_sequence_as(self.inputs, list(flat))

    def outputs(self, flat: Sequence, attrs: Mapping | None = None) -> list[tf.Tensor]:
        """Calls the op, eagerly or while a graph is made, with flat inputs."""
        attrs = self.attrs if attrs is None else attrs
        with one_call():
            return tensors_of(self.op(*self.pack(flat), **attrs))

    def eager(self, flat: Sequence | None = None, attrs=None) -> list[np.ndarray]:
        """The values of an eager call."""
        flat = self.flat if flat is None else flat
        return arrays(self.outputs([constant(x) for x in flat], attrs))

    def line(
        self, flat: Sequence | None = None, attrs=None, modes=("eager",), shapes=None
    ) -> str:
        """A call with flat inputs as a line of Python."""
        inputs = self.inputs if flat is None else self.pack(flat)
        attrs = self.attrs if attrs is None else attrs
        return line(self.location, self.op, inputs, attrs, modes, shapes)

    def expected(self) -> list[np.ndarray]:
        """The values of the sample call, eager, computed once."""
        if self._expected is None:
            self._expected = self.eager()
        return self._expected

    def specs(self, shape_of: Callable = lambda x: x.shape, flat=None) -> list:
        """A tf.TensorSpec for each flat input: `shape_of(array)` is its shape."""
        flat = self.flat if flat is None else flat
        return [tf.TensorSpec(shape_of(x), tf.as_dtype(x.dtype)) for x in flat]

    def traced(self, specs: Sequence | None = None, attrs=None, **options):
        """A function, made already, from flat inputs to a list of outputs."""
        specs = self.specs() if specs is None else specs

        def call(*flat):
            return self.outputs(flat, attrs)

        if not options:
            return made(call, specs)
        # XLA compiles within the first call, and that takes its time.
        function = tf.function(call, autograph=False, **options)
        return function.get_concrete_function(*specs)

    def budget(self, seconds: float) -> Budget:
        """For calls of which a few show something, and more show more: a quarter of it where `fast` is asked for."""
        return Budget(seconds / 4 if self.options.get("fast") else seconds)

    def difference(self, expected, actual, **how) -> str:
        """As `compare.difference`, by the caller's options."""
        different = compared(self.options, expected, actual, **how)
        if different and not self.options.get("nondeterministic") and self.by_chance():
            return compared({"nondeterministic": True}, expected, actual, **how)
        return different

    def by_chance(self) -> bool:
        """Whether the op says that its values vary from call to call, and they do."""
        try:
            definitions = self.describe().op_defs.values()
            return any(one.is_stateful for one in definitions) and not self.repeats()
        except Exception:  # there is no sample, or the op refuses it
            return False

    def varies_for_one_seed(self) -> tuple[str, str]:
        """Where two calls with the same tensor as a seed differ, and the ops that draw without it; "" if none do."""
        seeded = any(re.fullmatch("seeds?", name) for name in self.describe().labels)
        if not seeded or self.has_no_graph():
            return "", ""
        unseeded = filter(_draws_without_input, types_in(self.traced().graph))
        told = ", ".join(unseeded)
        return difference(self.eager(), self.eager()) if told else "", told

    def equal_draws(self) -> str:
        """A random op that the sample's graph has twice with equal inputs and attrs, and so with equal numbers."""
        try:
            ops = self.traced().graph.get_operations()
        except Exception:  # no graph can be made of it
            return ""
        if not any(is_builtin(op.type) and _draws_by_key(op.op_def) for op in ops):
            return ""
        numbers, known = {}, {}
        for op in ops:
            inputs = [(numbers.get(x.op.name), x.value_index) for x in op.inputs]
            attrs = {name: str(value) for name, value in op.node_def.attr.items()}
            content = (op.type, *sorted(attrs.items()), *inputs)
            is_alone = op.type == "Placeholder" or op.op_def.is_stateful
            content = (op.name,) if is_alone else content
            if content in known and _draws_by_key(op.op_def):
                return op.type
            numbers[op.name] = known.setdefault(content, len(known))
        return ""

    @staticmethod
    def has_state(function) -> bool:
        """Whether an op in the graph of a concrete function says that it has state."""
        definitions = map(op_def_registry.get, types_in(function.graph))
        return any(x.is_stateful for x in definitions if x.name != "Placeholder")

    def draws_by_seed(self) -> bool:
        """Whether an op of TensorFlow draws random numbers for a seed: others in each dtype, and on another device."""
        definitions = map(op_def_registry.get, types_in(self.traced().graph))
        return any(
            argument.name in ("seed", "key")
            for one in definitions
            if is_builtin(one.name)
            for argument in one.input_arg
        )

    def has_no_graph(self) -> bool:
        """Whether the sample call has a result eagerly, and tracing it fails, as that of what makes a variable does."""
        try:
            self.traced()
        except Exception:
            with contextlib.suppress(Exception):
                self.eager()
                return True
        return False

    def varies_unnoticed(self, flat: Sequence | None = None, attrs=None) -> bool:
        """Whether a graph gives other values at each call, and no op of it says that it has state."""
        flat = self.flat if flat is None else flat
        function = self.traced(self.specs(flat=flat), attrs)
        if self.has_state(function):
            return False
        tensors = [constant(x) for x in flat]
        runs = []
        for filling in FILLINGS[:1] * 2:  # what is not written stays the same
            with filled_memory(filling):
                runs += [arrays(function(*tensors)) for _ in range(2)]
        return bool(difference(runs[1], runs[3]))

    def cause(self, usual: str, flat: Sequence | None = None, attrs=None) -> str:
        """The likely cause of a difference: the usual one only if the call, the sample's or another, repeats itself."""
        return usual if self.repeats(flat, attrs) else self.unrepeated(flat, attrs)

    def unrepeated(self, flat: Sequence | None = None, attrs=None) -> str:
        """Why a call does not repeat itself: by what unused memory holds, or also where this is the same."""
        # Other threads may free memory between a filling and a call.
        by_memory = any(self._follows_memory(flat, attrs) for _ in range(3))
        return UNWRITTEN if by_memory else UNREPEATED

    def _follows_memory(self, flat: Sequence | None, attrs) -> bool:
        """Whether calls differ by what unused memory holds, and by nothing else."""
        runs = []
        for filling in FILLINGS[:2]:
            with filled_memory(filling):
                runs.append([self.eager(flat, attrs) for _ in range(4)][1:])
        if show_filling(*runs[0], *runs[1]):
            return True
        alike = not any(difference(some[0], one) for some in runs for one in some[1:])
        return alike and bool(difference(runs[0][0], runs[1][0]))

    def repeats(self, flat: Sequence | None = None, attrs=None) -> bool:
        """Whether a call, the sample's if no other is given, gives the same values when it is made again."""
        if not (flat is None or flat is self.flat) or attrs not in (None, self.attrs):
            return self._repeats_with(flat, attrs)
        if self._repeats is None:
            self._repeats = self._repeats_with(self.flat, self.attrs)
        return self._repeats

    def _repeats_with(self, flat: Sequence | None, attrs) -> bool:
        runs = []
        for filling in FILLINGS[:2]:
            with filled_memory(filling):
                runs += [self.eager(flat, attrs) for _ in range(2)]
        return not any(
            difference(runs[0], one, self.options.get("tolerances")) for one in runs[1:]
        )

    def describe(self) -> Description:
        """Traces the sample call once and looks at its graph."""
        if self._description is None:
            self._description = self._describe()
        return self._description

    def described_as(self, description: Description) -> None:
        """Sets what tracing would not find out."""
        self._description = description

    def _describe(self) -> Description:
        graph = self.traced().graph
        nodes = list(graph.get_operations())
        types = types_in(graph)
        own = [name for name in types if not is_builtin(name)]
        op_types = (
            list(self.options.get("op_types") or [])
            or own
            or [name for name in types if name not in _PLUMBING]
            or [
                name
                for name in types
                if name not in ("Placeholder", "Identity", "NoOp")
            ]
        )
        names = [[name] for name in self._parameter_names()]
        type_attrs = [""] * len(self.flat)
        placeholders = [
            node.outputs[0]
            for node in nodes
            if node.type == "Placeholder" and node.outputs
        ][: len(self.flat)]
        for node in nodes:
            if node.type not in op_types:
                continue
            for tensor, argument in zip(node.inputs, _arguments(node)):
                source = _source(tensor)
                for i, placeholder in enumerate(placeholders):
                    if source is placeholder:
                        names[i].append(argument.name)
                        type_attrs[i] = argument.type_attr or argument.type_list_attr
        op_defs = {name: op_def_registry.get(name) for name in op_types}
        names = [list(dict.fromkeys(filter(None, some))) for some in names]
        return Description(op_types, names, type_attrs, op_defs)

    def parameters(self) -> list[str]:
        """The names of the arguments of `op`."""
        return parameter_names(self.op)

    def _parameter_names(self) -> list[str]:
        parameters = self.parameters()
        named = []
        for i, value in enumerate(self.inputs):
            name = parameters[i] if i < len(parameters) else ""
            named += [name] * len(tf.nest.flatten(value))
        return named


def with_special_values(subject: Subject) -> Iterator[tuple[str, list[np.ndarray]]]:
    """The sample with a special value in the middle of each float input, and another one in front of it."""
    if not subject.options.get("special_values", True):
        return
    some = [("NaN", np.nan), ("Inf", np.inf), ("-Inf", -np.inf)]
    for (name, value), both in itertools.product(some, (True, False)):
        flat = [np.array(x) for x in subject.flat]
        floats = [x for x in flat if is_inexact(x.dtype) and x.size > 1 - both]
        for array in floats:
            array.reshape(-1)[[0, array.size // 2] if both else array.size // 2] = value
        if floats:
            yield name if both else f"{name} in the middle", flat


def is_sorted(x: np.ndarray, axis: int = -1) -> bool:
    """Whether numbers all rise, or all fall, along an axis."""
    if x.dtype.kind not in "iuf" or not x.ndim:
        return False
    rows = np.moveaxis(x, axis, 0)
    one, next_one = rows[:-1], rows[1:]
    return bool((one <= next_one).all() or (one >= next_one).all())


def grown(
    subject: Subject, elements: int = 1 << 18, alone: bool = False
) -> list[np.ndarray] | None:
    """A larger version of the sample that the op still takes, by repeating it along an axis.

    What shows only when a call takes long enough to meet another one, or is split among
    threads, shows with this one. A call of it takes at most about 20 ms.

    Args:
      subject: The op and its sample.
      elements: Of the largest input, at most.
      alone: Whether no other input grows.

    Returns:
      Flat inputs, or None if there is no larger version.
    """
    try:
        return _grown(subject, elements, alone)
    finally:
        subject.progress("")


def repeated(x: np.ndarray, factor: int, axis: int) -> np.ndarray:
    """An array so many times along an axis; what is sorted along it still is."""
    if is_sorted(x, axis):
        return np.repeat(x, factor, axis)
    return np.concatenate([x] * factor, axis)


def _grown(subject: Subject, elements: int, alone: bool) -> list[np.ndarray] | None:
    largest = max((x.size for x in subject.flat), default=0)
    everything = range(len(subject.flat))
    biggest = [i for i in everything if subject.flat[i].size == largest][:1]
    best, ways = None, itertools.product([everything, biggest][alone:], (0, -1))
    for chosen, axis in ways:
        factor = 4
        while largest and largest * factor <= elements:
            flat = [
                repeated(x, factor, axis) if i in chosen and x.ndim else x
                for i, x in enumerate(subject.flat)
            ]
            subject.progress("a larger sample", flat)
            try:
                seconds = min(
                    _seconds(lambda f=flat: subject.eager(f)) for _ in range(2)
                )
            except Exception:
                break
            if seconds > 0.02:
                break
            if any(x.shape != y.shape for x, y in zip(flat, subject.flat)):
                best = flat
            factor *= 4
        if best is not None:
            return best
    return None


def kept(subject: Subject) -> tuple[str, list[np.ndarray]]:
    """Where the sample call gives something else after one with a larger sample, and the flat inputs of that one."""
    before = subject.expected()
    largest = max((x.size for x in subject.flat), default=0)
    larger = grown(subject, 4 * largest)
    if larger is None or not subject.repeats():
        return "", []
    after = [subject.eager() for _ in range(2)]
    if difference(*after):  # by chance, or a race
        return "", []
    return subject.difference(before, after[0]), larger


def shrunk(flat: Sequence) -> Iterator[tuple[str, list[np.ndarray]]]:
    """The sample with the last row of each dimension of some size left out, then of every one.

    A loop over blocks of 2, 4 or 16 elements often goes wrong in the rest, and a sample often has
    none.

    Yields:
      What is special about it, and flat inputs, which the op may refuse.
    """
    sizes = sizes_of(flat)
    chosen = {f"{size - 1} instead of {_counted(flat, size)}": [size] for size in sizes}
    if len(sizes) > 1:
        chosen["one row less in every dimension"] = sizes
    for label, some in chosen.items():
        rows = [tuple(slice(n - (n in some)) for n in x.shape) for x in flat]
        yield label, [x[row] for x, row in zip(flat, rows)]


def sizes_of(flat: Sequence) -> list[int]:
    """Of the dimensions of some arrays, in ascending order, without those of 0 or 1."""
    return sorted({n for x in flat for n in x.shape if n > 1})


def _counted(flat: Sequence, size: int) -> str:
    """How many there are of what, such as 4 columns."""
    x = next(x for x in flat if size in x.shape)
    axis = x.shape.index(size)
    if 0 < axis < x.ndim - 1:
        return f"{size} in dimension {axis}"
    return f"{size} {'columns' if axis else 'rows'}"


def _seconds(call: Callable) -> float:
    start = time.monotonic()
    call()
    return time.monotonic() - start


def attrs_of_call(function: Callable, given: Mapping, attrs: Iterable) -> dict:
    """The attrs of a call, with the defaults of those that it leaves out.

    The functions that TensorFlow generates have 1 for a default of 1.0: an attr that these ops declare as float is one.
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return dict(given)
    kinds = bool | int | float | str | bytes | list | tuple
    defaults = {x.name: x.default for x in parameters if isinstance(x.default, kinds)}
    floats = {x.name for x in attrs if x.type == "float"}
    return {
        name: float(value) if name in floats and isinstance(value, int) else value
        for name, value in {**defaults, **given}.items()
    }


def parameter_names(function: Callable) -> list[str]:
    """The names of a function's arguments; none if they cannot be found out."""
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return []


def on_variables(
    op: Callable, inputs: Sequence, attrs: Mapping | None = None, which=(0,)
) -> list[tf.Tensor]:
    """Calls an op that works on variables: each call on new ones, whose values are among the inputs.

    Args:
      op: The function that takes their handles, which are tensors of dtype resource; in a graph it returns the
        tf.Operation, where there is no output.
      inputs: Its inputs; in place of each handle the value that the variable has before.
      attrs: Its keyword arguments.
      which: The numbers of the inputs that are handles.

    Returns:
      What the op returns, flat, and the values of the variables after it.
    """
    given, variables = list(inputs), []
    for i in which:
        value = tf.convert_to_tensor(given[i])
        handle = tf.raw_ops.VarHandleOp(
            dtype=value.dtype, shape=value.shape, shared_name=_ANONYMOUS
        )
        assigned = tf.raw_ops.AssignVariableOp(resource=handle, value=value)
        with tf.control_dependencies([assigned] if assigned is not None else []):
            given[i] = tf.identity(handle)
        variables.append((handle, value.dtype))
    outputs = tf.nest.flatten(op(*given, **(attrs or {})), expand_composites=True)
    outputs = [x for x in outputs if x is not None]
    with tf.control_dependencies(outputs):
        values = [
            tf.raw_ops.ReadVariableOp(resource=handle, dtype=dtype)
            for handle, dtype in variables
        ]
    return [*tensors_of(outputs), *values]


def types_in(graph) -> list[str]:
    """The ops of a graph and of its functions, as far as they are registered."""
    types = [node.type for node in graph.get_operations()]
    for function in graph.as_graph_def().library.function:
        types += [node.op for node in function.node_def]
    return [name for name in dict.fromkeys(types) if op_def_registry.get(name)]


def names_of_own(op_defs: Iterable) -> set[str]:
    """What those of some ops that are not TensorFlow's call their inputs and attrs."""
    own = [op for op in op_defs if not is_builtin(op.name)]
    inputs = {x.name for op in own for x in op.input_arg}
    return inputs | {x.name for op in own for x in op.attr if x.type != "type"}


@contextlib.contextmanager
def whole_tracebacks() -> Iterator[None]:
    """Lets exceptions keep the frames of TensorFlow's Python, by which `raised_by` knows who has raised them."""
    filtering = tf.debugging.is_traceback_filtering_enabled()
    tf.debugging.disable_traceback_filtering()
    try:
        yield
    finally:
        if filtering:
            tf.debugging.enable_traceback_filtering()


def raised_by(error: BaseException) -> str:
    """Who says on purpose, by a `raise` in Python, that a call is wrong.

    Returns:
      "caller" for the function under test or what it calls, "TensorFlow" for its Python code, Keras among it, and ""
      for an op, and for what Python itself, or a library's class of shapes or dtypes, cannot do.
    """
    frames = traceback.extract_tb(error.__traceback__)
    if not frames or not str(frames[-1].line).startswith("raise "):
        return ""
    if not _is_of_tensorflow(frames[-1]):
        return "caller"
    within = _is_of_framework(frames[-1])
    return "" if within or isinstance(error, tf.errors.OpError) else "TensorFlow"


def _is_of_tensorflow(
    frame: traceback.FrameSummary, package="tensorflow|keras"
) -> bool:
    file = frame.filename.replace("\\", "/")
    return bool(re.search(rf"-packages/({package})/", file))


def _is_of_framework(frame: traceback.FrameSummary) -> bool:
    """Whether the code is of what makes tensors, shapes and graphs, which says of the caller that he is wrong."""
    file = frame.filename.replace("\\", "/")
    return "/python/framework/" in file or "/python/eager/" in file


def needs_shape(error: BaseException, subject: Subject) -> bool:
    """Whether Python code needs to know a shape or a rank, and no author of the op under test can mend that.

    It says so on purpose; or it is TensorFlow's or Keras's own, in a function of TensorFlow's ops alone, and goes wrong
    without.
    """
    if isinstance(error, ValueError | NotImplementedError) and raised_by(error):
        if _NEEDS_SHAPE.match(str(error)):
            return True
    if isinstance(error, tf.errors.OpError):
        return False
    frames = traceback.extract_tb(error.__traceback__)
    while frames and frames[-1].filename.endswith("tensor_shape.py"):
        frames.pop()
    theirs = bool(frames) and not _is_of_framework(frames[-1])
    if not theirs:  # a layer may have called it
        while frames and _is_of_tensorflow(frames[-1], "tensorflow"):
            frames.pop()
    return (
        bool(frames)
        and _is_of_tensorflow(frames[-1], "tensorflow|keras" if theirs else "keras")
        and all(map(is_builtin, subject.describe().op_types))
    )


def is_builtin(op_type: str) -> bool:
    """Whether TensorFlow itself brings the op: `tf.raw_ops` has no other ones."""
    return op_type.startswith("_") or hasattr(tf.raw_ops, op_type)


def _draws_by_key(op_def) -> bool:
    """Whether an op gives random numbers for a seed, and not another seed."""
    taken = any(x.name in ("seed", "key") for x in op_def.input_arg)
    return taken and not any(x.name == "key" for x in op_def.output_arg)


def _draws_without_input(op_type: str) -> bool:
    """Whether an op of TensorFlow draws random numbers from a generator that no input of it sets."""
    op = op_def_registry.get(op_type)
    return op.is_stateful and any(x.name == "seed2" for x in op.attr)


def registered() -> list[str]:
    """The names of all ops of this process."""
    ops = pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList())
    return [op.name for op in OpList.FromString(ops).op]


def kernels_of(op_type: str, *devices: str) -> list:
    """The kernels of an op that are registered for one of some devices."""
    found = kernels.get_registered_kernels_for_op(op_type).kernel
    return [kernel for kernel in found if kernel.device_type in devices]


def _arguments(node: tf.Operation) -> list:
    arguments = []
    for argument in node.op_def.input_arg:
        count = 1
        if argument.number_attr:
            count = node.get_attr(argument.number_attr)
        elif argument.type_list_attr:
            count = len(node.get_attr(argument.type_list_attr))
        arguments += [argument] * count
    return arguments


def _source(tensor: tf.Tensor) -> tf.Tensor:
    while tensor.op.type in (
        "Identity",
        "Cast",
        "StopGradient",
        "Reshape",
        "ExpandDims",
    ):
        tensor = tensor.op.inputs[0]
    return tensor
