"""What the reference computes, beside what the op does."""

import numpy as np
import tensorflow as tf

from opcheck.findings.compare import TOLERANCES
from opcheck.findings.report import KEPT
from opcheck.findings.source import in_turn
from opcheck.processes.calls import again
from opcheck.subject import UNREPEATED, Subject, shown_by
from opcheck.tensors import arrays, constant

WANTED = "what the reference computes"  # in findings
FAR = 0.05  # of the largest result
EXACTLY = dict.fromkeys(TOLERANCES, 0.0)
BEFORE = 1 << 16  # so far before the first row there is no row from the end


def reference_of(subject: Subject, flat: list, attrs=None) -> list[np.ndarray]:
    """What the reference computes; it may write to its inputs."""
    attrs = subject.attrs if attrs is None else attrs
    with np.errstate(all="ignore"):
        result = subject.reference(*subject.pack([np.array(x) for x in flat]), **attrs)
    return [np.asarray(x) for x in tf.nest.flatten(result)]


def is_known(subject: Subject, flat: list, attrs) -> bool:
    """Whether the reference has a result."""
    try:
        reference_of(subject, flat, attrs)
    except Exception:
        return False
    return True


def both_of(
    subject: Subject, label: str, flat, attrs=None, refused=Exception
) -> tuple[list, list] | None:
    """What the reference and the op compute; None where the one raises anything, or the other what is `refused`."""
    subject.progress(label, flat, attrs)
    try:
        wanted = reference_of(subject, flat, attrs)
    except Exception:
        return None
    try:
        return wanted, subject.eager(flat, attrs)
    except refused:
        return None


def in_a_new_kernel(subject: Subject, flat, attrs=None) -> list:
    """What a call gives as the first one of a graph, whose kernels are new; nothing if there is no such graph."""
    try:
        function = subject.traced(subject.specs(flat=flat), attrs)
        return [arrays(function(*map(constant, flat)))]
    except Exception:
        return []


def blamed_or_kept(
    subject: Subject, usual: str, wanted, seen, flat, attrs=None
) -> dict[str, str]:
    """As `blamed`, but for a result that a new kernel has right: then something is kept from the sample call.

    It has to be another result: beside the tolerance, tiny numbers are all equal.
    """
    found = blamed(subject, "", flat, attrs)
    if found["cause"]:
        return found
    new = in_a_new_kernel(subject, flat, attrs)
    if any(
        subject.difference(seen, one, strict=False)
        and not subject.difference(wanted, one, strict=False)
        for one in new
    ):
        line = in_turn(subject.line(), subject.line(flat, attrs))
        return {"cause": KEPT, "line": line}
    return {**found, "cause": usual}


def blamed(subject: Subject, usual: str, flat=None, attrs=None) -> dict[str, str]:
    """The cause and the line of a wrong result: by what memory holds, else the usual cause."""
    flat = subject.flat if flat is None else flat
    attrs = subject.attrs if attrs is None else attrs
    subject.progress("guarded", flat, attrs)
    for _ in range(3):  # other threads may free memory between a filling and a call
        _, why = again(subject, flat, subject.inputs, attrs)
        if why != UNREPEATED:
            break
    line = subject.line(flat, attrs, (shown_by(why),))
    return {"cause": why or usual, "line": line}


def held(wanted, seen) -> list[np.ndarray]:
    """What is wanted; in place of integers that the dtype of a result does not hold, those of the result."""
    return [
        np.where(one == one.astype(got.dtype), one, got)
        if {one.dtype.kind, got.dtype.kind} <= {*"iu"} and one.shape == got.shape
        else one
        for one, got in zip(wanted, seen)
    ] + list(wanted[len(seen) :])


def replaced(flat: list, i: int, x: np.ndarray) -> list:
    """Flat inputs, of which one is another."""
    return [*flat[:i], x, *flat[i + 1 :]]
