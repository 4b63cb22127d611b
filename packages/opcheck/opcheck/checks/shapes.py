"""What the shape function promises, and what the kernel delivers."""

from collections.abc import Callable

import numpy as np
import tensorflow as tf

from opcheck.findings.report import SHAPES, Findings, describe_error
from opcheck.findings.wanted import replaced
from opcheck.inputs.constants import FEW
from opcheck.subject import Subject, made, needs_shape
from opcheck.tensors import constant


def static_shape(subject: Subject, found: Findings) -> str:
    """Asks the shape function, with the inputs' shapes known, partly known and unknown.

    The shape of the result must not contradict its answer. What it leaves unknown without need is a note.
    """
    actual = [tf.TensorShape(x.shape) for x in subject.expected()]
    known = infer(
        subject, [x.shape for x in subject.flat], found, actual, "known shapes"
    )
    partial = list(_partial(subject))
    for label, shapes in partial:
        inferred = infer(subject, shapes, found, actual, label)
        ranks_known = all(shape is not None for shape in shapes)
        if inferred and ranks_known and any(shape.rank is None for shape in inferred):
            found.note(
                "the rank is inferred as unknown though all inputs' ranks are known"
            )
    if known and not all(shape.is_fully_defined() for shape in known):
        constants = _with_constants(subject, found, actual)
        vague = [
            f"output {i}: {shape}"
            for i, shape in enumerate(constants or known)
            if not shape.is_fully_defined()
        ]
        if vague:
            found.note(
                f"inferred from known inputs only as {', '.join(vague)}: needless unless "
                "it depends on the values"
            )
    return f"no contradiction for {len(partial) + 1} ways to know the inputs' shapes"


def _partial(subject: Subject):
    shapes = [list(x.shape) for x in subject.flat]
    names = subject.describe().labels
    for i, shape in enumerate(shapes):
        for axis in range(len(shape)):
            less = [list(other) for other in shapes]
            less[i][axis] = None
            yield f"dimension {axis} of {names[i]} unknown", less
        if len(shapes) > 1:
            yield f"rank of {names[i]} unknown", [*shapes[:i], None, *shapes[i + 1 :]]
    if shapes:
        yield "all dimensions unknown", [[None] * len(shape) for shape in shapes]
        yield "all ranks unknown", [None] * len(shapes)


def infer(subject: Subject, shapes, found: Findings, actual, label: str):
    """The inferred shapes; those that contradict `actual` become findings."""
    subject.progress(label)

    def line() -> str:
        return subject.line(modes=["inferred"], shapes=shapes)

    remaining = iter(shapes)
    specs = [tf.TensorSpec(next(remaining), tf.as_dtype(x.dtype)) for x in subject.flat]
    try:
        inferred = [output.shape for output in subject.traced(specs).outputs]
    except Exception as error:
        if "unknown" in label and needs_shape(error, subject):
            found.note(f"{label}: refused by {describe_error(error)}")
            return None
        found.fail(
            label,
            "a shape, unknown where it has to be",
            describe_error(error),
            "only where less is known of the shapes: an unknown dimension (-1) or rank is taken for a known one"
            if "unknown" in label
            else "",
            line=line(),
        )
        return None
    _compare(found, inferred, actual, label, line)
    return inferred


def _with_constants(subject: Subject, found: Findings, actual):
    """What is inferred when even the values of the inputs are known: the sample's, and other ones that may be sizes."""
    inferred = _of_constants(subject, subject.flat)
    if inferred is not None:
        _compare(
            found,
            inferred,
            actual,
            "constant inputs",
            lambda: subject.line(modes=["inferred"]),
        )
    for i, x in enumerate(subject.flat):
        if x.dtype.kind not in "iu" or not 0 < x.size <= FEW:
            continue
        rising = x + np.arange(x.size, dtype=x.dtype).reshape(x.shape)
        below = [-np.ones_like(x)] * (x.dtype.kind == "i")
        for other in (rising, np.zeros_like(x), *below):
            flat = replaced(subject.flat, i, other)
            name = subject.describe().labels[i]
            label = f"constant inputs, {name} = {other.tolist()}"
            subject.progress(label, flat)
            try:
                shapes = [tf.TensorShape(y.shape) for y in subject.eager(flat)]
            except Exception:
                continue  # the op does not take it
            _compare(
                found,
                _of_constants(subject, flat) or [],
                shapes,
                label,
                lambda flat=flat: subject.line(flat, modes=["inferred"]),
            )
    return inferred


def _of_constants(subject: Subject, flat):
    """The inferred shapes; None where no graph can be made."""
    try:
        outputs = made(lambda: subject.outputs(map(constant, flat))).outputs
    except Exception:
        return None
    return [output.shape for output in outputs]


def _compare(found: Findings, inferred, actual, label: str, line: Callable) -> None:
    if len(inferred) != len(actual):
        return
    for i, (static, real) in enumerate(zip(inferred, actual)):
        if not static.is_compatible_with(real):
            found.fail(
                label,
                f"output {i} of the inferred shape {static}",
                f"output {i} has shape {real} at run time",
                SHAPES,
                line=line(),
            )
