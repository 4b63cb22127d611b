"""The last numbers that the reference accepts: the op has to accept them, too."""

from collections.abc import Callable, Iterator

import numpy as np

from opcheck.findings.report import Findings, describe_error
from opcheck.findings.wanted import reference_of, replaced
from opcheck.subject import CLEAN_ERRORS, Subject, attrs_of_call

_STEPS = 64  # from the sample to where the reference refuses
_SECONDS = 1.0
_PLACES = 2  # of an input
_FLOATS = ((0.0, -1e-3), (1.0, 1.001))  # limits, and what is beyond them


def at_limits(subject: Subject, found: Findings) -> None:
    """Looks for a number that the op refuses, though the reference draws the line behind it.

    That is: the op takes the number before, the reference takes this one, and raises ValueError for the next, of an
    attr or of one element of an input. Where the reference raises for no other number, nothing follows from a refusal.
    """
    budget = subject.budget(_SECONDS)
    for label, call, numbers in _rows(subject):
        accepted = []
        for number in numbers:
            if budget.is_spent():
                return
            flat, attrs = call(number)
            subject.progress(f"{label} = {number}", flat, attrs)
            if (answer := _accepts(subject, flat, attrs)) is None:
                break  # it may be for another reason
            if not answer:
                _check_last(subject, found, label, call, accepted, number)
                break
            accepted.append(number)
        if found.failures:
            return


def _accepts(subject: Subject, flat, attrs) -> bool | None:
    """Whether the reference has a result, or raises ValueError; None if it raises something else."""
    try:
        reference_of(subject, flat, attrs)
    except Exception as error:
        named = isinstance(error, ValueError) or "raised ValueError" in str(error)
        return False if named else None
    return True


def _check_last(
    subject: Subject, found: Findings, label: str, call: Callable, accepted, beyond
) -> None:
    """Reports that the op refuses the last number that the reference accepts, if it takes the one before."""
    if len(accepted) > 1 and _refusal(subject, *call(accepted[-2])):
        return
    if not accepted or not (seen := _refusal(subject, *call(accepted[-1]))):
        return
    found.fail(
        f"{label} = {accepted[-1]}",
        f"a result, as the reference has, which raises ValueError for {beyond}",
        seen,
        "the op draws the line one number too early, as with < in place of <=",
        line=subject.line(*call(accepted[-1])),
    )


def _refusal(subject: Subject, flat, attrs) -> str:
    """The error of the op, nothing if it has a result."""
    try:
        subject.eager(flat, attrs)
    except CLEAN_ERRORS as error:
        return describe_error(error)
    except Exception as error:
        return type(error).__name__
    return ""


def _rows(subject: Subject) -> Iterator[tuple[str, Callable, list]]:
    """What is varied, how to make the call with a number, and numbers that lead away from the sample's."""
    of_op = subject.describe().all_of("attr")
    known = {one.name for one in of_op} | subject.attrs.keys()
    for name, value in attrs_of_call(subject.op, subject.attrs, of_op).items():
        if name not in known or type(value) not in (int, float):
            continue

        def with_attr(number, name=name):
            return subject.flat, {**subject.attrs, name: number}

        for numbers in _from(value):
            yield name, with_attr, numbers
    labels = subject.describe().labels
    for i, x in enumerate(subject.flat):
        if not x.size or x.dtype.kind not in "iu":
            continue
        for place in dict.fromkeys([0, x.size - 1][:_PLACES]):

            def with_element(number, i=i, x=x, place=place):
                changed = np.array(x)
                changed.reshape(-1)[place] = number
                return replaced(subject.flat, i, changed), subject.attrs

            where = f"{labels[i]}.flat[{place}]" if x.size > 1 else labels[i]
            held = np.iinfo(x.dtype)
            for numbers in _from(int(x.reshape(-1)[place])):
                fits = [n for n in numbers if held.min <= n <= held.max]
                yield where, with_element, fits


def _from(value: int | float) -> Iterator[list]:
    """Numbers from one on, downwards and upwards, or to the usual limits of a float."""
    if isinstance(value, float):
        for limit in _FLOATS:
            if value != limit[0]:
                yield [*limit]
        return
    yield [value - n for n in range(_STEPS)]
    yield [value + n for n in range(_STEPS)]
