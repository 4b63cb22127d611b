"""The last numbers that the reference accepts: the op has to accept them, too."""

from collections.abc import Callable, Iterator

import numpy as np

from opcheck.findings.report import Findings, describe_error
from opcheck.findings.wanted import reference_of, replaced
from opcheck.parts import OfParts
from opcheck.subject import CLEAN_ERRORS, Subject, attrs_of_call

_STEPS = 64  # from the sample to where the reference refuses
_SECONDS = 1.0
_PLACES, _LETTERS = 2, 12  # of an input, and of a text
_CASES = bytes.swapcase, bytes.lower, bytes.upper
_FLOATS = ((0.0, -1e-3), (1.0, 1.001))  # limits, and what is beyond them


def at_limits(subject: Subject, found: Findings) -> None:
    """Looks for a number that the op refuses, though the reference draws the line behind it.

    That is: the op takes the number before, the reference takes this one, and raises ValueError for the next, of an
    attr or of one element of an input. Where the reference raises for no other number, nothing follows from a refusal.
    What a RaggedTensor or a SparseTensor is made of is left out: to make it may fail before the reference is called.
    """
    if isinstance(subject.op, OfParts):
        return
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
    """Reports that the op refuses the last number that the reference accepts, or takes the next, which it does not.

    That is only said of an op that takes the number before the last.
    """
    if not accepted or (len(accepted) > 1 and _refusal(subject, *call(accepted[-2]))):
        return
    if seen := _refusal(subject, *call(accepted[-1])):
        found.fail(
            f"{label} = {accepted[-1]}",
            f"a result, as the reference has, which raises ValueError for {beyond}",
            seen,
            "the op draws the line one number too early, as with < in place of <=",
            line=subject.line(*call(accepted[-1])),
        )
        return
    subject.progress(f"{label} = {beyond}", *call(beyond))
    if not _refusal(subject, *call(beyond)):
        further = beyond + (beyond - accepted[-1])
        one_late = _refuses(subject, label, call, further)
        found.fail(
            f"{label} = {beyond}",
            f"an error, as the reference raises, which has a result for {accepted[-1]}",
            "a result",
            "the op draws the line one number too late, as with <= in place of <"
            if one_late
            else "Compute does not check for this",
            line=subject.line(*call(beyond)),
        )


def _refuses(subject: Subject, label: str, call: Callable, number) -> bool:
    """Whether the op refuses a number; not one that the input cannot hold."""
    try:
        flat, attrs = call(number)
    except OverflowError:
        return False
    subject.progress(f"{label} = {number}", flat, attrs)
    return bool(_refusal(subject, flat, attrs))


def texts_at_limits(subject: Subject, found: Findings) -> None:
    """Looks for a text that the op refuses and the reference does not: beginnings, runs of a letter, the other case.

    Only a reference that raises ValueError for some of them says which ones are to be accepted.
    """
    budget = subject.budget(_SECONDS)
    for i, x in enumerate(subject.flat):
        if x.dtype != object or not x.size:
            continue
        answers = {}
        for text in _texts(x):
            if budget.is_spent():
                return
            changed = np.array(x)
            changed.reshape(-1)[0] = text
            flat = replaced(subject.flat, i, changed)
            answers[text] = _accepts(subject, flat, subject.attrs), flat
        if not any(accepts is False for accepts, _ in answers.values()):
            continue
        for text, (accepts, flat) in answers.items():
            if not accepts or budget.is_spent():
                continue
            subject.progress(f"{text!r} in {subject.describe().labels[i]}", flat)
            if seen := _refusal(subject, flat, subject.attrs):
                found.fail(
                    f"{text!r} in {subject.describe().labels[i]}",
                    "a result, as the reference has, which raises ValueError for others",
                    seen,
                    "the op refuses a text of this form",
                    line=subject.line(flat),
                )
                return


def _texts(x: np.ndarray) -> list[bytes]:
    """What the first texts begin with, each of some letters again and again, texts in the other case, and one mark."""
    every = [one for one in x.reshape(-1)[:_LETTERS] if isinstance(one, bytes)]
    first = every[:_PLACES]
    begin = [one[:n] for one in first for n in range(1, min(len(one), _LETTERS))]
    letters = dict.fromkeys(one[k : k + 1] for one in first for k in (0, -1) if one)
    letters.pop(b"", None)
    runs = [letter * n for letter in letters for n in range(1, _LETTERS)]
    cases = [change(one) for one in every for change in _CASES]
    return list(dict.fromkeys([*begin, *runs, *cases, b"~"]))


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
    if _is_date(value):
        # The last day of February, in years that are leap years or look like them.
        yield [20000228, 20000229, 20000230]
        yield [19000227, 19000228, 19000229]


def _is_date(value: int) -> bool:
    """Whether a number may be a year, a month and a day in a row."""
    year, month, day = value // 10000, value // 100 % 100, value % 100
    return 1000 <= year <= 9999 and 1 <= month <= 12 and 1 <= day <= 31
