"""Calls that an op has to survive: empty tensors, and wrong inputs."""

import math
import re
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from opcheck.checks.answers import (
    compare_to_reference,
    has_answer,
    refusal_of,
    which_shape,
)
from opcheck.checks.chains import chains
from opcheck.checks.refusals import (
    check_code,
    check_names,
    is_composed,
    is_of_others,
    is_of_tensorflow,
)
from opcheck.findings.compare import difference
from opcheck.findings.report import (
    GUARDED,
    NOT_ALONE,
    SHAPES,
    Findings,
    by_signal,
    likely_cause,
)
from opcheck.inputs.samples import flattened, packed
from opcheck.inputs.wrong import Case, bad_cases, empty_cases
from opcheck.processes import calls
from opcheck.processes.children import Child, Crash, WorkerError
from opcheck.subject import Subject, sizes_of

_MODES = ("eager", "graph")
_MOST_CRASHES = 5
_REFUSED = 8  # calls, each for another reason
_LEAKED = 1 << 13  # bytes after each of these, more than TensorFlow itself keeps
_NOTABLE = 1 << 15  # bytes of inputs, of which a copy that is kept would be noticed
_LARGE = 1 << 16  # bytes of the inputs that are more than a sample
_COUNT = 1 << 20  # a number from which on a call may rightly take long


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
    can be. Integers that may be indices, such as the edges of a graph, become a chain of a million, each leading to the
    next. What the op refuses is called again and again, and must leave no open file and no memory behind.
    """
    with make() as child:
        description = child.ask(Subject.describe)
        cases = list(bad_cases(sample, description))
        made, refused = [], {}
        for case, outcomes in _run(child, sample, cases, found, description):
            made += outcomes.values()
            eager = outcomes["eager"]
            if not eager.error or not eager.clean or eager.generic:
                continue
            if eager.error.startswith("OutOfRangeError"):
                check_code(found, sample, case, eager, description)
            if case.named:
                check_names(found, sample, case, eager, description)
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
        if case.culprits in counted and case.largest > _COUNT:
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
                elif not is_of_tensorflow(found, sample, outcome, description):
                    _unclean(found, case, mode, outcome, line)
            if not any(outcome.mismatch for outcome in outcomes):
                compare_to_reference(child, found, sample, case, by_mode["eager"])
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
            cause = by_signal(str(crash), doing, flattened(inputs))
            line = sample.line(inputs, attrs, [doing] + ["malloc"] * crash.of_heap)
            if crash.of_heap and _ends(child, calls.often, case):
                line = sample.line(inputs, attrs, ["often", "malloc"])
            elif not _ends(child, calls.call, case, modes=modes):
                cause = cause if crash.of_heap else NOT_ALONE
                line = sample.check_line(found.check) or line
            found.fail(
                f"{case.label}, {doing}".replace(", guarded", f", {GUARDED}"),
                refusal_of(sample, case) or "a result or a TensorFlow error",
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
    largest, before, most = case.largest, 0.0, 1
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
            refusal_of(sample, case) or "the same values, whatever unused memory holds",
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
            SHAPES + which_shape(sample, case, outcome.outputs),
            "shape_functions",
            line,
        )


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


def _check_agreement(
    child: Child, found: Findings, sample, case: Case, outcomes, description
) -> None:
    """Checks that both modes refuse, or both give a result."""
    eager, graph = outcomes
    if eager.disagrees(graph):
        of_dtypes = graph.error.startswith("TypeError") and not likely_cause(
            graph.error
        )
        if of_dtypes and is_composed(sample, description) and not graph.raised_by:
            found.note("a graph refuses dtypes that eager execution takes")
            return
        if is_of_others(sample.location) and is_legacy(child, sample, case, eager):
            found.note("eagerly, a scalar and a vector of one element are the same")
            return
        seen = [one.error or "a result" for one in outcomes]
        cause = ""
        if eager.outputs is not None and graph.error.startswith("ValueError"):
            cause = (
                "the shape function refuses what the kernel and the reference take"
                if has_answer(sample, case)
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
