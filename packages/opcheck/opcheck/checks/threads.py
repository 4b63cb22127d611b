"""Calls that must not disturb each other, nor the tensors that they are given."""

import contextlib
import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import cancellation

from opcheck.checks.drawn import Draw
from opcheck.findings.compare import is_inexact
from opcheck.findings.report import (
    AT_ONCE,
    KEPT,
    SHARED,
    Findings,
    Skip,
    describe_error,
)
from opcheck.findings.source import in_turn
from opcheck.findings.wanted import replaced
from opcheck.inputs.memory import growth
from opcheck.processes.budget import Budget
from opcheck.processes.calls import again, agree
from opcheck.processes.pulse import Watch, each, one_call
from opcheck.subject import (
    AFTER_LARGER,
    UNREPEATED,
    Subject,
    as_it_is,
    attrs_of_call,
    grown,
    is_builtin,
    kept,
    shown_by,
    shrunk,
)
from opcheck.tensors import arrays, constant

_CALLS, _WINDOWS = 50, 4
_ELEMENTS, _TURNS = 20_000, 4  # new ones of a call, and calls with other ones
_TABLE = 4096  # entries of a table that a call may add to, and that drops its oldest
_LARGEST = 1 << 22  # elements of the outputs of a call with other attrs
_DRAWN = 40  # calls with other attrs
_KERNELS = 12  # of which each is called eight times
_LONG = 0.2  # seconds of waiting that somebody may want to end
_SHORT = 2e-3  # seconds that are no chance
_LEAKED = 200  # bytes of each call; TensorFlow's own pools grow in steps, less often


def variants(subject: Subject, count: int = 4, flat=None) -> list[tuple[list, list]]:
    """The sample and up to `count - 1` permutations of its floats, each with its outputs.

    Permutations that the op refuses, or whose outputs have other shapes, are left out.
    """
    start = subject.flat if flat is None else flat
    wanted = subject.expected() if flat is None else subject.eager(flat)
    found = [(start, wanted)]
    for step in range(1, count):
        flat = [
            np.roll(x.reshape(-1), step).reshape(x.shape)
            if is_inexact(x.dtype) and x.size
            else x
            for x in start
        ]
        try:
            outputs = subject.eager(flat)
        except Exception:
            continue
        if [x.shape for x in outputs] == [x.shape for x in wanted]:
            found.append((flat, outputs))
    return found


def concurrency(subject: Subject, found: Findings) -> str:
    """Lets eight threads call one kernel on inputs of different values and sizes.

    Kernels with other attrs are called at the same time, and new kernels get their first calls eight at once, with
    larger integers than any before; so do texts and integers that no call has had, which a table may store or number.
    The calls are made eagerly, by a `tf.function` and by `tf.data`. A call that waits has to end when its step is
    cancelled; the check first makes a short wait longer, through the attr or input that it depends on.
    """
    _first_use(subject, found)
    _new_elements(subject, found)
    different, some = kept(subject)
    if different and not found.failures:
        found.fail(
            *AFTER_LARGER,
            different,
            KEPT,
            line=in_turn(subject.line(), subject.line(some), subject.line()),
        )
        return ""
    _cancelled(subject, found)
    seconds = subject.options.get("concurrency_seconds", 1.0)
    larger = grown(subject)
    first = seconds if larger is None else seconds / 4  # long calls meet more often
    total, count = _many_calls(subject, found, variants(subject), first)
    if larger is not None and not found.failures:
        subject.progress(f"{AT_ONCE}, then a larger one")
        some = variants(subject, flat=larger)
        total += _many_calls(subject, found, some, seconds - first)[0]
    return f"{total} calls, 8 at a time, on {count} different inputs"


def _many_calls(subject: Subject, found: Findings, some, seconds) -> tuple[int, int]:
    mixed = some + _other_sizes(subject, some[0][0])
    shape_of = (
        (lambda x: x.shape) if len(mixed) == len(some) else lambda x: [None] * x.ndim
    )
    function = subject.traced(subject.specs(shape_of, some[0][0]))
    ways = {
        "eager calls": subject.outputs,
        "calls of one tf.function": lambda tensors, _: function(*tensors),
    }
    same = [(flat, subject.attrs, wanted) for flat, wanted in mixed]
    total = 0
    for way, call in ways.items():
        total += _in_threads(subject, found, same, way, call, seconds / 3)
    if others := _other_attrs(subject, some[0][0]):
        way, both = "eager calls with other attrs", [*others, same[0]]
        total += _in_threads(subject, found, both, way, subject.outputs, seconds / 6)
    if subject.flat:
        total += _in_dataset(subject, found, some, seconds / 3)
    return total, len(mixed)


def _cancelled(subject: Subject, found: Findings) -> None:
    """Cancels a call that waits for something other than a processor, and sees how long it goes on."""
    if all(map(is_builtin, subject.describe().op_types)):
        return
    label, waits, function, tensors = _waiting(subject)
    if waits < _LONG:
        return
    subject.progress("a call that is cancelled")
    goes_on = []
    while not goes_on or (goes_on[-1] > waits / 2 and len(goes_on) < 3):
        manager = cancellation.CancellationManager()
        call = manager.get_cancelable_function(function.concrete)
        timer = threading.Timer(waits / 5, manager.start_cancel)
        start = time.monotonic()
        timer.start()
        with contextlib.suppress(tf.errors.OpError), one_call():
            call(*tensors)
        goes_on.append(time.monotonic() - start - waits / 5)
        timer.join()
    if min(goes_on) > waits / 2:
        found.fail(
            f"a call{label} that is cancelled after {waits / 5:.1f} s",
            "it ends at once",
            f"it goes on for {min(goes_on):.1f} s",
            "the kernel waits and is not told of the end of its step: "
            "context->cancellation_manager()->RegisterCallback(…) tells it",
        )


def _first_use(subject: Subject, found: Findings) -> None:
    """Calls new kernels with ever larger integers: each wants to extend a table that grows with them."""
    for i, x in enumerate(subject.flat):
        if x.dtype.kind not in "iu" or not x.size:
            continue
        name = f"{subject.describe().labels[i]} with larger numbers"
        largest, most = 0, _most(x)
        for factor in (4**n for n in range(1, 7)):
            if factor > most or not _takes(
                subject, name, _times(subject.flat, i, factor)
            ):
                break
            largest = factor
        for factor in (largest + largest // 2, largest):
            if not 0 < factor <= most:
                continue
            flat = _times(subject.flat, i, factor)
            subject.progress(f"{AT_ONCE}, {name}", flat)
            try:
                outcomes = [*_at_once(subject, flat)]
                wanted = subject.eager(flat)
            except Exception:
                continue  # the op does not take the larger one
            different = [
                (subject.difference(wanted, seen), (flat, None)) for seen in outcomes
            ]
            _report(subject, found, f"{AT_ONCE}, {name}", different)
            break


def _new_elements(subject: Subject, found: Findings) -> None:
    """Makes eight calls at once with the same elements, of which the op has seen none: each must find one entry.

    A table may be read under one lock and written under another. Where calls one at a time number new elements in a
    row, no two elements have one number.
    """
    for i, x in enumerate(subject.flat):
        if x.dtype != object and x.dtype not in (np.int32, np.int64):
            continue
        if x.ndim != 1 or not subject.repeats():
            continue
        name = f"new elements in {subject.describe().labels[i]}"
        if not _takes(subject, name, replaced(subject.flat, i, _new(x, 0)), 0.1):
            continue
        subject.progress(f"{AT_ONCE}, {name}")
        for turn in range(1, _TURNS):
            try:
                words = _where_new(subject, i, turn)
            except Exception:
                break  # the op does not take all of them
            if words:
                found.fail(f"{AT_ONCE}, {name}", *words)
                return


def _where_new(subject: Subject, i: int, turn: int) -> tuple[str, ...]:
    """What is expected of eight calls at once with new elements in one input, seen, and its cause, if that is wrong."""
    rows, seen = _rows(subject.flat[i], turn), []
    every = constant(np.stack(rows))

    def call(k):
        flat = replaced(list(map(constant, subject.flat)), i, every[k])
        return 0, *subject.outputs(flat)

    calls = tf.data.Dataset.range(8).map(as_it_is(call), num_parallel_calls=8)
    for row, (_, *outputs) in zip(rows, each(calls)):
        seen.append(arrays(outputs))
        later = subject.eager(replaced(subject.flat, i, row))
        if different := subject.difference(later, seen[-1]):
            return (
                "the same as a later call gives",
                different,
                "a table without a lock; or what one call has looked up, another one has added by the time that it is "
                "written: look again under the lock that is held while writing",
            )
    for number, outputs in enumerate(zip(*seen)):
        if (shared := _shared(rows, outputs)) and _in_a_row(subject, i, number, turn):
            return (
                "a number of its own for each element, as calls one at a time give",
                shared,
                "the next number of a table is read before the lock is held under which an element is added: read it "
                "under that lock",
            )
    return ()


def _shared(rows: list[np.ndarray], outputs) -> str:
    """How many of some elements have the number of another one, which calls with rows of them give; if there are."""
    if (
        any(x.shape != y.shape for x, y in zip(rows, outputs))
        or outputs[0].dtype.kind not in "iu"
    ):
        return ""
    elements, first = np.unique(np.concatenate(rows), return_index=True)
    numbers, counts = np.unique(np.concatenate(outputs)[first], return_counts=True)
    most = numbers[counts.argmax()]
    some = f"{most} for {counts.max()} elements"
    more = f"{len(elements) - len(numbers):,} of {len(elements):,}"
    return f"{some} ({more} have the number of another one)" if counts.max() > 1 else ""


def _in_a_row(subject: Subject, i: int, number: int, turn: int) -> bool:
    """Whether calls one at a time give all of some new elements numbers in a row, in one output."""
    rows = _rows(subject.flat[i], turn + _TURNS)
    outputs = [subject.eager(replaced(subject.flat, i, row))[number] for row in rows]
    elements, numbers = (np.unique(np.concatenate(x)) for x in (rows, outputs))
    return len(elements) == len(numbers) == int(numbers[-1]) - int(numbers[0]) + 1


def _rows(x: np.ndarray, turn: int) -> list[np.ndarray]:
    """The new elements of each of eight calls."""
    return [_new(x, turn, call) for call in range(8)]


def _new(x: np.ndarray, turn: int, call: int = 0) -> np.ndarray:
    """Elements that no call has had before: the first half in each of eight calls, the others in one."""
    half = _ELEMENTS // 2
    own = np.arange(half) + (turn * 9 + call + 1) * half
    numbers = np.concatenate([np.arange(half) + turn * 9 * half, own])
    if x.dtype != object:
        return (97 * numbers).astype(x.dtype)
    return np.array([f"new_{number}".encode() for number in numbers], object)


def _times(flat, i: int, factor: int) -> list[np.ndarray]:
    """The flat inputs, one of them multiplied by a factor."""
    return [
        *flat[:i],
        (flat[i].astype(np.int64) * factor).astype(flat[i].dtype),
        *flat[i + 1 :],
    ]


def _most(x: np.ndarray) -> int:
    """The largest factor by which integers can be multiplied within their dtype; 0 if they are all 0."""
    largest = max(abs(int(x.max())), abs(int(x.min())))
    return min(np.iinfo(x.dtype).max, (1 << 31) - 1) // largest if largest else 0


def _takes(subject: Subject, name: str, flat, seconds: float = 0.02) -> bool:
    """Whether a call is quick and returns little, so that one with far larger numbers may be tried."""
    subject.progress(name, flat)
    budget = Budget(seconds)
    try:
        outputs = subject.eager(flat)
    except Exception:
        return False
    return not budget.is_spent() and sum(y.size for y in outputs) < 1 << 17


def _at_once(subject: Subject, flat) -> Iterator[list[np.ndarray]]:
    """What eight calls give that begin at about the same time, again and again, each time with a new kernel.

    There is no Python between them.
    """
    dataset = tf.data.Dataset.from_tensors(tuple(constant(x) for x in flat)).repeat(8)
    call = as_it_is(lambda *flat: (0, *subject.outputs(flat)))
    calls = dataset.map(call, num_parallel_calls=8)
    for _ in range(_KERNELS):
        for outputs in each(calls):
            yield arrays(outputs[1:])


def _waiting(subject: Subject) -> tuple:
    """A call that waits, if there is one: what is special about it, how long it waits, a function, and its tensors."""
    tensors = [constant(x) for x in subject.flat]
    function = subject.traced()
    function(*tensors)  # the first call starts threads
    waits = _waits(lambda: function(*tensors))
    if _SHORT < waits < _LONG:  # a call may wait by chance
        waits = min(waits, *(_waits(lambda: function(*tensors)) for _ in range(2)))
    usual = "", waits, function, tensors
    if not _SHORT < waits < _LONG:
        return usual
    for label, flat, attrs in _larger_numbers(subject, math.ceil(3 * _LONG / waits)):
        subject.progress(label, flat, attrs)
        try:
            function = subject.traced(subject.specs(flat=flat), attrs)
            tensors = [constant(x) for x in flat]
            waits = _waits(lambda f=function, t=tensors: f(*t))
        except Exception:
            continue  # the op does not take it
        if waits > _LONG:
            return f" with {label}", waits, function, tensors
    return usual


def _larger_numbers(subject: Subject, factor: int) -> Iterator[tuple[str, list, dict]]:
    """Calls with one integer multiplied by a factor: its name and value, flat inputs and attrs."""
    own = subject.describe().all_of("attr")
    attrs = {x.name for x in own if x.type == "int"}
    for name, value in attrs_of_call(subject.op, subject.attrs, own).items():
        if name in attrs and isinstance(value, int) and 0 < value * factor < 1 << 31:
            changed = {**subject.attrs, name: value * factor}
            yield f"{name} = {value * factor}", subject.flat, changed
    for i, x in enumerate(subject.flat):
        if x.dtype.kind in "iu" and x.size == 1 and factor <= _most(x):
            flat = _times(subject.flat, i, factor)
            name = subject.describe().labels[i]
            yield f"{name} = {int(x.max()) * factor}", flat, subject.attrs


def _waits(call: Callable) -> float:
    """The seconds of a call in which no thread computes or is ready to; 0 if the system does not say."""
    watch = Watch(os.getpid())
    start, computed = time.monotonic(), time.process_time()
    call()
    computed, took = time.process_time() - computed, time.monotonic() - start
    did = watch.step(took)
    return 0.0 if did.computed is None else took - computed - did.waited


def _other_sizes(subject: Subject, flat) -> list[tuple[list, list]]:
    """One smaller version of the inputs that the op takes, with its outputs."""
    for _, smaller in shrunk(flat):
        try:
            return [(smaller, subject.eager(smaller))]
        except Exception:
            continue
    return []


def _other_attrs(subject: Subject, flat) -> list[tuple[list, dict, list]]:
    """The inputs with other attrs that the op takes, and the outputs: other kernels share static variables."""
    if not subject.flat or not subject.repeats():
        return []
    draw, found = Draw(subject), {}
    for _ in range(_DRAWN):
        attrs = draw.attrs()
        if str(attrs) in found or attrs == subject.attrs:
            continue
        budget = Budget(_SHORT * 10)
        try:
            outputs = subject.eager(flat, attrs)
        except Exception:
            continue  # not with these inputs
        if sum(y.size for y in outputs) > _LARGEST:
            continue  # eight of them at a time may not fit into memory
        found[str(attrs)] = flat, attrs, outputs
        if len(found) == 3 or budget.is_spent():
            break
    return list(found.values())


def _in_threads(subject: Subject, found: Findings, some, way, call, seconds) -> int:
    subject.progress(f"{AT_ONCE}: {way}")
    budget = Budget(seconds)
    one_differs = threading.Event()

    def work(number: int) -> tuple[int, str]:
        flat, attrs, wanted = some[number % len(some)]
        tensors = [constant(x) for x in flat]
        for calls in range(1, 1 << 30):
            seen = arrays(call(tensors, attrs))
            different = subject.difference(wanted, seen, exact=False)
            if different:
                one_differs.set()
            if one_differs.is_set() or budget.is_spent():
                return calls, different
        raise AssertionError

    with ThreadPoolExecutor(8) as threads:
        outcomes = list(threads.map(work, range(8)))
    _report(
        subject,
        found,
        f"{way} from 8 threads",
        [
            (different, some[i % len(some)][:2])
            for i, (_, different) in enumerate(outcomes)
        ],
    )
    return sum(calls for calls, _ in outcomes)


def _in_dataset(subject: Subject, found: Findings, some, seconds) -> int:
    """As above, without Python between the calls: the pipeline has a thread pool of its own."""
    subject.progress(f"{AT_ONCE}: tf.data's parallel map")
    stacked = tuple(
        constant(np.stack([flat[i] for flat, _ in some]))
        for i in range(len(subject.flat))
    )
    dataset = (
        tf.data.Dataset.from_tensor_slices(stacked)
        .repeat()
        .map(as_it_is(lambda *flat: (0, *subject.outputs(flat))), num_parallel_calls=8)
        .prefetch(8)
    )
    budget = Budget(seconds)
    for count, outputs in enumerate(each(dataset), 1):
        flat, wanted = some[(count - 1) % len(some)]
        different = subject.difference(wanted, arrays(outputs[1:]))
        if different or budget.is_spent():
            break
    _report(
        subject, found, "calls of tf.data's parallel map", [(different, (flat, None))]
    )
    return count


def _report(
    subject: Subject, found: Findings, way: str, outcomes: list[tuple[str, tuple]]
) -> None:
    """Reports the first difference, if there is one. Each comes with the flat inputs and the attrs of its call."""
    different, call = next((one for one in outcomes if one[0]), ("", ()))
    if not different:
        return
    cause, line = SHARED, ""
    if not subject.repeats(*call):
        cause = subject.unrepeated(*call)
        if cause == UNREPEATED:
            cause = f"{UNREPEATED}; or threads of one call write to one place"
        line = subject.line(*call, [shown_by(cause)])
    elif behind := _behind_inputs(subject, *call):
        cause, line = behind, subject.line(*call, ["guarded"])
    elif subject.repeats() and agree(subject, 0.3)[0]:
        cause = "one call at a time differs as well: its own threads write to one place"
        line = subject.line(*call, ["repeated"])
    elif _is_split(subject, *call):
        cause = f"{SHARED}; or threads of one call write to one place"
    words = "the answers of one call at a time", different, cause
    found.fail(way, *words, line=line)


def _is_split(subject: Subject, flat, attrs) -> bool:
    """Whether a call computes in other threads than the one that makes it."""
    tensors = [constant(x) for x in flat]
    before = time.process_time(), time.thread_time()
    for _ in range(_WINDOWS):
        subject.outputs(tensors, attrs)
    every, own = time.process_time() - before[0], time.thread_time() - before[1]
    return every - own > every / 4


def _behind_inputs(subject: Subject, flat, attrs) -> str:
    """That a call depends on what is behind its inputs, where it does; a read far past their end ends the process."""
    attrs = subject.attrs if attrs is None else attrs
    subject.progress("guarded", flat, attrs)
    return again(subject, flat, subject.pack(flat), attrs)[1]


def leaks(subject: Subject, found: Findings) -> str:
    """Counts open files and allocated bytes before and after many calls: neither may grow from call to call.

    The calls are those of one `tf.function`, since eagerly, TensorFlow keeps each new Python number that an op is
    given.
    """
    if subject.describe().makes_handles:
        raise Skip("makes a handle or a variant, which may live on")
    calls = _kept(subject, found, subject.flat)
    if not found.failures and (larger := grown(subject, 1 << 12)) is not None:
        subject.progress("larger inputs", larger)
        calls += _kept(subject, found, larger)
    return f"{calls} calls: no more open files and memory"


def _kept(subject: Subject, found: Findings, flat) -> int:
    """Calls the op with flat inputs, measures what it keeps, and returns the number of calls."""
    tensors = [constant(x) for x in flat]
    try:
        function = subject.traced(subject.specs(flat=flat))
    except Exception as error:
        raise Skip(f"no graph of it: {describe_error(error)}") from None
    start = time.monotonic()
    for _ in range(_CALLS):
        function(*tensors)
    if (took := time.monotonic() - start) > 5:
        raise Skip(f"{_CALLS} calls take {took:.1f} s")
    files, held = growth(lambda: function(*tensors), _WINDOWS, _CALLS)
    if held >= _CALLS * _LEAKED:
        # Or a table that is not full, or caches of threads that this call never had.
        subject.progress(f"up to {_TABLE} more calls, which fill a table with a limit")
        budget = Budget(2)
        for _ in range(_TABLE):
            function(*tensors)
            if budget.is_spent():
                break
        held = min(held, growth(lambda: function(*tensors), _WINDOWS, _CALLS)[1])
    what = f"{_WINDOWS} times {_CALLS} calls"
    if flat is not subject.flat:
        what += ", larger inputs"
    if files >= _CALLS:
        found.fail(
            what,
            "as many open files as before",
            f"{files / _CALLS:.3g} more after each call",
            "a file, socket or pipe that Compute() opens and nobody closes",
            line=subject.line(flat, modes=["kept"]),
        )
    if held >= _CALLS * _LEAKED:
        found.fail(
            what,
            "as much allocated memory as before",
            f"{held // _CALLS} bytes more after each call",
            "memory, or a reference to a tensor or resource, that Compute() takes and nobody gives "
            "back; or a table that grows without limit",
            line=subject.line(flat, modes=["kept"]),
        )
    return (_WINDOWS + 1) * _CALLS
