"""Calls that must not disturb each other, nor the tensors they are given."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import tensorflow as tf

from opcheck.compare import difference, is_inexact
from opcheck.report import Findings
from opcheck.subject import Subject, arrays, constant, grown


def variants(subject: Subject, count: int = 4, flat=None) -> list[tuple[list, list]]:
    """The sample and up to `count - 1` permutations of its floats, each with its outputs.

    What the op refuses, and what has outputs of other shapes, is left out.
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
    """Lets eight threads call one kernel on different inputs: eagerly, by a `tf.function` and by `tf.data`."""
    seconds = subject.options.get("concurrency_seconds", 1.0)
    total, count = _many_calls(subject, found, variants(subject), seconds / 2)
    if (larger := grown(subject)) is not None and not found.failures:
        subject.progress("larger inputs")
        some = variants(subject, flat=larger)
        total += _many_calls(subject, found, some, seconds / 2)[0]
    return f"{total} calls, 8 at a time, on {count} different inputs"


def _many_calls(subject: Subject, found: Findings, some, seconds) -> tuple[int, int]:
    function = subject.traced(subject.specs(flat=some[0][0]))
    ways = {
        "eager calls": lambda tensors: arrays(subject.outputs(tensors)),
        "calls of one tf.function": lambda tensors: arrays(function(*tensors)),
    }
    total = 0
    for way, call in ways.items():
        total += _in_threads(subject, found, some, way, call, seconds / 3)
    if subject.flat:
        total += _in_dataset(subject, found, some, seconds / 3)
    return total, len(some)


def _in_threads(subject: Subject, found: Findings, some, way, call, seconds) -> int:
    end = time.monotonic() + seconds
    one_differs = threading.Event()

    def work(number: int) -> tuple[int, str]:
        flat, wanted = some[number % len(some)]
        tensors = [constant(x) for x in flat]
        for calls in range(1, 1 << 30):
            different = subject.difference(wanted, call(tensors), exact=False)
            if different:
                one_differs.set()
            if one_differs.is_set() or time.monotonic() > end:
                return calls, different
        raise AssertionError

    with ThreadPoolExecutor(8) as threads:
        outcomes = list(threads.map(work, range(8)))
    _report(
        subject,
        found,
        f"{way} from 8 threads",
        [different for _, different in outcomes],
    )
    return sum(calls for calls, _ in outcomes)


def _in_dataset(subject: Subject, found: Findings, some, seconds) -> int:
    """As above without Python between the calls: the pipeline has a thread pool of its own."""
    stacked = tuple(
        constant(np.stack([flat[i] for flat, _ in some]))
        for i in range(len(subject.flat))
    )
    dataset = (
        tf.data.Dataset.from_tensor_slices(stacked)
        .repeat()
        .map(lambda *flat: (0, *subject.outputs(flat)), num_parallel_calls=8)
        .prefetch(8)
    )
    end = time.monotonic() + seconds
    for count, outputs in enumerate(dataset, 1):
        different = subject.difference(
            some[(count - 1) % len(some)][1], arrays(outputs[1:])
        )
        if different or time.monotonic() > end:
            break
    _report(subject, found, "calls of tf.data's parallel map", [different])
    return count


def _report(subject: Subject, found: Findings, way: str, outcomes: list[str]) -> None:
    if wrong := [different for different in outcomes if different]:
        found.fail(
            way,
            "the answers of one call at a time",
            wrong[0],
            subject.cause(
                "Compute() writes to a member, a static or a global variable, which all calls share"
            ),
        )


def immutability(subject: Subject, found: Findings) -> str:
    """Compares the bits of the inputs before and after a call: tensors, constants, variables, NumPy arrays."""
    cause = "the kernel writes to an input's memory: a cast from const, or an output that aliases it"
    expected = "every input as it was"

    def compare(way: str, after: list, before: list | None = None) -> None:
        wanted = subject.flat if before is None else before
        if different := difference(wanted, after, exact=True):
            different = different.replace("output", "input")
            found.fail(way, expected, different, cause)

    tensors = [constant(x) for x in subject.flat]
    subject.outputs(tensors)
    compare("tensors of an eager call", arrays(tensors))

    given = [np.array(x) for x in subject.flat]
    subject.outputs(
        [tf.convert_to_tensor(x) if x.dtype == object else x for x in given]
    )
    compare("NumPy arrays of an eager call", given)

    def and_inputs(*flat):
        copies = [tf.identity(x) for x in flat]
        outputs = subject.outputs(copies)
        with tf.control_dependencies(outputs):
            return [tf.identity(x) for x in copies]

    function = tf.function(and_inputs, autograph=False)
    compare("tensors of a tf.function", arrays(function(*tensors)))
    compare("the arguments of a tf.function", arrays(tensors))

    constants = tf.function(
        lambda: subject.outputs([constant(x) for x in subject.flat]), autograph=False
    ).get_concrete_function()
    first, second = arrays(constants()), arrays(constants())
    again = arrays(subject.outputs(tensors))  # differs where chance is meant
    if not subject.difference(subject.expected(), again) and (
        different := subject.difference(first, second)
    ):
        found.fail(
            "constants of a tf.function", "the same values twice", different, cause
        )

    variables = [tf.Variable(constant(x)) for x in subject.flat if x.dtype != object]
    if len(variables) == len(subject.flat):
        tf.function(
            lambda: subject.outputs([v.value() for v in variables]), autograph=False
        )()
        compare("variables", arrays([v.value() for v in variables]))
    return "inputs unchanged: eager, tf.function, constants, NumPy arrays, variables"
