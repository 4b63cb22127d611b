"""The values of the op in every mode: graphs beside eager execution."""

import os
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import tensorflow as tf

from opcheck.checks.drawn import Draw, what_differs
from opcheck.findings.report import FORWARDED, SHAPES, Findings, describe_error
from opcheck.findings.wanted import replaced
from opcheck.processes.pulse import each, one_call
from opcheck.subject import Subject, as_it_is, grown, made, needs_shape
from opcheck.tensors import arrays, constant, copied, is_opaque

_FILE = 1 << 20  # bytes of one that is copied
_ELEMENTS, _DRAWN = 1 << 10, 8  # of a larger sample, and calls near it
_SECONDS, _SMALLER = 0.2, 2.0  # for these, and for a smaller one that fails
_OWNED = "tf.function whose op owns its inputs"
_IN_LINES = {
    "tf.function": "graph",
    "tf.function with unknown dimensions": "any size",
    "tf.function with unknown rank": "any shape",
    _OWNED: "owned",
    "tf.data.Dataset.map": "dataset",
    "eager execution, called again": "eager",
}


_ONLY_IN = {  # though a graph that knows the shapes is right
    "tf.function with unknown dimensions": "only where less is known of the shapes",
    "tf.function with unknown rank": "only where less is known of the shapes",
    "a v1 graph": "only in a v1 graph: there, x == y compares objects, not their numbers, which tf.equal does",
}


def eager_vs_graph(subject: Subject, found: Findings) -> str:
    """Compares the eager result with that of other ways to run the op, each called twice.

    These are a `tf.function` that knows the shapes, only the ranks, or nothing, one whose inputs the kernel may
    overwrite, `tf.data`'s `map`, and a graph of TensorFlow 1. An op that owns its inputs is also given a few drawn
    calls near a larger sample. If an input is the name of a file, a graph has to notice that the file has changed.
    """
    wanted = subject.expected()
    tensors = [constant(x) for x in subject.flat]

    def traced(shape_of: Callable) -> Callable:
        def run():
            function = subject.traced(subject.specs(shape_of))
            return [arrays(function(*tensors)) for _ in range(2)]

        return run

    if not wanted:
        found.note("the function returns no tensor: is a `return` missing?")
    modes = {
        "tf.function": traced(lambda x: x.shape),
        "tf.function with unknown dimensions": traced(lambda x: [None] * x.ndim),
        "tf.function with unknown rank": traced(lambda x: None),
        _OWNED: lambda: _owning(subject, tensors, subject.attrs),
        "tf.data.Dataset.map": lambda: _in_dataset(subject, tensors),
        "a v1 graph": lambda: _in_v1_graph(subject),
        "eager execution, called again": lambda: [subject.eager() for _ in range(2)],
    }
    agreed = set()
    for mode, run in modes.items():
        subject.progress(f"in {mode}")
        try:
            different = [subject.difference(wanted, seen) for seen in run()]
        except Exception as error:
            if (
                "unknown" in mode
                and "tf.function" in agreed
                and needs_shape(error, subject)
            ) or _holds_eager_tensors(error):
                found.note(f"not in {mode}: {describe_error(error)}")
                continue
            found.fail(
                f"in {mode}",
                "the values of eager execution",
                describe_error(error),
                _wrongly_inferred(subject)
                or (_ONLY_IN.get(mode, "") if "tf.function" in agreed else ""),
                line=_line(subject, mode, "eager"),
            )
            continue
        if any(different):
            call = "" if different[0] else ", the second call"
            found.fail(
                f"in {mode}{call}",
                "the values of eager execution",
                different[0] or different[1],
                subject.cause(
                    FORWARDED
                    if mode == _OWNED and "tf.function" in agreed
                    else _ONLY_IN[mode]
                    if mode in _ONLY_IN and "tf.function" in agreed
                    else "the graph gives the same each time: what Python decides while it is made"
                    if all(different)
                    else "one call gives what another does not: a kernel that keeps something from one to the next"
                ),
                line=_line(subject, mode, *["eager"] * bool(different[0])),
            )
        else:
            agreed.add(mode)
    if not found.failures:
        _owning_others(subject, found)
    if not found.failures:
        _in_a_changed_file(subject, found)
    return f"eager and {len(modes) - 1} kinds of graph agree, each called twice"


def _holds_eager_tensors(error: Exception) -> bool:
    """Whether a TensorFlow 1 graph refuses what the function holds: a tensor or a table of TensorFlow 2."""
    captured = "Attempting to capture an EagerTensor without building a function"
    return captured in str(error)


def _line(subject: Subject, mode: str, beside: str = "") -> str:
    """The call in this mode beside another one, or twice, as Python; empty if that is more than a line."""
    own = _IN_LINES.get(mode)
    listed = any(isinstance(x, list) for x in subject.inputs)
    if own is None or (listed and own == "dataset"):
        return ""
    return subject.line(modes=(beside or own, own))


def _wrongly_inferred(subject: Subject) -> str:
    """Whether the shape inferred for the sample differs from the kernel's."""
    try:
        inferred = [x.shape for x in subject.traced().outputs]
    except Exception:
        return ""
    for shape, output in zip(inferred, subject.expected()):
        if not shape.is_compatible_with(output.shape):
            return f"{SHAPES}: {shape} is inferred, and the kernel gives {list(output.shape)}"
    return ""


def _owning(subject: Subject, tensors: list, attrs) -> list[list[np.ndarray]]:
    """Nobody else holds the inputs, so the kernel may reuse their memory for its outputs."""

    def call(*flat):
        return subject.outputs(list(map(copied, flat)), attrs)

    run = made(call, [tf.TensorSpec(x.shape, x.dtype) for x in tensors])
    return [arrays(run(*tensors)) for _ in range(2)]


def _owning_others(subject: Subject, found: Findings) -> None:
    """Calls drawn near a larger sample: an input that is overwritten too early may show in few numbers."""
    if not subject.flat or subject.describe().takes_variants or not subject.repeats():
        return
    larger = grown(subject, _ELEMENTS)
    sample = replace(subject, inputs=subject.pack(larger)) if larger else subject
    if (wrong := _owned_call(sample, _DRAWN, _SECONDS)) is None:
        return
    flat, attrs, different = _owned_call(subject, _ELEMENTS, _SMALLER) or wrong
    found.fail(
        f"in {_OWNED}, with {what_differs(subject, flat, attrs)}",
        "the values of eager execution",
        different,
        subject.cause(FORWARDED, flat, attrs),
        line=subject.line(flat, attrs, ("eager", "owned")),
    )


def _owned_call(subject: Subject, count: int, seconds: float) -> tuple | None:
    """Flat inputs and attrs of a drawn call that is wrong only if the op owns its inputs, and what differs there."""
    draw, budget = Draw(subject), subject.budget(seconds)
    for _ in range(count):
        if budget.is_spent():
            return None
        flat, attrs = draw.call()
        subject.progress(f"in {_OWNED}, a drawn call", flat, attrs)
        tensors = list(map(constant, flat))
        try:
            wanted = subject.eager(flat, attrs)
            different = [
                subject.difference(wanted, x) for x in _owning(subject, tensors, attrs)
            ]
            if all(different):
                held = subject.traced(subject.specs(flat=flat), attrs)
                if not subject.difference(wanted, arrays(held(*tensors))):
                    return flat, attrs, different[0]
        except Exception:
            continue  # the op does not take it
    return None


def _in_dataset(subject: Subject, tensors: list) -> list[list[np.ndarray]]:
    def call(_, *flat):
        return 0, *subject.outputs(flat)  # an element cannot be empty

    dataset = tf.data.Dataset.from_tensors((0, *tensors)).repeat(2)
    dataset = dataset.map(as_it_is(call))
    return [arrays(outputs[1:]) for outputs in each(dataset)]


def _in_v1_graph(subject: Subject) -> list[list[np.ndarray]]:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        feeds = [
            tf.compat.v1.placeholder(tf.as_dtype(x.dtype), x.shape)
            for x in subject.flat
        ]
        outputs = subject.outputs(feeds)
        fetched = [
            tf.constant(array) if is_opaque(x) else x
            for x, array in zip(outputs, subject.expected())
        ]
        session.run(tf.compat.v1.global_variables_initializer())
        session.run(tf.compat.v1.tables_initializer())
        runs = []
        for _ in range(2):
            with one_call():
                fed = map(np.array, subject.flat)  # the op may write to these
                runs.append(session.run(fetched, dict(zip(feeds, fed))))
    return [
        [
            np.asarray(value, output.dtype.as_numpy_dtype)
            for value, output in zip(values, fetched)
        ]
        for values in runs
    ]


def _in_a_changed_file(subject: Subject, found: Findings) -> None:
    """Changes a file whose name is a constant in a graph."""
    for i, x in enumerate(subject.flat):
        name = x.item() if x.dtype == object and x.size == 1 else b""
        if b"\0" in name or not os.path.isfile(name) or os.path.getsize(name) > _FILE:
            continue
        content = Path(os.fsdecode(name)).read_bytes()
        with tempfile.TemporaryDirectory() as folder:
            copied = Path(folder) / Path(os.fsdecode(name)).name
            copied.write_bytes(content)
            other = np.full(x.shape, os.fsencode(copied), object)
            flat = replaced(subject.flat, i, other)
            subject.progress("a file that changes")
            try:
                different = _after_changes(subject, flat, copied, content)
            except Exception:
                continue  # it does not take a copy of the file
        if different:
            found.fail(
                "a tf.function with the name of a file, which then changes",
                "the values of eager execution",
                different,
                "an op that reads a file, and is not stateful: TensorFlow makes a constant of its result "
                "(SetIsStateful)",
            )


def _after_changes(subject: Subject, flat, file: Path, content: bytes) -> str:
    """Where a graph of constants still gives what it gave before the file changed."""
    function = made(lambda: subject.outputs([constant(x) for x in flat]))
    before = arrays(function())
    if subject.difference(subject.eager(flat), before):
        return ""
    for changed in (content * 2, content[::-1], content[: len(content) // 2]):
        file.write_bytes(changed)
        try:
            wanted = subject.eager(flat)
        except Exception:
            continue  # it is no such file any more
        if subject.difference(wanted, before):
            return subject.difference(wanted, arrays(function()))
    return ""
