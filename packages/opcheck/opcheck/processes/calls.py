"""Single calls of the op in a child process, with everything that may come of them."""

import contextlib
import itertools
import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import tensorflow as tf

from opcheck.findings.compare import TOLERANCES, difference, is_inexact
from opcheck.findings.report import MUCH_LARGER
from opcheck.findings.source import OFTEN
from opcheck.inputs.memory import (
    FILLINGS,
    filled_memory,
    guarded,
    left_behind,
    past_the_end,
    show_filling,
)
from opcheck.processes.budget import Budget
from opcheck.processes.pulse import one_call
from opcheck.subject import (
    BEFORE_THE_START,
    CLEAN_ERRORS,
    PAST_THE_END,
    UNREPEATED,
    UNWRITTEN,
    Subject,
    attrs_of_call,
    grown,
    made,
    raised_by,
    shown_by,
    shrunk,
    whole_tracebacks,
)
from opcheck.tensors import arrays, constant, copied, tensors_of

# As near as another order of a sum leaves it.
NEARLY = dict.fromkeys(TOLERANCES, 1e-2)
_SOON = 0.3  # seconds within which a call has to end that is made again
_QUICK, _SWITCHING = 0.05, 0.1  # seconds of computing
_MANY, _AT_LEAST = 1 << 22, 40  # elements, and calls with them
_FLOATS = 1 << 16  # that are random
_ROWS = (1 << 12, 1 << 15, 1 << 18)  # elements
_RUN = 16  # of them in a row, which do not come twice by chance
_STREAM, _CALLS = 1 << 13, 40  # numbers in successive calls, and these
_ODD, _ALMOST_ALL = 7, 0.9  # numbers in a call, no multiple of 4, and pairs of calls
_ATTRS = 9  # calls with other attrs, the sample call among them
_AGAIN = 200  # runs, all so many places away
# What TensorFlow itself says before the op is asked.
_GENERIC = (
    "OOM when allocating",
    "could not be satisfied",
    "Could not find device for node",
    "Dst tensor is not initialized",
    "with input shapes:",
    "do not form a valid RaggedTensor",
)


@dataclass
class Outcome:
    """What a call gave: outputs, or an error.

    Attributes:
      outputs: The values; None after an error.
      error: The type of the exception and its message.
      clean: Whether the error is one that users can expect of an op.
      generic: Whether the message is TensorFlow's own.
      raised_by: Who has raised it in Python: see `subject.raised_by`.
      mismatch: What contradicts the promises of a call that gave outputs.
      why: What the mismatch depends on.
      kind: The check that the mismatch belongs to.
      modes: How the op was called when it went wrong: see `source.line`.
      shapes: For the mode "inferred", what was known of the shape of each tensor.
    """

    outputs: list[np.ndarray] | None = None
    error: str = ""
    clean: bool = True
    generic: bool = False
    raised_by: str = ""
    mismatch: str = ""
    why: str = ""
    kind: str = ""
    modes: tuple[str, ...] = ("eager",)
    shapes: list | None = None

    def disagrees(self, other: "Outcome") -> bool:
        """Whether one gave a result and the other an error, which is not that memory ended."""
        errors = [x.error for x in (self, other) if x.outputs is None]
        return len(errors) == 1 and not errors[0].startswith(
            ("MemoryError", "ResourceExhaustedError")
        )


def call(subject: Subject, inputs: Sequence, attrs: dict, modes: Sequence[str]):
    """Calls the op in each mode, "eager" or "graph": a list of Outcomes.

    A graph is made for the very shapes, which must then hold, and runs with grappler.
    """
    flat = tf.nest.flatten(list(inputs))
    outcomes = []
    for mode in modes:
        subject.progress(mode)
        run = {"eager": _eager, "graph": in_graph}[mode]
        outcome = outcome_of(lambda run=run: run(subject, flat, inputs, attrs))
        outcome.modes = (mode,)
        if outcome.mismatch and mode == "graph":
            outcome.modes, outcome.shapes = ("inferred",), [x.shape for x in flat]
        elif outcome.mismatch:
            outcome.modes = (shown_by(outcome.why),)
        elif outcome.outputs is not None and mode == "graph":
            _compare_unknown_ranks(subject, outcome, inputs, attrs)
        outcomes.append(outcome)
    return outcomes


def _compare_unknown_ranks(subject: Subject, outcome: Outcome, inputs, attrs) -> None:
    """What is inferred from no shape at all has to hold for each result, too."""
    flat = tf.nest.flatten(list(inputs))
    lengths = [len(x) if isinstance(x, list) else 0 for x in inputs]
    key = ("unknown ranks", *lengths, *(x.dtype for x in flat), repr(attrs))
    if key not in subject.functions:
        specs = subject.specs(lambda x: None, flat)
        try:
            function = traced(subject, specs, inputs, attrs)
            subject.functions[key] = [x.shape for x in function.outputs]
        except Exception:  # the check static_shape tells of it
            subject.functions[key] = []
    if different := contradiction(subject.functions[key], outcome.outputs):
        outcome.mismatch = different
        outcome.modes, outcome.shapes = ("inferred",), [None] * len(flat)


def outcome_of(run) -> Outcome:
    try:
        with whole_tracebacks():
            outputs, mismatch, *why = run()
        return Outcome(outputs, mismatch=mismatch, why="".join(why))
    except MemoryError as error:  # as clean as ResourceExhaustedError
        return Outcome(None, f"MemoryError: {error}", generic=True)
    except Exception as error:
        message = str(getattr(error, "message", None) or error)
        generic = any(words in message for words in _GENERIC)
        clean = isinstance(error, CLEAN_ERRORS) and not isinstance(error, UnicodeError)
        told = f"{type(error).__name__}: {message}"[:1500]
        return Outcome(None, told, clean, generic, raised_by(error))


def _eager(subject: Subject, flat, inputs, attrs):
    start = time.monotonic()
    outputs = arrays(apply(subject, [constant(x) for x in flat], inputs, attrs))
    if time.monotonic() - start > _SOON:
        return outputs, ""
    subject.progress("guarded")
    return outputs, *again(subject, flat, inputs, attrs)


def again(subject: Subject, flat, inputs, attrs) -> tuple[str, str]:
    """Where a call gives something else if unused memory, or what is around its inputs, holds other bytes, and which.

    The inputs end at a page that is not readable.
    """

    def run(around: int, unused: int, times: int, before: int | None = None) -> list:
        tensors = [guarded(x, around, before) for x in flat]
        with filled_memory(unused):
            some = (apply(subject, tensors, inputs, attrs) for _ in range(times))
            return [arrays(outputs) for outputs in some]

    one, other, *_ = FILLINGS
    try:
        _, *same = run(one, one, 3)
        _, last = run(other, other, 2)
        if different := difference(*same):  # though nothing has changed
            repeats = _must_repeat(subject, flat, inputs, attrs)
            if repeats and show_filling(*same, *run(one, other, 2)):
                return different, UNWRITTEN
            return (different, UNREPEATED) if repeats else ("", "")
        different = difference(same[1], last)
        if not different or _may_vary(subject, flat, inputs, attrs):
            return "", ""
        _, *once_more = run(one, one, 3)
        _, *around = run(other, one, 3)
        _, *behind = run(other, one, 3, before=one)
        if (
            any(difference(same[1], x) for x in once_more)
            or difference(*around)
            or difference(*behind)
        ):
            if show_filling(*same, *once_more, *run(one, other, 2)):
                return different, UNWRITTEN
            return different, UNREPEATED  # they were equal by chance
    except Exception:
        return "", ""  # it is not about these values
    if not difference(same[1], around[0]):
        return different, UNWRITTEN
    past = difference(same[1], behind[0])
    return different, PAST_THE_END if past else BEFORE_THE_START


def _must_repeat(subject: Subject, flat, inputs, attrs) -> bool:
    """Whether a call has to give the same again: the sample call does, and no op here says that it has state."""
    return _may_vary(subject, flat, inputs, attrs) is False and subject.repeats()


def _may_vary(subject: Subject, flat, inputs, attrs) -> bool | None:
    """Whether the caller or an op here says that values may be others in each call; None without a graph."""
    if subject.options.get("nondeterministic"):
        return True
    try:
        graph = traced(subject, subject.specs(flat=flat), inputs, attrs)
        return subject.has_state(graph)
    except Exception:
        return None


def seconds(subject: Subject, inputs: Sequence, attrs: dict) -> float:
    """How long an eager call takes, the faster one of two; 0 if the op refuses it."""
    tensors = [constant(x) for x in tf.nest.flatten(list(inputs))]
    took = []
    for _ in range(2):
        start = time.monotonic()
        try:
            apply(subject, tensors, inputs, attrs)
        except Exception:
            return 0.0
        took.append(time.monotonic() - start)
    return min(took)


def often(subject: Subject, inputs: Sequence, attrs: dict) -> None:
    """Makes a call many times."""
    tensors = [constant(x) for x in tf.nest.flatten(list(inputs))]
    for _ in range(OFTEN):
        apply(subject, tensors, inputs, attrs)


def refused(subject: Subject, inputs: Sequence, attrs: dict) -> tuple | None:
    """What a call leaves behind that the op refuses, as `memory.left_behind`; None if it does not, or it takes long."""

    def call(*tensors):
        with one_call():
            return subject.op(*tensors, **attrs)

    tensors = tf.nest.map_structure(constant, list(inputs))
    for _ in range(3):  # on a busy machine, one of them may take long
        start = time.monotonic()
        try:
            call(*tensors)
            return None
        except Exception:
            took = time.monotonic() - start
        if took < _SOON / 10:
            return left_behind(call, *tensors)
        if took > _SOON:
            break
    return None


def with_another_variant(subject: Subject) -> None:
    """Calls each op of the sample's graph that takes a variant with one that holds something else."""
    traced = subject.traced()
    graph = traced.graph.as_graph_def()
    feeds = {x.name: constant(value) for x, value in zip(traced.inputs, subject.flat)}
    for node in traced.graph.get_operations():
        taken = [x.name for x in node.inputs if x.dtype == tf.variant]
        for name in taken if node.type in subject.describe().op_types else ():
            with tf.Graph().as_default(), tf.compat.v1.Session() as session:
                other = tf.raw_ops.EmptyTensorList(
                    element_shape=-1, max_num_elements=-1, element_dtype=tf.float32
                )
                known = {key: tf.constant(x.numpy()) for key, x in feeds.items()}
                [made] = tf.graph_util.import_graph_def(
                    graph, {**known, name: other}, [node.name]
                )
                with contextlib.suppress(tf.errors.OpError), one_call():
                    session.run(made)


def watched(subject: Subject, inputs: Sequence, attrs: dict) -> list[int] | None:
    """How often a call touches the bytes behind each flat input; None where that cannot be watched."""
    try:
        with one_call():
            return past_the_end(subject.op, *inputs, **attrs)
    except Exception:  # the system does not allow it, or the op refuses the call
        return None


def in_graph(subject: Subject, flat, inputs, attrs):
    function = traced(subject, subject.specs(flat=flat), inputs, attrs)
    outputs = arrays(function(*[constant(x) for x in flat]))
    return outputs, contradiction([x.shape for x in function.outputs], outputs)


def accepted(subject: Subject, samples: Sequence[Sequence], attrs: dict):
    """For each input the numbers of the samples that a graph takes in which the others have no shape."""

    def takes(wanted: int, inputs: Sequence) -> bool:
        specs = [
            tf.TensorSpec(x.shape if i == wanted else None, tf.as_dtype(x.dtype))
            for i, some in enumerate(inputs)
            for x in (some if isinstance(some, list) else [some])
        ]
        try:
            traced(subject, specs, inputs, attrs)
        except Exception:
            return False
        return True

    return [
        [number for number, inputs in enumerate(samples) if takes(i, inputs)]
        for i in range(len(samples[0]))
    ]


def traced(subject: Subject, specs, inputs, attrs, owned: bool = False):
    """A function, made already, of flat tensors, which are grouped as the inputs are.

    If the op owns them, nobody else holds their memory.
    """

    def run(*tensors):
        if owned:
            tensors = list(map(copied, tensors))
        return apply(subject, tensors, inputs, attrs)

    return made(run, specs)


def apply(subject: Subject, tensors, inputs, attrs) -> list[tf.Tensor]:
    packed = tf.nest.pack_sequence_as(list(inputs), list(tensors))
    with one_call():
        return tensors_of(subject.op(*packed, **attrs))


def contradiction(static: Sequence, outputs: Sequence[np.ndarray]) -> str:
    """Where an inferred shape does not hold, in one line."""
    for i, (shape, output) in enumerate(zip(static, outputs)):
        if not shape.is_compatible_with(output.shape):
            return (
                f"output {i} of inferred shape {shape} has shape {list(output.shape)}"
            )
    return ""


def other_sizes(subject: Subject) -> dict[str, list[np.ndarray]]:
    """From what is special about it to a larger and a smaller version of the sample, if any."""
    found, smaller = {}, {}
    if (larger := grown(subject)) is not None:
        found["a larger sample"] = larger
        if (gaps := _with_gaps(subject)) is not None:
            found["longer rows of NaN, but for their first elements"] = gaps
    for label, flat in shrunk(subject.flat):
        subject.progress(f"with {label}", flat)
        try:
            subject.eager(flat)
        except Exception:
            continue
        smaller = {label: flat}
    subject.progress("")
    return found | smaller


def _with_gaps(subject: Subject) -> list[np.ndarray] | None:
    """Long rows in which next to nothing follows from what is near, if the op takes them, and quickly."""
    if not subject.options.get("special_values"):
        return None
    gaps = None
    for elements in _ROWS:  # a call may take as long as the square of their number
        gaps = _gaps(subject.flat, elements)
        if gaps is not None and not _is_quick(subject, gaps):
            return None
    return gaps


def _gaps(flat: Sequence, elements: int) -> list[np.ndarray] | None:
    """The sample with so many elements in longer rows, of NaN but for their first ones."""
    widest = max((x.shape[-1] for x in flat if x.ndim), default=0)
    largest = max(x.size for x in flat)
    gaps, times = [], max(1, elements // max(largest, 1))
    for x in flat:
        if x.ndim and x.shape[-1] == widest:
            x = np.concatenate([x] * times, -1)
            if is_inexact(x.dtype):
                x[..., 1:] = np.nan
                x[..., 0] = np.where(np.isfinite(x[..., 0]), x[..., 0], 1)
        gaps.append(x)
    longer = any(is_inexact(x.dtype) and x.size > largest for x in gaps)
    return gaps if widest > 1 and longer else None


def _is_quick(subject: Subject, flat: Sequence) -> bool:
    """Whether the op takes these inputs, and they take it next to no time."""
    subject.progress("longer rows", flat)
    budget = Budget(_QUICK, at_most=20)
    try:
        subject.eager(flat)
    except Exception:
        return False
    finally:
        subject.progress("")
    return not budget.is_spent()


def repeat(subject: Subject, samples: Sequence, times: int) -> list[list[list]]:
    """For each of some runs and each sample the outputs.

    Before each run, unused memory is filled with another byte.

    Args:
      subject: The op.
      samples: Lists of flat inputs.
      times: How many runs.
    """
    tensors = [[constant(x) for x in flat] for flat in samples]
    runs = []
    for number in range(times):
        with filled_memory(FILLINGS[number % len(FILLINGS)]):
            for _ in range(2):
                outputs = [arrays(subject.outputs(some)) for some in tensors]
            runs.append(outputs)
    return runs


def by_time_zone(subject: Subject) -> str:
    """Where the sample call gives something else in another time zone, though no op says that it has state."""
    if not _must_repeat(subject, subject.flat, subject.inputs, subject.attrs):
        return ""
    zone, runs = os.environ.get("TZ"), []
    try:
        for os.environ["TZ"] in ("UTC0", "EAST-7:13"):
            time.tzset()
            runs.append(subject.eager())
    finally:
        del os.environ["TZ"]
        os.environ.update({"TZ": zone} if zone is not None else {})
        time.tzset()
    return subject.difference(*runs)


def switched_unnoticed(subject: Subject) -> tuple[str, list, dict] | None:
    """A call whose values vary with one switch in another position, though no op of it says that it has state.

    The sample call may be one that begins anew each time.

    Returns:
      The name of the switch, inputs and attrs; None if there is no such call.
    """
    if not _must_repeat(subject, subject.flat, subject.inputs, subject.attrs):
        return None
    budget = Budget(_SWITCHING)
    for name, flat, attrs in _switched(subject):
        if budget.is_spent():
            break
        subject.progress(f"with another {name}", flat, attrs)
        with contextlib.suppress(Exception):  # the op does not take it
            if subject.varies_unnoticed(flat, attrs):
                return name, subject.pack(flat), attrs
    subject.progress("")
    return None


def _switched(subject: Subject) -> Iterator[tuple[str, list, dict]]:
    """Calls with bools negated, with 0 and 1 exchanged, or with another string that an attr may be."""
    described = subject.describe()
    for i, (name, x) in enumerate(zip(described.labels, subject.flat)):
        bits = x.dtype == bool or x.dtype.kind in "iu" and x.size == 1
        if x.size and bits and 0 <= x.max() <= 1:
            flat = [*subject.flat[:i], (x == 0).astype(x.dtype), *subject.flat[i + 1 :]]
            yield name, flat, subject.attrs
    own = described.all_of("attr")
    known = {x.name for x in own} | subject.attrs.keys()
    for name, value in attrs_of_call(subject.op, subject.attrs, own).items():
        others = described.other_words(name, value) + [not value] * isinstance(
            value, bool
        )
        for other in others if name in known else ():
            yield name, subject.flat, {**subject.attrs, name: other}


def with_other_attrs(subject: Subject) -> list[tuple[dict, list]]:
    """The sample's attrs, and those with another number in one of them, each with what `each_once` gives."""
    if not _must_repeat(subject, subject.flat, subject.inputs, subject.attrs):
        return []
    own, every = subject.describe().all_of("attr"), [subject.attrs]
    for name, value in attrs_of_call(subject.op, subject.attrs, own).items():
        if isinstance(value, float):
            others = 2 * value, value / 2
        elif type(value) is int:
            others = value + 1, 2 * value
        else:
            continue
        every += [{**subject.attrs, name: x} for x in others if x != value]
    every = every[:_ATTRS]
    return list(zip(every, each_once(subject, every)))


def each_once(subject: Subject, every: Sequence[dict]) -> list[list[np.ndarray]]:
    """What the sample's inputs give with these attrs, in this order; nothing where the op refuses them, or varies."""
    found = []
    for attrs in every:
        subject.progress("with other attrs", subject.flat, attrs)
        try:
            one, same = (subject.eager(attrs=attrs) for _ in range(2))
        except Exception:
            one = same = []
        found.append([] if difference(one, same) else one)
    subject.progress("")
    return found


def agree(subject: Subject, seconds: float) -> tuple[str, bool]:
    """Where two calls with a much larger sample differ, in one line, and whether by more than rounding.

    At least some calls are made.

    So long a call is split among the threads of the process, and they meet.
    """
    flat = grown(subject, _MANY)
    if flat is None:
        return "", False
    subject.progress(MUCH_LARGER)
    tensors = [constant(x) for x in flat]
    # Of what draws numbers, the sample's floats may be those that it always gives the same.
    if _must_repeat(subject, subject.flat, subject.inputs, subject.attrs):
        with contextlib.suppress(Exception):  # these floats have to be what they are
            uneven = [constant(_uneven(x)) for x in flat]
            subject.outputs(uneven)
            tensors = uneven
    first = arrays(subject.outputs(tensors))
    end = time.monotonic() + seconds
    for number in itertools.count():
        if number >= _AT_LEAST and time.monotonic() > end:
            return "", False
        again = arrays(subject.outputs(tensors))
        if different := difference(first, again, exact=True):
            return different, bool(difference(first, again, NEARLY))
    raise AssertionError


def ignored_seeds(subject: Subject) -> str:
    """What shows that seeds do not count, where the op has the attrs seed and seed2; nothing if they do.

    The first calls of two new kernels give the same for equal seeds, and not for others.
    """
    own = {x.name for x in subject.describe().all_of("attr")}
    if not {"seed", "seed2"} <= own & {*subject.parameters(), *subject.attrs}:
        return ""
    tensors = [constant(x) for x in subject.flat]

    def first_and_second(seed: int) -> list[list[np.ndarray]]:
        attrs = {**subject.attrs, "seed": seed, "seed2": seed}
        subject.progress(f"seed = {seed}, seed2 = {seed}", subject.flat, attrs)
        function = subject.traced(attrs=attrs)
        return [arrays(function(*tensors)) for _ in range(2)]

    try:
        calls = [first_and_second(seed) for seed in (7, 7, 8)]
    except Exception:
        return ""  # seeds like these are refused
    (one, later), (same, _), (other, _) = calls
    if different := difference(one, same, exact=True):
        return f"equal seeds, and {different}"
    if difference(one, later, exact=True) and not difference(one, other, exact=True):
        return "the same values with seed = 7 and with seed = 8"
    return ""


def repeated_chance(subject: Subject) -> tuple[str, str]:
    """Where random numbers come again: what was called, and what was seen; two empty strings if they do not.

    The inputs are equal, and only chance differs. Floats of one call do not come again in it, bit by bit, and what is
    drawn in one call does not come in the next at another place. What is at its place in the next call is no chance.
    """
    subject.progress("a larger sample of equal numbers")
    for look, size in ((_within_a_call, _FLOATS), (_from_call_to_call, _FLOATS >> 4)):
        try:
            flat, attrs = _larger_and_equal(subject, size)
            tensors = [constant(x) for x in flat]
            if repeated := look(
                lambda t=tensors, a=attrs: arrays(subject.outputs(t, a))
            ):
                return repeated
        except Exception:
            continue  # these inputs have to be what they are
    return _at_an_odd_size(subject)


def _within_a_call(call: Callable[[], list]) -> tuple[str, str] | None:
    what = "one call with equal numbers, many of them"
    for both in zip(call(), call()):
        if both[0].dtype.kind in "iu":
            if shift := _shift([both], within=True):
                return what, f"numbers come again in it, {shift:,} elements later"
            continue
        if not is_inexact(both[0].dtype):
            continue
        runs, others = (_runs(y) for y in both)
        factors = np.random.default_rng(0).integers(1 << 63, size=_RUN, dtype=np.uint64)
        keys = runs @ factors
        order = np.argsort(keys, kind="stable")
        one, again = order[:-1], order[1:]
        same = (runs[one] == runs[again]).all(1)
        if same.any() and not np.isin(keys[one[same]], others @ factors).any():
            return what, (
                f"{np.count_nonzero(same):,} of {len(runs):,} runs of {_RUN} floats come again, "
                f"{np.min((again - one)[same]):,} elements later or more"
            )
    return None


def _runs(y: np.ndarray) -> np.ndarray:
    """The bits of so many floats in a row, all different: a matrix, without rows where these may meet by chance.

    What is equal to the row before, along some axis, is so by design and left out.
    """
    if not is_inexact(y.dtype) or not y.ndim:
        return np.empty([0, _RUN], np.uint64)
    bits = y.view(f"u{min(y.itemsize, 8)}").astype(np.uint64)
    for axis, size in enumerate(bits.shape):
        rows = np.moveaxis(bits, axis, 0).reshape(size, -1)
        new = [True, *(rows[1:] != rows[:-1]).any(1)]
        bits = np.compress(new[:size], bits, axis)
    _, counts = np.unique(bits, return_counts=True)
    if bits.size < _RUN or np.sum((counts / bits.size) ** 2) > 0.05:
        return np.empty([0, _RUN], np.uint64)
    runs = np.lib.stride_tricks.sliding_window_view(bits.reshape(-1), _RUN)
    return runs[(np.diff(np.sort(runs, 1), axis=1) > 0).all(1)]


def _from_call_to_call(call: Callable[[], list]) -> tuple[str, str] | None:
    calls, start = [call()], time.monotonic()
    size = max(1, *(y.size for y in calls[0]), 1)
    for _ in range(min(_CALLS, max(4, _STREAM // size))):
        calls.append(call())
        if time.monotonic() - start > 2 and len(calls) > 4:
            break
    for outputs in zip(*calls):
        if outputs[0].dtype.kind not in "iuf" or len({y.shape for y in outputs}) > 1:
            continue
        if shift := _shift([*zip(outputs, outputs[1:])], within=False):
            return (
                f"{len(calls)} calls with equal numbers, one after the other",
                f"the numbers of a call come in the next one again, {abs(shift):,} elements "
                f"{'earlier' if shift < 0 else 'later'}",
            )
    return None


def _at_an_odd_size(subject: Subject) -> tuple[str, str]:
    """As `repeated_chance`, where generators make 4 numbers at a time and a call takes other than a multiple of 4."""
    budget = Budget(_SOON)
    for flat, attrs in _of_odd_sizes(subject):
        subject.progress("a sample of an odd size", flat, attrs)
        tensors, calls = [constant(x) for x in flat], []
        try:
            while len(calls) < _CALLS:
                calls.append(arrays(subject.outputs(tensors, attrs)))
                if budget.is_spent():
                    return "", ""
        except Exception:
            continue  # the op does not take this size
        for outputs in zip(*calls):
            if (
                len({y.shape for y in outputs}) > 1
                or outputs[0].dtype.kind not in "iuf"
            ):
                continue
            rows = np.stack(outputs).reshape(_CALLS, -1)
            if again := _numbers_again(rows):
                return f"{_CALLS} calls with equal numbers, one after the other", (
                    f"the last {again} of the {rows.shape[1]} numbers of a call come first in the next one"
                )
    return "", ""


def _numbers_again(rows: np.ndarray) -> int:
    """How many numbers at the end of a row stand at the beginning of the next, in nearly all rows; 0 if by design.

    They are others in each row, and neither rise nor fall, as those of a counter would.
    """
    steps = np.diff(rows.reshape(-1).astype(np.float64))
    if not steps.size or min((steps > 0).mean(), (steps < 0).mean()) < 0.1:
        return 0
    for count in range(rows.shape[1] - 1, 0, -1):
        ends = rows[:, -count:]
        same = (ends[:-1] == rows[1:, :count]).all(1)
        distinct = len(np.unique(ends, axis=0)) > _ALMOST_ALL * len(rows)
        if same.mean() > _ALMOST_ALL and distinct:
            return count
    return 0


def _all_equal(subject: Subject) -> list[np.ndarray]:
    """Flat inputs, of each of which all elements are the first."""
    return [np.full_like(x, x.flat[0]) if x.size else x for x in subject.flat]


def _of_shape(
    subject: Subject, flat, shape: list[int]
) -> Iterator[tuple[list[np.ndarray], dict]]:
    """Flat inputs and attrs of calls with results of another shape, if an attr or some integers say that shape."""
    own = list(subject.expected()[0].shape)
    for name, value in subject.attrs.items():
        if isinstance(value, list | tuple) and list(value) == own:
            yield subject.flat, {**subject.attrs, name: shape}
    for i, x in enumerate(subject.flat):
        if x.dtype.kind in "iu" and x.reshape(-1).tolist() == own:
            changed = np.array(shape, x.dtype).reshape(x.shape)
            yield [*flat[:i], changed, *flat[i + 1 :]], subject.attrs


def _of_odd_sizes(subject: Subject) -> Iterator[tuple[list[np.ndarray], dict]]:
    """Flat inputs and attrs of calls of a few elements: so many, or one row less than the sample has."""
    shape = list(subject.expected()[0].shape)
    if not shape:
        return
    few = [_ODD, *[1] * (len(shape) - 1)]
    equal = _all_equal(subject)
    yield from _of_shape(subject, equal, few)
    alike = [list(x.shape) == shape and x.size > 0 for x in equal]
    if any(alike):
        yield (
            [
                np.full(few, x.flat[0], x.dtype) if one else x
                for x, one in zip(equal, alike)
            ],
            subject.attrs,
        )
    for _, smaller in shrunk(equal):
        yield smaller, subject.attrs


def _shift(pairs: list, within: bool) -> int:
    """How many elements later random numbers come again, in each call or from it to the next; 0 if they do not.

    What by its making comes again, as a piece of a table does, comes again in one call as from call to call.
    """
    runs = [[_windows(y) for y in both] for both in pairs]
    factors = np.random.default_rng(0).integers(1 << 63, size=_RUN, dtype=np.uint64)
    keys = [[x @ factors for x in both] for both in runs]
    drawn = [_is_drawn(*both) for both in runs]
    counts: dict[int, int] = {}
    for (one, other), wanted in zip(keys, drawn):
        where = np.flatnonzero(wanted)
        if within:
            order = where[np.argsort(one[where], kind="stable")]
            found = np.diff(order)[np.diff(one[order].astype(np.int64)) == 0]
        else:
            _, *places = np.intersect1d(one[where], other[where], return_indices=True)
            found = where[places[1]] - where[places[0]]
        for shift, count in zip(*np.unique(found[found != 0], return_counts=True)):
            counts[int(shift)] = counts.get(int(shift), 0) + int(count)
    if not counts:
        return 0
    shift = max(counts, key=counts.__getitem__)
    here, there = [], []
    for (one, other), wanted in zip(keys, drawn):
        first = slice(max(0, -shift), len(one) - max(0, shift))
        second = slice(max(0, shift), len(one) - max(0, -shift))
        for found, again in ((here, one), (there, other)):
            same = (one[first] == again[second]) & wanted[first]
            found.append(np.count_nonzero(same))
    some, others = (here, there) if within else (there, here)
    enough = sum(some) >= _AGAIN and min(some) > 0.02 * len(keys[0][0])
    return shift if enough and min(some) > 4 * max(others) else 0


def _windows(y: np.ndarray) -> np.ndarray:
    """All runs of so many numbers in a row, as bits: a matrix."""
    bits = np.ascontiguousarray(y).reshape(-1).view(f"u{y.itemsize}").astype(np.uint64)
    if bits.size < _RUN:
        return np.empty([0, _RUN], np.uint64)
    return np.lib.stride_tricks.sliding_window_view(bits, _RUN)


def _is_drawn(some: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Which runs are of chance: numbers that differ, neither rise nor fall, and are others in the next call."""
    values = some.astype(np.int64)
    steps = np.diff(values, axis=1)
    distinct = (np.diff(np.sort(values, 1), axis=1) > 0).sum(1) > _RUN / 2
    mixed = np.minimum((steps > 0).sum(1), (steps < 0).sum(1)) > 2
    return distinct & mixed & ((some == others).sum(1) < 4)


def _larger_and_equal(subject: Subject, size: int) -> tuple[list[np.ndarray], dict]:
    """Flat inputs and attrs of a call of so many elements; of each input, all are equal."""
    first, *rest = subject.expected()[0].shape
    larger = [max(first, size // max(1, math.prod(rest))), *rest]
    equal = _all_equal(subject)
    for call in _of_shape(subject, equal, larger):
        return call
    more = grown(replace(subject, inputs=subject.pack(equal)), 2 * size)
    return equal if more is None else more, subject.attrs


def _uneven(array: np.ndarray) -> np.ndarray:
    """Floats that differ a little: their sums are rounded, and show in which order they were added."""
    if array.dtype not in (np.float32, np.float64):
        return array
    random = np.random.default_rng(0)
    return (array * (1 + 1e-3 * random.random(array.shape))).astype(array.dtype)


def save_model(subject: Subject, folder: str) -> list[np.ndarray]:
    """Writes a SavedModel whose function `serve` calls the op; returns what it should give."""
    module = tf.Module()
    specs = subject.specs(lambda x: [None] * x.ndim)
    module.serve = tf.function(
        lambda *flat: {str(i): x for i, x in enumerate(subject.outputs(flat))},
        input_signature=specs,
        autograph=False,
    )
    tf.saved_model.save(module, folder)
    return subject.expected()


def load_saved_model(_, folder: str, inputs: Sequence):
    """Loads a SavedModel and calls it: an Outcome. It needs no Subject."""

    def run():
        model = tf.saved_model.load(folder)
        tensors = [constant(x) for x in tf.nest.flatten(list(inputs))]
        with one_call():
            outputs = model.serve(*tensors)
        return arrays([outputs[str(i)] for i in range(len(outputs))]), ""

    return outcome_of(run)
