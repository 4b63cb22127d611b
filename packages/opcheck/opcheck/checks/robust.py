"""Calls that an op has to survive: empty tensors, and wrong inputs."""

import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import tensorflow as tf

from opcheck.checks.chains import chains
from opcheck.findings.compare import (
    compared,
    difference,
    is_inexact,
    mentions,
    message_of,
    observed,
    tolerance,
    wide,
)
from opcheck.findings.report import (
    ANSWERED,
    ANY_SPECIAL,
    GUARDED,
    KEPT,
    NOT_ALONE,
    SHAPES,
    UNNAMED,
    Findings,
    by_signal,
    describe_error,
    likely_cause,
)
from opcheck.findings.source import in_turn
from opcheck.inputs.samples import flattened, packed
from opcheck.processes import calls
from opcheck.processes.children import Child, Crash, WorkerError
from opcheck.run import is_refusal, outputs_of
from opcheck.subject import (
    Subject,
    attrs_of_call,
    is_builtin,
    names_of_own,
    parameter_names,
    sizes_of,
)

_MODES = ("eager", "graph")
_MOST_CRASHES = 5
_FEW = 4  # elements of an input that is as an attr is
_LEFT_OUT = 16  # values of attrs that the sample leaves at their defaults
_SIZES = 3  # of the sample, the largest, which an attr exceeds by one
_RANK = 4  # the highest whose axes are all tried
_REFUSED = 8  # calls, each for another reason
_LEAKED = 1 << 13  # bytes after each of these, more than TensorFlow itself keeps
_NOTABLE = 1 << 15  # bytes of inputs, of which a copy that is kept would be noticed
_LARGE = 1 << 16  # bytes of the inputs that are more than a sample
_MANY = 1 << 18  # elements that are more than loops in Python compute in a second
_OPENING = (b"(", b"[", b"{", b"<")  # what a parser may nest
_COLUMNS = 4  # of places in several dimensions
_MARKS, _CUT, _LONG_TEXT = 6, 3, 100  # bytes and texts that are tried, and their length
_TOO_LARGE = b"99999999999999999999"
# What TensorShape says of a shape of more than 2**63 elements.
_OF_SIZES = re.compile(r"Encountered overflow (when multiplying|from large input)")
_BEYOND = 1 << 24  # a size of which three have a product of more than 2**63
_COUNT = 1 << 20  # a number from which on a call may rightly take long


@dataclass(frozen=True)
class Case:
    """A call to try.

    Attributes:
      label: What is special about it.
      inputs: Arrays and lists of arrays.
      attrs: The keyword arguments.
      culprits: The numbers of the inputs, or the names of the attrs, that are wrong.
      named: Whether an error has to name a culprit.
      compared: Whether a result has to be the reference's.
      huge: Whether there are numbers among the inputs that drown others.
      special: Whether there are NaN or infinities among them.
    """

    label: str
    inputs: list
    attrs: dict
    culprits: tuple
    named: bool = True
    compared: bool = True
    huge: bool = False
    special: bool = False


def empty(make: Callable[..., Child], sample, found: Findings) -> str:
    """Calls the op with each dimension set to 0 in turn, with scalars, and with lists without tensors.

    Each call is made eagerly and in a graph, and its result is compared with the inferred shapes and with your
    reference.
    """
    with make() as child:
        description = child.ask(Subject.describe)
        cases = list(empty_cases(sample, description))
        made = []
        for _, outcomes in _run(child, sample, cases, found, description):
            made += outcomes.values()
    return _counted(cases, made)


def bad_input(make: Callable[..., Child], sample, found: Findings) -> str:
    """Tries other ranks, dtypes, sizes and orders, NaN, Inf, huge and negative numbers, strange strings, absurd attrs.

    Each call has to give a result or a clean error, eagerly and in a graph. The error has to name the input that is
    wrong, or the report says: the message of OP_REQUIRES does not say which input is wrong. That is only a note for ops
    of TensorFlow or Keras, for a library that is given as a file, and for a function of several ops. An op without
    state must not raise OutOfRangeError, which ends a `tf.data` pipeline without an error: use InvalidArgumentError. A
    result has to have the inferred shape, even the one inferred from unknown ranks, and to equal your reference's.
    Where the reference raises ValueError, any result is wrong. An input that can be broadcast is given every shape that
    can be. Integers that may be places, such as the edges of a graph, become a chain of a million. What the op refuses
    is called again and again, and must leave no open file and no memory behind.
    """
    with make() as child:
        description = child.ask(Subject.describe)
        cases = list(_bad_cases(sample, description))
        made, refused = [], {}
        for case, outcomes in _run(child, sample, cases, found, description):
            made += outcomes.values()
            eager = outcomes["eager"]
            if not eager.error or not eager.clean or eager.generic:
                continue
            if eager.error.startswith("OutOfRangeError"):
                _check_code(found, sample, case, eager, description)
            if case.named:
                _check_names(found, sample, case, eager, description)
            # What a handle stands for is left behind on purpose. No huge call is made again.
            if case.compared and not description.makes_handles:
                refused[re.sub(r"[\d.]+|nan|inf", "", eager.error)] = case
        if found.failures:
            child.close()  # a call may have damaged its memory
        else:
            chains(child, sample, found, description.labels)
        if description.takes_variants:
            _another_variant(child, found, sample)
        for case in [*refused.values()][-_REFUSED:]:
            _left_behind(child, found, sample, case)
    return _counted(cases, made)


def _counted(cases: Sequence[Case], made: Sequence) -> str:
    """What came of the calls."""
    errors = sum(outcome.outputs is None for outcome in made)
    came = f"{errors} clean errors, {len(made) - errors} results"
    return f"{len(cases)} calls, each eager and in a graph: {came}"


def bounds(make: Callable[..., Child], sample, found: Findings) -> str:
    """Calls the op with inputs that end right before an unreadable page, in several sizes.

    The result must not depend on what lies behind an input or in unused memory. Where the system allows it, the
    processor also watches the bytes between the last element and that page.
    """
    with make() as child:
        sizes = {"the sample call": sample.flat, **child.ask(calls.other_sizes)}
        times = _times(sample.flat)
        for axis in (0, -1):
            flat = [
                np.concatenate([x] * times, axis) if x.ndim else x for x in sample.flat
            ]
            sizes[f"the sample {times} times along dimension {axis}"] = flat
        for size in sizes_of(sample.flat):
            ones = [
                x[tuple(slice(1 if n == size else n) for n in x.shape)]
                for x in sample.flat
            ]
            sizes[f"with 1 instead of {size} in each dimension of this size"] = ones
        cases = [
            Case(label, sample.pack(flat), sample.attrs, (), compared=False)
            for label, flat in sizes.items()
        ]
        description = child.ask(Subject.describe)
        for case, _ in _run(child, sample, cases, found, description, ("eager",)):
            inputs, attrs = case.inputs, case.attrs
            counts = child.ask(calls.watched, inputs=inputs, attrs=attrs)
            touched = [i for i, count in enumerate(counts or ()) if count]
            if touched and not found.failures:
                names = description.labels
                found.fail(
                    f"{case.label}, with watched memory",
                    "no access behind the last element of an input",
                    f"{counts[touched[0]]} behind that of {names[touched[0]]}",
                    "a whole block is read where fewer elements are left: what is behind them can be read only because "
                    "of the tensor's alignment, and may be another thread's",
                    line=sample.line(inputs, attrs, ["watched"]),
                )
    return f"{len(cases)} sizes: no read past the end of an input was seen"


def _times(flat: Sequence[np.ndarray]) -> int:
    """How often arrays are repeated so that nothing lies between their last elements and a 64-byte boundary.

    64 times; less often where they would be large, since the outputs may grow with the square of it.
    """
    wholes = [64 // math.gcd(64, x.nbytes) for x in flat if x.ndim]
    times, size = 64, sum(x.nbytes for x in flat)
    while times > max(wholes, default=1) and times * size > _LARGE:
        times //= 2
    return times


def _run(
    child: Child,
    sample,
    cases: Sequence[Case],
    found: Findings,
    description,
    modes=_MODES,
) -> Iterator:
    """Yields each case that does not end the process, with its outcomes by mode.

    A call that ends the process, an error that is not clean, and two modes that disagree are findings. After a call
    that hangs, or several that crash, the others are not tried.
    """
    crashes, usual = 0, _bytes(sample.inputs)
    memory = sample.options.get("memory", 0)
    counted = set()  # the culprits whose numbers say how long a call takes
    for number, case in enumerate(cases, 1):
        inputs, attrs = case.inputs, case.attrs
        if case.culprits in counted and _largest(case) > _COUNT:
            continue
        try:
            child.larger = _bytes(case.inputs) / max(usual, 1)
            outcomes = child.ask(calls.call, inputs=inputs, attrs=attrs, modes=modes)
            by_mode = dict(zip(modes, outcomes))
            if len(outcomes) > 1:
                _check_agreement(child, found, sample, case, outcomes, description)
            for mode, outcome in by_mode.items():
                if outcome.clean and not outcome.mismatch:
                    continue
                line = sample.line(inputs, attrs, outcome.modes, outcome.shapes)
                if outcome.clean:
                    _contradicts(found, sample, case, mode, outcome, line)
                elif not _is_of_tensorflow(found, sample, outcome, description):
                    _unclean(found, case, mode, outcome, line)
            if not any(outcome.mismatch for outcome in outcomes):
                _compare_to_reference(child, found, sample, case, by_mode["eager"])
            yield case, by_mode
        except WorkerError as error:
            if "MemoryError" not in str(error):
                raise
            # What it gave was too much to be told.
        except Crash as crash:
            if "bad_alloc" in str(crash) and 0 < memory / 2 < crash.filled:
                found.note(f"{case.label}: it fills more memory than the option allows")
                return
            if crash.hung and counts_up(child, case):
                found.note(f"{case.label}: the larger it is, the longer a call takes")
                counted.add(case.culprits)
                continue
            doing = crash.doing or "eager"
            cause = by_signal(str(crash), doing)
            line = sample.line(inputs, attrs, [doing] + ["malloc"] * crash.of_heap)
            if crash.of_heap and _ends(child, calls.often, case):
                line = sample.line(inputs, attrs, ["often", "malloc"])
            elif not _ends(child, calls.call, case, modes=modes):
                cause = cause if crash.of_heap else NOT_ALONE
                line = sample.check_line(found.check) or line
            found.fail(
                f"{case.label}, {doing}".replace(", guarded", f", {GUARDED}"),
                _refusal(sample, case) or "a result or a TensorFlow error",
                str(crash),
                cause,
                line=line,
            )
            crashes += 1
            if crash.hung or crashes == _MOST_CRASHES:
                found.untried = len(cases) - number
                return


def _ends(child: Child, what: Callable, case: Case, **more) -> bool:
    """Whether the call also ends a process that has made no other call."""
    child.close()
    try:
        child.ask(what, inputs=case.inputs, attrs=case.attrs, **more)
    except Crash as crash:
        child.patience.hung -= crash.hung  # it is known
        return True
    except WorkerError:
        pass
    return False


def _largest(case: Case) -> int:
    """The largest integer of a call, by absolute value, or the length of its longest string."""
    found = []
    for array in flattened(case.inputs):
        if array.dtype.kind in "iu" and array.size:
            found += [abs(int(array.min())), abs(int(array.max()))]
        found += map(len, array.flat) if array.dtype == object else []
    for value in case.attrs.values():
        for x in value if isinstance(value, list | tuple) else [value]:
            found += [abs(x)] if isinstance(x, int) else []
            found += [len(x)] if isinstance(x, str | bytes) else []
    return max(found, default=0)


def _with_at_most(case: Case, most: int) -> tuple[list, dict]:
    """The inputs and attrs of a call, with integers cut to a maximum and strings to that length."""

    def limited(value):
        if isinstance(value, list | tuple):
            return [limited(x) for x in value]
        if isinstance(value, str | bytes):
            return value[:most]
        if isinstance(value, np.ndarray) and value.dtype == object:
            shorter = np.array(value)
            shorter.reshape(-1)[:] = [x[:most] for x in value.flat]
            return shorter
        if isinstance(value, np.ndarray):
            few = value.dtype.kind in "iu" and np.iinfo(value.dtype).max > most
            return (
                np.clip(value, -most * (value.dtype.kind == "i"), most)
                if few
                else value
            )
        plain = isinstance(value, int) and not isinstance(value, bool)
        return max(-most, min(value, most)) if plain else value

    attrs = {name: limited(value) for name, value in case.attrs.items()}
    return limited(case.inputs), attrs


def counts_up(child: Child, case: Case) -> bool:
    """Whether a call takes long because it counts to a large number, waits so many milliseconds, or has a long text.

    For smaller ones it takes proportionally less. An endless loop takes no time for these, or just as much.
    """
    largest, before, most = _largest(case), 0.0, 1
    hung, took = child.patience.hung, 0.0
    while most < largest and took < 0.1:
        inputs, attrs = _with_at_most(case, most)
        before = took
        try:
            took = child.ask(calls.seconds, inputs=inputs, attrs=attrs)
        except (Crash, WorkerError):
            break
        most <<= 2
    wanted = took * largest / max(1, most >> 2)
    counts = took > max(0.1, 2 * before) and wanted > child.patience.timeout / 2
    child.patience.hung = hung - counts
    return counts


def _bytes(inputs: Sequence) -> int:
    return sum(np.asarray(x).nbytes for x in flattened(inputs))


def _contradicts(
    found: Findings, sample, case: Case, mode: str, outcome, line: str
) -> None:
    if mode == "eager":
        found.fail(
            f"{case.label}, called again",
            _refusal(sample, case) or "the same values, whatever unused memory holds",
            outcome.mismatch,
            outcome.why,
            "checks",
            line,
        )
    else:
        found.fail(
            f"{case.label}, in a graph",
            "the inferred shape",
            outcome.mismatch,
            SHAPES + _which_shape(sample, case, outcome.outputs),
            "shape_functions",
            line,
        )


def _refusal(sample, case: Case) -> str:
    """The error that a call should give where the reference raises ValueError for it; nothing elsewhere."""
    error = _raised(sample, case)
    return _as_raised(error) if error and is_refusal(error) else ""


def _has_answer(sample, case: Case) -> bool:
    """Whether the reference has a result for a call."""
    asked = sample.reference is not None and case.compared
    return asked and _raised(sample, case) is None


def _raised(sample, case: Case) -> Exception | None:
    """What the reference raises for a call, if it may be asked."""
    if sample.reference is None or not case.compared:
        return None
    try:
        outputs_of(sample.reference, case.inputs, case.attrs)
    except Exception as error:
        return error
    return None


def _as_raised(error: Exception) -> str:
    return f"an error, as the reference raises: {describe_error(error)[:80]}"


def _which_shape(sample, case: Case, outputs) -> str:
    """Whether the reference's results have the kernel's shapes, in words."""
    if sample.reference is None or outputs is None:
        return ""
    try:
        wanted = outputs_of(sample.reference, case.inputs, case.attrs)
    except Exception:
        return ""
    if [x.shape for x in wanted] == [x.shape for x in outputs]:
        return ": the reference has the kernel's shape"
    shapes = ", ".join(str(list(x.shape)) for x in wanted)
    return f": the kernel's shape is not that of the reference, {shapes}"


def _unclean(found: Findings, case: Case, mode: str, outcome, line: str) -> None:
    found.fail(
        f"{case.label}, {mode}",
        "a result, or InvalidArgumentError or the like",
        outcome.error,
        "the message holds bytes of the input that are no UTF-8, at which Python fails: absl::CHexEscape(…) shows them"
        if outcome.error.startswith("UnicodeDecodeError")
        else "an error that is not about the caller's input; OP_REQUIRES with InvalidArgument is",
        line=line,
    )


def _is_of_tensorflow(found: Findings, sample, outcome, description) -> bool:
    """Whether an error has an unusual type because TensorFlow raises it, and not the function's author."""
    kind = outcome.error.partition(":")[0]
    if outcome.raised_by == "TensorFlow":
        found.note(f"TensorFlow's Python code refuses some calls by {kind}")
        return True
    if _is_composed(sample, description) and outcome.raised_by != "caller":
        found.note(f"{kind}, of an op of TensorFlow or of Python, for some calls")
        return True
    return False


def _is_composed(sample, description) -> bool:
    """Whether the op is a function of its author's that calls only TensorFlow's ops."""
    return not _of_others(sample.location) and all(
        map(is_builtin, description.op_types)
    )


def _check_agreement(
    child: Child, found: Findings, sample, case: Case, outcomes, description
) -> None:
    """Checks that both modes refuse, or both give a result."""
    eager, graph = outcomes
    if eager.disagrees(graph):
        of_dtypes = graph.error.startswith("TypeError") and not likely_cause(
            graph.error
        )
        if of_dtypes and _is_composed(sample, description) and not graph.raised_by:
            found.note("a graph refuses dtypes that eager execution takes")
            return
        if _of_others(sample.location) and is_legacy(child, sample, case, eager):
            found.note("eagerly, a scalar and a vector of one element are the same")
            return
        seen = [one.error or "a result" for one in outcomes]
        cause = ""
        if eager.outputs is not None and graph.error.startswith("ValueError"):
            cause = (
                "the shape function refuses what the kernel and the reference take"
                if _has_answer(sample, case)
                else "the kernel has no check that the shape function has: eager execution runs no shape function"
            )
        found.fail(
            case.label,
            "the same, eager and in a graph",
            f"eager: {seen[0]}; in a graph: {seen[1]}",
            cause,
            line=sample.line(case.inputs, case.attrs, _MODES),
        )


def is_legacy(child: Child, sample, case: Case, eager) -> bool:
    """Whether a scalar passes for a vector of one element, or the reverse, which old kernels allow on purpose.

    A kernel that ignores the rank also takes two elements as a scalar.
    """
    flat, changed, two = [], False, None
    for i, (x, y) in enumerate(zip(sample.flat, flattened(case.inputs))):
        alike = y.size == 1 and x.ndim + y.ndim == 1
        flat.append(y.reshape((1,) * x.ndim) if alike else y)
        changed |= alike
        if alike and y.ndim:
            two = i
    if eager.outputs is None or not changed:
        return False

    def called(flat: list, modes=_MODES) -> list:
        inputs = packed(case.inputs, flat)
        given = {"inputs": inputs, "attrs": case.attrs, "modes": modes}
        return [one.outputs for one in child.ask(calls.call, **given)]

    try:
        if two is not None:
            more = [*flat[:two], np.repeat(flat[two], 2), *flat[two + 1 :]]
            if called(more, ["eager"]) != [None]:
                return False
        given = called(flat)
    except (Crash, WorkerError):
        return False
    return None not in given and not difference(eager.outputs, given[0], exact=True)


def _of_others(location) -> bool:
    """Whether somebody else words the errors: TensorFlow, or the author of a library that is given as a file."""
    return location is not None and (
        not location.module or location.module.split(".")[0] in ("tensorflow", "keras")
    )


def _check_names(found: Findings, sample, case: Case, outcome, description) -> None:
    names = []
    for culprit in case.culprits:
        if isinstance(culprit, str):
            names.append(culprit)
        else:
            names += description.names[culprit]
    if len(case.culprits) == len(description.names):  # any of them, or an attr
        attrs = (x.name for x in description.all_of("attr") if x.type != "type")
        names += [*case.attrs, *attrs]
    # The function may call them otherwise, or make an input of its op itself.
    known = {x for some in description.names for x in some}
    known |= {*parameter_names(sample.op)}
    hidden = names_of_own(description.op_defs.values()) - known
    if (
        names
        and not mentions(outcome.error, [*names, *hidden])
        and not _tells(outcome, case, description)
    ):
        composed = _is_composed(sample, description) and outcome.raised_by != "caller"
        if _of_others(sample.location) or composed:
            found.note("some errors name no argument of the function")
            return
        if _is_named_alike(sample, case, outcome.error, [*known, *names]):
            return
        if _OF_SIZES.search(outcome.error) and _largest(case) >= _BEYOND:
            found.note("TensorFlow's own error for too many elements names no input")
            return
        found.fail(
            case.label,
            f"an error that names {' or '.join(dict.fromkeys(names))}",
            outcome.error,
            UNNAMED,
            line=sample.line(case.inputs, case.attrs),
        )


def _is_named_alike(sample, case: Case, error: str, names: Sequence[str]) -> bool:
    """Whether the reference raises a ValueError naming an argument that the op's error names, too."""
    if sample.reference is None:
        return False
    try:
        outputs_of(sample.reference, case.inputs, case.attrs)
    except ValueError as refusal:
        return any(_has_word(str(refusal), [x]) and mentions(error, [x]) for x in names)
    except Exception:
        pass
    return False


def _check_code(found: Findings, sample, case: Case, outcome, description) -> None:
    """OutOfRange is for things that come to an end, and so have state."""
    if _of_others(sample.location) or any(map(is_builtin, description.op_types)):
        return
    taken = [x.type for x in description.all_of("input_arg")]
    if any(kind in (tf.variant, tf.resource) for kind in taken) or any(
        one.is_stateful for one in description.op_defs.values()
    ):
        return
    found.fail(
        case.label,
        "InvalidArgumentError",
        outcome.error,
        "absl::OutOfRangeError means that there are no more elements: a tf.data pipeline with this op in it, and a "
        "loop over it, end here without an error",
        line=sample.line(case.inputs, case.attrs),
    )


def _tells(outcome, case: Case, description) -> bool:
    """Whether an error says in another way what does not fit.

    If an attr is wrong, the error names another input or attr, and a number that is required, or a negative one that is
    there. If an input has a wrong size, it names another input and that size. For an op with one input and no attrs, it
    shows a value of that input.
    """
    flat = flattened(case.inputs)
    sizes = {n for x in flat for n in x.shape}
    inputs = [name for some in description.names for name in some]
    alone = len(flat) == len(description.names) == 1 and not case.attrs
    if alone and _shows_a_value(outcome.error, flat[0]):
        return True
    if any(isinstance(x, str) for x in case.culprits):
        attrs = [x.name for x in description.all_of("attr") if x.type != "type"]
        own = {n for x in case.culprits if type(n := case.attrs.get(x)) is int}
        told = {n for n in _numbers(outcome.error) if n > 9} - (sizes - own)
        if told and _has_word(outcome.error, [*inputs, *attrs]):
            return True
        below = re.findall(r"(?<![\w.])-\d+(?![\w.])", outcome.error)
        numbers = [n for n in map(int, below) if n not in own]
        return len(flat) == len(description.names) and any(
            x.dtype.kind == "i"
            and np.isin(x, numbers).any()
            and _has_word(outcome.error, names)
            for names, x in zip(description.names, flat)
        )
    if len(flat) != len(description.names):
        return False
    others = {n for i, x in enumerate(flat) if i not in case.culprits for n in x.shape}
    told = _numbers(outcome.error) & (sizes - others)
    return bool(told) and _has_word(outcome.error, inputs)


def _shows_a_value(error: str, x: np.ndarray) -> bool:
    """Whether an error contains a float of an input, as far as its digits tell."""
    if x.dtype.kind != "f":
        return False
    number = r"(?<![\w.])-?(?:\d+\.\d+(?:e[+-]?\d+)?|\d+e[+-]?\d+|nan|inf)\b"
    said = re.findall(number, error.lower())
    return any(np.isclose(float(one), x, 1e-4, equal_nan=True).any() for one in said)


def _message(error: str) -> str:
    """The message without the op's name, and without the x of 2 x 3."""
    return re.sub(r"(?<=\d)\s*x\s*(?=\d)", " ", message_of(error))


def _numbers(error: str) -> set[int]:
    return {int(n) for n in re.findall(r"(?<![\w.])\d+(?!\w|\.\d)", _message(error))}


def _has_word(error: str, names: Sequence[str]) -> bool:
    """Whether an error contains one of the names as a word."""
    message = _message(error)
    return any(re.search(rf"(?<!\w){re.escape(x)}(?!\w)", message) for x in names)


def _another_variant(child: Child, found: Findings, sample) -> None:
    try:
        child.ask(calls.with_another_variant)
    except WorkerError:
        pass  # its graph cannot be imported
    except Crash as crash:
        found.fail(
            "a variant that holds an empty list of tensors",
            "InvalidArgumentError",
            str(crash),
            "Variant::get<T>() gives nullptr where the variant holds something else",
            line=sample.check_line(found.check),
        )


def _left_behind(child: Child, found: Findings, sample, case: Case) -> None:
    """What a refused call keeps, also with the inputs repeated until the memory would be noticed."""
    times = _NOTABLE // max(1, _bytes(case.inputs))
    flat = flattened(case.inputs)
    larger = [
        np.concatenate([x] * times) if x.ndim and x.dtype != object and times > 1 else x
        for x in flat
    ]
    for inputs in (packed(case.inputs, larger), case.inputs):
        line = sample.line(inputs, case.attrs, ["refused"])
        try:
            left = child.ask(calls.refused, inputs=inputs, attrs=case.attrs)
        except Crash as crash:
            words = f"{case.label}, many times", "an error each time", str(crash)
            found.fail(*words, NOT_ALONE, line=line)
            return
        if left is not None:
            break
    files, held = left or (0, 0)
    if files > 0 or held > _LEAKED:
        more = f"{files} more after each call" if files > 0 else f"{held} bytes more"
        found.fail(
            f"{case.label}, which is refused, many times",
            "as many open files and as much allocated memory as before",
            more,
            "OP_REQUIRES returns, and what Compute() has opened or allocated before stays: the destructor of an object "
            "gives it back",
            "checks",
            line,
        )


def _compare_to_reference(
    child: Child, found: Findings, sample, case: Case, outcome
) -> None:
    if sample.reference is None or outcome.outputs is None or not case.compared:
        return
    if sum(x.size for x in outcome.outputs) > _MANY:
        return
    try:
        wanted = outputs_of(sample.reference, case.inputs, case.attrs)
    except Exception as error:
        if isinstance(error, NotImplementedError):
            return  # it has no answer, and there may be one
        if again := _wraps_around(child, sample, case, outcome):
            found.fail(
                case.label,
                _as_raised(error),
                f"the result for {again} that begins again at its end",
                "an index that wraps around at the end of an input, and no check of its size",
                line=sample.line(case.inputs, case.attrs),
            )
            return
        if is_refusal(error):
            found.fail(
                case.label,
                _as_raised(error),
                "a result",
                ANSWERED,
                line=sample.line(case.inputs, case.attrs),
            )
        return  # the reference does not define it
    if len(wanted) == len(outcome.outputs):
        pairs = zip(wanted, outcome.outputs)
        wanted = [_as_held(*both, sample.options, case.huge) for both in pairs]
    if different := compared(sample.options, wanted, outcome.outputs, strict=False):
        cause = observed(wanted, outcome.outputs, sample.options.get("tolerances"))
        if case.special:
            equal = _is_wrong_for_ones(child, sample, case)
            advice = "wrong with 1 in their place, too" if equal else ANY_SPECIAL
            cause = "; ".join([*filter(None, [cause]), advice])
        if _ends_at_nul(child, case, outcome.outputs):
            cause = (
                "it takes a string to end at its first NUL, as strlen() and c_str() do"
            )
        line = sample.line(case.inputs, case.attrs)
        if _is_right_alone(child, sample, case, wanted):
            cause, line = KEPT, in_turn(sample.line(sample.inputs, sample.attrs), line)
        found.fail(
            case.label, "what the reference computes", different, cause, "", line
        )


def _wraps_around(child: Child, sample, case: Case, outcome) -> str:
    """The input with fewer elements than the sample's that the op reads again from its start, if there is one."""
    flat = flattened(case.inputs)
    changed = [i for i, (x, y) in enumerate(zip(sample.flat, flat)) if x is not y]
    if len(flat) != len(sample.flat) or len(changed) != 1 or sample.attrs != case.attrs:
        return ""
    i = changed[0]
    x, y = sample.flat[i], flat[i]
    if x.dtype != y.dtype or x.ndim != y.ndim or not 1 < y.size < x.size:
        return ""
    name = child.ask(Subject.describe).labels[i]
    flat[i] = np.resize(y, x.shape)
    seen = []
    for inputs in (sample.inputs, packed(case.inputs, flat)):
        try:
            [one] = child.ask(
                calls.call, inputs=inputs, attrs=case.attrs, modes=["eager"]
            )
        except (Crash, WorkerError):
            return ""
        seen.append(one.outputs)
    if None in seen or not difference(*seen, exact=True):
        return ""  # what is left out does not count
    return "" if difference(seen[1], outcome.outputs, exact=True) else name


def _ends_at_nul(child: Child, case: Case, outputs) -> bool:
    """Whether strings cut at their first NUL give the same result."""
    flat = flattened(case.inputs)
    cut = [
        np.vectorize(lambda x: x.split(b"\0")[0], [object])(x)
        if x.dtype == object and x.size
        else x
        for x in flat
    ]
    if all(np.array_equal(x, y) for x, y in zip(flat, cut) if x.dtype == object):
        return False
    inputs = packed(case.inputs, cut)
    try:
        [one] = child.ask(calls.call, inputs=inputs, attrs=case.attrs, modes=["eager"])
    except (Crash, WorkerError):
        return False
    return one.outputs is not None and not difference(one.outputs, outputs, exact=True)


def _is_wrong_for_ones(child: Child, sample, case: Case) -> bool:
    """Whether a call with NaN or infinities is wrong with 1 in place of these, too, as where equal numbers are."""
    flat = [
        np.where(np.isfinite(x), x, np.ones_like(x)) if is_inexact(x.dtype) else x
        for x in flattened(case.inputs)
    ]
    inputs = packed(case.inputs, flat)
    try:
        wanted = outputs_of(sample.reference, inputs, case.attrs)
        given = {"inputs": inputs, "attrs": case.attrs, "modes": ["eager"]}
        [outcome] = child.ask(calls.call, **given)
    except Exception:
        return False
    seen = outcome.outputs
    return seen is not None and bool(
        compared(sample.options, wanted, seen, strict=False)
    )


def _is_right_alone(child: Child, sample, case: Case, wanted) -> bool:
    """Whether the call gives what is wanted in a process that has made no other call."""
    child.close()
    try:
        [outcome] = child.ask(
            calls.call, inputs=case.inputs, attrs=case.attrs, modes=["eager"]
        )
    except Crash:
        return False
    got = outcome.outputs
    return got is not None and not compared(sample.options, wanted, got, strict=False)


def _as_held(wanted, got: np.ndarray, options, huge: bool) -> np.ndarray:
    """What is wanted, as far as the output's dtype can hold it.

    Integers wrap around where the reference has a wider dtype. Next to a huge number, others are lost in rounding.
    """
    wanted = np.asarray(wanted)
    if wanted.shape != got.shape or object in (wanted.dtype, got.dtype):
        return wanted
    if wanted.dtype.kind in "iu" and got.dtype.kind in "iu":
        return wanted.astype(got.dtype)
    if not huge:
        return wanted
    if not is_inexact(got.dtype):
        return got if wanted.dtype.kind == "f" else wanted
    both = wide(wanted, got)
    with np.errstate(all="ignore"):
        finite = np.isfinite(both[0]) & np.isfinite(both[1])
        scale = np.max(np.abs(both[0]), initial=0, where=finite)
        relative, _ = tolerance(got.dtype, options.get("tolerances"))
        near = np.abs(both[0] - both[1]) <= relative * scale
    return np.where(~finite | near, both[1], wanted)


def empty_cases(sample, description) -> Iterator[Case]:
    names = description.labels
    flat = sample.flat
    seen = set()

    def case(label: str, changed: list) -> Iterator[Case]:
        key = tuple(x.shape for x in changed)
        if key not in seen:
            seen.add(key)
            yield Case(label, sample.pack(changed), sample.attrs, ())

    for i, array in enumerate(flat):
        for axis in range(array.ndim):
            changed = list(flat)
            changed[i] = np.take(array, [], axis)
            yield from case(f"dimension {axis} of {names[i]} is 0", changed)
    for size in sorted({n for x in flat for n in x.shape}):
        changed = []
        for array in flat:
            for axis in (axis for axis, n in enumerate(array.shape) if n == size):
                array = np.take(array, [], axis)
            changed.append(array)
        yield from case(f"all dimensions of size {size} are 0", changed)
    for axis in range(max((x.ndim for x in flat), default=0)):
        changed = [np.take(x, [], axis) if x.ndim > axis else x for x in flat]
        yield from case(f"dimension {axis} of all inputs is 0", changed)
    scalars = [x.reshape(-1)[0:1].reshape(()) if x.size else x for x in flat]
    for i, scalar in enumerate(scalars):
        yield from case(f"{names[i]} is a scalar", [*flat[:i], scalar, *flat[i + 1 :]])
    yield from case("all inputs are scalars", scalars)
    first = 0  # of the tensors of an input
    for i, some in enumerate(sample.inputs):
        if isinstance(some, list) and some:
            inputs = [*sample.inputs[:i], [], *sample.inputs[i + 1 :]]
            label = f"{names[first].partition('[')[0]} is a list without tensors"
            yield Case(label, inputs, sample.attrs, ())
        first += len(some) if isinstance(some, list) else 1


def _value_cases(
    sample, names: Sequence[str], attrs: Mapping, other: str = ""
) -> Iterator[Case]:
    """Wrong values in each input; with another attr, named in the label, only in inputs of few elements."""
    for i, array in enumerate(sample.flat):
        if other and array.size > _FEW:
            continue
        for what, wrong, named in wrong_values(array):
            if other and (wrong.shape, wrong.dtype) != (array.shape, array.dtype):
                continue
            flat = [*sample.flat[:i], wrong, *sample.flat[i + 1 :]]
            culprits = (i,) if named != "any" else tuple(range(len(flat)))
            special = any(word in what for word in ("NaN", "Inf"))
            yield Case(
                f"{names[i]} {what}{other}",
                sample.pack(flat),
                attrs,
                culprits,
                bool(named) and not other,
                compared="dtype" not in what
                and "16 MB" not in what
                and (sample.options["special_values"] or not special),
                huge=what.endswith("1e30") or wrong.dtype.kind in "iu",
                special=special,
            )


def _bad_cases(sample, description) -> Iterator[Case]:
    names = description.labels
    yield from _value_cases(sample, names, sample.attrs)
    everything = tuple(range(len(sample.flat)))
    for label, flat in (
        *_least_by_minus_one(sample.flat, names),
        *_other_order(sample.flat),
    ):
        yield Case(label, sample.pack(flat), sample.attrs, everything, huge=True)
    for label, inputs in _other_lists(sample.inputs, names):
        yield Case(label, inputs, sample.attrs, everything, named=False)
    for label, flat in broadcasts(sample.flat, names):
        yield Case(label, sample.pack(flat), sample.attrs, everything, named=False)
    own = description.all_of("attr")
    known = {x.name for x in own} | sample.attrs.keys()
    lengths = {x.number_attr for x in description.all_of("output_arg")}
    of_call = attrs_of_call(sample.op, sample.attrs, own)
    sizes = sizes_of(sample.flat)[-_SIZES:]
    rank = min(_RANK, max((x.ndim for x in sample.flat), default=0))
    axes = range(-rank, rank)
    left_out = (known & of_call.keys()) - sample.attrs.keys()
    for name, value in of_call.items():
        if name not in known:
            continue
        for other in description.other_words(name, value):
            attrs = {**sample.attrs, name: other}
            for what, flat in {"": sample.flat, **_cubes(sample.flat)}.items():
                label = f"{name} = {other!r}{what}"
                named = name in sample.attrs
                yield Case(label, sample.pack(flat), attrs, (name, *everything), named)
            yield from _value_cases(sample, names, attrs, f", {name} = {other!r}")
        some = _wrong_attrs(value)
        if name in left_out:
            some = some[: max(4, _LEFT_OUT // len(left_out))]
        if type(value) is int:  # one that fits no more, by little
            some += [n + 1 for n in sizes if n + 1 != value and n + 1 not in some]
        if type(value) is int and value in axes:  # it may be one
            some += [n for n in axes if n != value and n not in some]
        for wrong in some:
            if name in lengths and abs(wrong) > 1 << 10:
                continue  # so many outputs overwhelm TensorFlow, not the op
            shown = repr(wrong) if len(repr(wrong)) < 30 else f"of length {len(wrong)}"
            attrs = {**sample.attrs, name: wrong}
            # Some are not wrong in themselves, but the inputs may not fit them.
            fits = isinstance(wrong, bool) or wrong in (0, 1, 0.5, "")
            fits = fits or (isinstance(wrong, int) and wrong - 1 in (value, *sizes))
            fits = fits or wrong in _with_one_more(value)
            fits = fits or (wrong in axes and wrong != -1)
            culprits = (name, *everything) if fits else (name,)
            yield Case(
                f"{name} = {shown}",
                sample.inputs,
                attrs,
                culprits,
                compared=_is_small(wrong),
            )


def _least_by_minus_one(
    flat: Sequence[np.ndarray], names: Sequence[str]
) -> Iterator[tuple[str, list]]:
    """The least integer in one input and -1 in another: their quotient does not fit, and the processor traps."""
    for (i, x), (j, y) in itertools.islice(
        itertools.permutations(enumerate(flat), 2), 6
    ):
        if x.dtype == y.dtype and x.dtype.kind == "i" and x.size and y.size:
            least = np.iinfo(x.dtype).min
            changed = list(flat)
            changed[i], changed[j] = np.full_like(x, least), np.full_like(y, -1)
            yield f"{names[i]} is all {least}, {names[j]} all -1", changed


def _other_order(flat: Sequence[np.ndarray]) -> Iterator[tuple[str, list]]:
    """Rows that belong together, like a sparse tensor's indices and values, with the first one moved to the end."""
    for rows in sorted({len(x) for x in flat if x.ndim}):
        alike = [x.ndim and len(x) == rows for x in flat]
        kinds = {x.dtype.kind for x, one in zip(flat, alike) if one}
        if rows > 2 and sum(alike) > 1 and "i" in kinds:
            changed = [np.roll(x, -1, 0) if one else x for x, one in zip(flat, alike)]
            yield f"the first of {rows} rows is at the end, in all inputs", changed


def broadcasts(
    flat: Sequence[np.ndarray], names: Sequence[str]
) -> Iterator[tuple[str, list]]:
    """Inputs that may be broadcast to larger ones: in all shapes with a size of 1 in some dimensions.

    An index that wraps around at the end of such an input is right for a row and for the whole, but not for a column.
    """
    tried = {(i, x.shape) for i, x in enumerate(flat)}
    for i, x in enumerate(flat):
        larger = {y.shape for j, y in enumerate(flat) if j != i and _fits(x, y)}
        for whole in sorted(larger, key=len, reverse=True)[:2]:
            for ones in itertools.product((False, True), repeat=len(whole)):
                shape = tuple(1 if one else n for one, n in zip(ones, whole))
                if (i, shape) not in tried:
                    tried.add((i, shape))
                    changed = [*flat[:i], _spread(x, shape), *flat[i + 1 :]]
                    yield f"{names[i]} has shape {list(shape)}", changed
    for (i, x), (j, y) in itertools.combinations(enumerate(flat), 2):
        if x.shape == y.shape and x.ndim > 1 and min(x.shape[0], x.shape[-1]) > 1:
            changed = list(flat)
            changed[i], changed[j] = np.take(x, [0], 0), np.take(y, [0], -1)
            yield f"{names[i]} is one row, {names[j]} one column", changed


def _fits(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether an array can be broadcast to the shape of another one, which has at most three dimensions."""
    if not x.size or y.size <= 1 or not x.ndim <= y.ndim <= 3:
        return False
    pairs = zip(x.shape[::-1], y.shape[::-1])
    return all(n in (1, m) for n, m in pairs)


def _spread(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The elements of an array in another shape, no row being like the one before."""
    size = int(np.prod(shape))
    places = np.arange(size)
    spread = x.reshape(-1)[(places + places // x.size) % x.size]
    if is_inexact(x.dtype):
        spread = (spread * np.linspace(1, 0.5, size)).astype(x.dtype)
    return spread.reshape(shape)


def _other_lists(inputs: Sequence, names: Sequence[str]) -> Iterator[tuple[str, list]]:
    """Lists with one tensor more and with one less: each list alone, and all lists of one length together."""
    lists, first = {}, 0
    for i, some in enumerate(inputs):
        if isinstance(some, list) and some:
            lists[i] = names[first].partition("[")[0]
        first += len(some) if isinstance(some, list) else 1
    alike = [[j for j in lists if len(inputs[j]) == len(inputs[i])] for i in lists]
    for chosen in [[i] for i in lists] + [some for some in alike if len(some) > 1]:
        for more in (1, -1):
            changed = list(inputs)
            for i in chosen:
                changed[i] = inputs[i] + inputs[i][:1] if more > 0 else inputs[i][:-1]
            count = len(changed[chosen[0]])
            if count:
                label = " and ".join(lists[i] for i in chosen)
                yield f"{label} of {count} tensor{'s' * (count > 1)}", changed


def _cubes(flat: Sequence[np.ndarray]) -> dict[str, list[np.ndarray]]:
    """The inputs with the same size in all dimensions, which can then stand in for each other."""
    sizes = sizes_of(flat)
    if len(sizes) < 2:
        return {}
    least = sizes[0]
    cut = [x[tuple(slice(least) for _ in x.shape)] for x in flat]
    return {f", all sizes {least}": cut}


def _is_small(value) -> bool:
    """Whether a reference can count that far, or take a text that long."""
    if isinstance(value, list | tuple):
        return all(map(_is_small, value))
    if isinstance(value, str | bytes):
        return len(value) < 1 << 10
    return not isinstance(value, int) or abs(value) <= 1 << 16


def wrong_values(array: np.ndarray) -> Iterator[tuple[str, np.ndarray, object]]:
    """What can be wrong with an input, and whether the error has to name it, or "any" input."""
    rank = array.ndim
    first = array.reshape(-1)[:1]
    for wrong in sorted({0, 1, rank - 1, rank + 1, 5, 8} - {rank, -1}):
        if wrong < rank:
            if not array.size:
                continue
            changed = array[(0,) * (rank - wrong) + (...,)]
        else:
            changed = array.reshape((1,) * (wrong - rank) + array.shape)
        yield f"has rank {wrong}", changed, "any"
    if not rank:
        yield "has two elements", np.stack([array, array]), False
    for dtype in ("int8", "complex64", "object"):
        if array.dtype != dtype:
            changed = np.zeros(array.shape, dtype)
            if dtype == "object":
                changed[...] = b"text"
            yield (
                f"has dtype {'string' if dtype == 'object' else dtype}",
                changed,
                False,
            )
    if rank and array.shape[0]:
        longer = np.concatenate([array, array[:1]])
        yield f"has {len(longer)} rows", longer, "any"
        if len(array) > 1:
            yield f"has {len(array) - 1} rows", array[:-1], "any"
    for axis in (axis for axis in range(rank) if array.shape[axis] > 2 - bool(axis)):
        yield f"has size 1 in dimension {axis}", np.take(array, [0], axis), "any"
    if not first.size:
        return
    yield from _wrong_in_columns(array)
    if array.dtype.kind in "iu":  # it may hold indices
        twice = np.array(array)
        twice.reshape(-1)[1:2] = first
        reverse = array.reshape(-1)[::-1].reshape(array.shape)
        for what, changed in (
            ("has its first element twice", twice),
            ("is in reverse order", reverse),
        ):
            if not np.array_equal(array, changed):
                yield what, changed, False
    for what, value in _wrong_values(array.dtype):
        one = np.array(array)
        one.reshape(-1)[0] = value
        yield f"starts with {what}", one, True
        if array.size > 1:
            every = np.array(array)
            every.reshape(-1)[:] = [value] * array.size
            yield f"is all {what}", every, True
        if array.size > 2 and array.dtype.kind in "iu" and value in (-1, 1 << 16):
            one = np.array(array)  # both ends may be all that is checked
            one.reshape(-1)[array.size // 2] = value
            yield f"has {what} in the middle", one, "any"
    opening = first.item()[:1] if array.dtype == object else b""
    if opening in _OPENING:
        one = np.array(array)
        one.reshape(-1)[0] = opening * (1 << 24)
        yield f"starts with 16 MB of {opening.decode()!r}", one, True
    if array.dtype == object:
        for place, what, text in _broken_texts(array.reshape(-1)):
            one = np.array(array)
            one.reshape(-1)[place] = text
            yield what, one, True


def _wrong_in_columns(array: np.ndarray) -> Iterator[tuple[str, np.ndarray, str]]:
    """Integers in rows of a few, such as rows and columns: a wrong one in each column but the first."""
    few = array.ndim > 1 and 1 < array.shape[-1] <= _COLUMNS
    if not few or array.dtype not in (np.int32, np.int64):
        return
    for column in range(1, array.shape[-1]):
        for value in (-1, 1 << 16):
            one = np.array(array)
            one.reshape(-1)[column] = value
            yield f"has {value} in column {column}", one, "any"


def _broken_texts(texts: np.ndarray) -> Iterator[tuple[int, str, bytes]]:
    """Texts of an input that a parser may refuse: their place, what is special about them, and what they become.

    Of some bytes that are neither letters nor digits, the first is left out, doubled, and made the last byte. Numbers
    become 0, which has a sign all the same, or larger than 64 bits hold. Something stands before a text or behind it,
    or before its first number.
    """
    marks, tried = set(), {*texts}
    for place, text in enumerate(texts):
        if not isinstance(text, bytes) or len(text) > _LONG_TEXT:
            continue
        for i, byte in enumerate(text):
            mark = text[i : i + 1]
            if mark.isalnum() or byte > 127 or mark in marks or len(marks) >= _MARKS:
                continue
            marks.add(mark)
            for what, changed in (
                (f"without {mark!r}", text[:i] + text[i + 1 :]),
                (f"with {mark!r} twice", text[:i] + mark + text[i:]),
                (f"up to {mark!r}", text[: i + 1]),
            ):
                if changed not in tried:
                    tried.add(changed)
                    yield place, f"has {text!r} {what}", changed
        if 0 < len(text) and place < _CUT and text[:-1] not in tried:
            tried.add(text[:-1])
            yield place, f"has {text!r} without its last byte", text[:-1]
        number = re.search(rb"\d", text)
        at = number.start() if number else 0
        for changed in (
            text + b"x",
            text + b" ",
            b" " + text,
            text[:at] + b"0" + text[at:],
            text[:at] + b"+" + text[at:],
        ):
            if place == 0 and text and changed not in tried:
                tried.add(changed)
                yield place, f"has {changed!r} for {text!r}", changed
        for number in itertools.islice(re.finditer(rb"\d+", text), _CUT):
            for other in (_TOO_LARGE, b"0"):
                changed = text[: number.start()] + other + text[number.end() :]
                if place < _CUT and changed not in tried:
                    tried.add(changed)
                    what = f"with {other.decode()} for {number[0].decode()}"
                    yield place, f"has {text!r} {what}", changed


def _wrong_values(dtype: np.dtype) -> list[tuple[str, object]]:
    if is_inexact(dtype):
        return [("NaN", np.nan), ("Inf", np.inf), ("-Inf", -np.inf), ("1e30", 1e30)]
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        numbers = [
            -1,
            limits.min,
            limits.max,
            1 << 16,
            1 << 30,
            (1 << 24) + 1,
            (1 << 32) + 1,
            (1 << 53) + 1,
            1 << 62,
            -(1 << 31),
        ]
        fitting = dict.fromkeys(n for n in numbers if limits.min <= n <= limits.max)
        return [(str(n), n) for n in fitting]
    if dtype.kind == "O":
        return [
            ("an empty string", b""),
            ("letters of several bytes", "🦉äöü€字".encode()),
            ("bytes that are no UTF-8", b"\xff\xfe\x80"),
            ("a string with a NUL", b"a\0b"),
            ("a string of 16 MB", b"7" * (1 << 24)),
        ]
    if dtype.names:  # quantized: an integer in a record
        limits = np.iinfo(dtype[0])
        return [(str(n), n) for n in (limits.min, limits.max)]
    return []


def _with_one_more(value) -> list[list[int]]:
    """A list of integers with each in turn increased by one: it may be the only one that the kernel looks at."""
    if not isinstance(value, list | tuple) or not all(type(x) is int for x in value):
        return []
    return [[*value[:i], x + 1, *value[i + 1 :]] for i, x in enumerate(value[:8])]


def _wrong_attrs(value) -> list:
    if isinstance(value, bool | np.bool_):
        return [not value]
    if isinstance(value, int | np.integer):
        near = dict.fromkeys([0, int(value) + 1, 1, -1])
        far = [1 << 16, (1 << 31) - 1, 1 << 62, -(1 << 63)]
        return [n for n in near if n != value] + far
    if isinstance(value, float | np.floating):
        return [0.5, float("nan"), float("inf"), -1.0, 0.0, 1e30]
    if isinstance(value, str | bytes):
        return ["", "x" * (1 << 24)]
    if isinstance(value, list | tuple) and value:
        if all(isinstance(x, int) and not isinstance(x, bool) for x in value):
            wrong = [[], [*value, 1], [-1] * len(value), [1 << 30] * len(value)]
            return wrong + _with_one_more(value)
        return [[], [*value, value[-1]]]
    return []
