"""The values of the op, against the reference: in the sample, and near it."""

import contextlib
import inspect
import itertools
from collections.abc import Callable, Iterator

import numpy as np

from opcheck.checks.drawn import drawn_calls
from opcheck.checks.limits import at_limits, texts_at_limits
from opcheck.checks.numbers import (
    cut_to_32_bits,
    large_together,
    nearly_equal,
    neighbors,
    other_numbers,
)
from opcheck.findings.compare import close, is_inexact, observed, wide
from opcheck.findings.report import ANY_SPECIAL, KEPT, Findings, Skip
from opcheck.findings.source import in_columns, in_turn
from opcheck.findings.wanted import (
    WANTED,
    blamed,
    blamed_or_kept,
    both_of,
    held,
    in_a_new_kernel,
    reference_of,
    replaced,
)
from opcheck.inputs.constants import as_bytes
from opcheck.inputs.memory import FILLINGS, VISIBLE, filled_memory
from opcheck.processes.budget import Budget
from opcheck.subject import (
    CLEAN_ERRORS,
    Subject,
    attrs_of_call,
    is_sorted,
    repeated,
    shown_by,
    shrunk,
    with_special_values,
)

_TIMES = 16
_MOST = 1 << 12  # elements of a sample that is repeated
_SMALL = 1e-3  # of the largest result
_LONG_ROWS = (1 << 12, 1 << 15, 1 << 17)  # elements
_LONG_TEXTS = (1 << 9, 1 << 11, 1 << 13, 1 << 15, 100_000)  # bytes, or nearly
_OF_LENGTH = "a sum, a length or a place that overflows, or a buffer of a fixed size"
_QUICK = 0.1  # seconds of computing


def reference(subject: Subject, found: Findings) -> str:
    """Compares the results with your reference's: for the sample, fewer elements, many more, NaN, ±Inf and ±0.

    Integers have to be equal, floats within a tolerance for their dtype, which `tolerances` changes. NaN and
    infinities do not count with `special_values=False`. Other numbers: tiny, far from zero, a million times as
    large, all negative, all equal, all 0, in reverse order. Other integers: one lower, negated, 2**32 more, beyond
    2**24 or 2**53. Other shapes: long rows and texts, and the sample twice, in one dimension more or as a batch of
    two. Inputs and attrs that are large together, and two inputs equal or nearly so. The op has to refuse the first
    number for which your reference raises ValueError, and no number or text before it. Calls whose sizes, attrs and
    numbers are drawn near those of the sample: up to 800, as many as fit into two seconds of computing, and as many
    again with constants that your reference's code names. `fast=True` leaves a quarter of this time.
    """
    if subject.reference is None:
        raise Skip("no reference function was given")
    wanted = reference_of(subject, subject.flat)
    before = _smaller_first(subject)
    for filling in FILLINGS[:2]:
        with filled_memory(filling):
            seen = [subject.eager() for _ in range(2)]
        if different := subject.difference(wanted, seen[1], strict=False):
            found.fail(
                "the sample call",
                WANTED,
                different,
                cause := subject.cause(observed(wanted, seen[1], inputs=subject.flat)),
                line=subject.line(modes=(shown_by(cause),)),
            )
            break
    with filled_memory(VISIBLE):  # what is not written differs for certain
        tried = ["the sample", *_further(subject, found, before)]
    return f"equal for {', '.join(tried)}"


def _further(subject: Subject, found: Findings, before: dict[str, list]) -> list[str]:
    """Tries sizes, attrs and numbers that the sample does not have, and returns which of these there were."""
    tried = []
    for name, flat in shrunk(subject.flat):
        if (both := both_of(subject, f"with {name}", flat)) is None:
            continue
        wanted, seen = both
        tried = ["other sizes"]
        if not (different := subject.difference(wanted, seen, strict=False)):
            continue
        right = any(
            not subject.difference(wanted, one, strict=False)
            for one in (*before.get(name, ()), *in_a_new_kernel(subject, flat))
        )
        told = blamed(subject, "", flat)
        if right and subject.repeats() and not told["cause"]:
            found.fail(
                f"with {name}, after the sample call",
                f"{WANTED}, as before the sample call",
                different,
                KEPT,
                line=in_turn(subject.line(), subject.line(flat)),
            )
            continue
        found.fail(
            f"with {name}",
            WANTED,
            different,
            told["cause"] or observed(wanted, seen, inputs=flat),
            line=told["line"],
        )
    _if_fine(subject, found, cut_to_32_bits, _repeated, large_together)
    _zeros(subject, found)
    _left_out(subject, found)
    _if_fine(subject, found, other_numbers, _alike, nearly_equal, neighbors)
    _if_fine(subject, found, _long_rows, _long_texts)
    tried += _special_values(subject, found)
    # After the others: a kernel that does not check the rank ends the process, as `bad_input` sees, too.
    _if_fine(subject, found, _stacked, at_limits, texts_at_limits, drawn_calls)
    return tried


def _if_fine(subject: Subject, found: Findings, *looks: Callable) -> None:
    """Looks further for as long as nothing is wrong and the sample call repeats itself."""
    for look in looks:
        subject.progress("")
        if not found.failures and subject.repeats():
            look(subject, found)


def _smaller_first(subject: Subject) -> dict[str, list]:
    """What the smaller calls give before any other call has been made."""
    found = {}
    for name, flat in shrunk(subject.flat):
        subject.progress(f"with {name}", flat)
        with contextlib.suppress(Exception):  # the op does not take these shapes
            found[name] = [subject.eager(flat)]
    subject.progress("the sample call")
    return found


def _repeated(subject: Subject, found: Findings) -> None:
    """The sample many times in a row: more elements than a shortcut handles, and equal ones among them.

    Floats may be sums of more elements, and need not be as close.
    """
    size = sum(x.size for x in subject.flat)
    if size > _MOST // _TIMES:
        return
    largest = max((x.size for x in subject.flat), default=0)
    most = max((x.ndim for x in subject.flat), default=0)
    taken = set()  # axes
    for axis, only in itertools.product(range(most), (False, True)):
        flat = [
            repeated(x, _TIMES, axis)
            if x.ndim > axis and (x.size == largest or not only)
            else x
            for x in subject.flat
        ]
        label = f"{_TIMES} times the sample"
        if (
            axis in taken
            or not _takes(subject, label, flat)
            or (both := both_of(subject, label, flat)) is None
        ):
            continue
        taken.add(axis)
        wanted, seen = both
        different = subject.difference(wanted, seen, strict=False)
        if not different or all(map(_nearly, wanted, seen)):
            continue
        unstable = _is_right_for_distinct(subject, flat)
        if axis and unstable:
            continue  # nor need the reference's sort keep it
        along = f" along dimension {axis}" if axis else ""
        found.fail(
            f"with the rows of the sample {_TIMES} times{along}",
            WANTED,
            different,
            **blamed_or_kept(
                subject,
                "right where no elements are equal: a sort that does not keep their order, which std::stable_sort does"
                if unstable
                else observed(wanted, seen, inputs=flat),
                *both,
                flat,
            ),
        )
        return


def _alike(subject: Subject, found: Findings) -> None:
    """One array for two inputs: a distance of 0, an interval without length, equal numbers to compare."""
    labels = subject.describe().labels
    for i, j in itertools.combinations(range(len(subject.flat)), 2):
        x, y = subject.flat[i], subject.flat[j]
        if (x.shape, x.dtype) != (y.shape, y.dtype) or np.array_equal(x, y):
            continue
        flat = replaced(subject.flat, j, x)
        label = f"{labels[j]} equal to {labels[i]}"
        both = both_of(subject, label, flat)
        if both and (different := subject.difference(*both, strict=False)):
            words = blamed_or_kept(subject, observed(*both, inputs=flat), *both, flat)
            found.fail(f"with {label}", WANTED, different, **words)
            return


def _stacked(subject: Subject, found: Findings) -> None:
    """The sample and behind it half of it, backwards, in one dimension more, or in one of size 1, as of a batch.

    An integer that may be an axis becomes each other one in turn: with more dimensions behind it, strides are products.
    """
    for label, flat in _stacks(subject):
        if not _takes(subject, label, flat):
            continue
        for told, attrs in _axes(subject, flat):
            both = both_of(subject, label + told, flat, attrs)
            if not both or [x.shape for x in both[0]] != [x.shape for x in both[1]]:
                continue  # a reference for one rank may not refuse another one
            if different := subject.difference(*both, strict=False):
                cause = observed(*both, inputs=flat)
                words = blamed_or_kept(subject, cause, *both, flat, attrs)
                found.fail(label + told, WANTED, different, **words)
                return


def _axes(subject: Subject, flat: list) -> Iterator[tuple[str, dict]]:
    """The attrs, and those in which one integer is another axis, each with words for it."""
    yield "", subject.attrs
    own = subject.describe().all_of("attr")
    names = {x.name for x in own} | subject.attrs.keys()
    rank = max(x.ndim for x in flat)
    for name, value in attrs_of_call(subject.op, subject.attrs, own).items():
        if name in names and type(value) is int and -rank < value < rank:
            for axis in range(rank - 1):  # the last one is -1, too
                if axis != value:
                    yield f", with {name} = {axis}", {**subject.attrs, name: axis}


def _stacks(subject: Subject) -> Iterator[tuple[str, list[np.ndarray]]]:
    """What becomes of one input or of all, in words, and the flat inputs."""
    labels = subject.describe().labels
    everything = [i for i, x in enumerate(subject.flat) if x.size > 1]
    several = [[i] for i in everything] + [everything] * (len(everything) > 1)
    back = {i: _half_backwards(subject.flat[i]) for i in everything}
    for chosen in several:
        flat = list(subject.flat)
        for i in chosen:
            flat[i] = np.stack([flat[i], back[i]])
        yield f"{_all_of(labels, chosen)} twice, in one dimension more", flat
    for axis in range(max((x.ndim for x in subject.flat), default=0)):
        for chosen in several:
            if all(subject.flat[i].shape[axis : axis + 1] == (1,) for i in chosen):
                flat = list(subject.flat)
                for i in chosen:
                    flat[i] = np.concatenate([flat[i], back[i]], axis)
                yield f"{_all_of(labels, chosen)} twice in dimension {axis}", flat


def _half_backwards(x: np.ndarray) -> np.ndarray:
    """Half of numbers, rounded towards 0, since they may be places, and backwards unless they are sorted."""
    if not is_sorted(x):
        x = np.flip(x)
    if x.dtype.kind in "iu":
        return (np.sign(x) * (np.abs(x) // 2)).astype(x.dtype)
    return (x / 2).astype(x.dtype) if is_inexact(x.dtype) else x


def _all_of(labels: list[str], chosen: list[int]) -> str:
    return " and ".join(labels[i] for i in chosen)


def _long_rows(subject: Subject, found: Findings) -> None:
    """Rows long enough to be split among threads, made of the sample's columns in any order.

    Floats may be sums of more elements, and need not be as close.
    """
    widest = max((x.shape[-1] for x in subject.flat if x.ndim), default=0)
    largest = max((x.size for x in subject.flat), default=0)
    if widest < 2:
        return
    chosen = [x.ndim > 0 and x.shape[-1] == widest for x in subject.flat]
    rising = any(is_sorted(x) for x, one in zip(subject.flat, chosen) if one)

    def rows(count: int) -> tuple[str, list]:
        flat = [
            in_columns(x, count, rising) if one else x
            for x, one in zip(subject.flat, chosen)
        ]
        return f"rows of {count} columns of the sample", flat

    def differ(count: int) -> tuple | None:
        label, flat = rows(count)
        if not _takes(subject, label, flat):
            return None
        return both_of(subject, label, flat)

    right = widest
    for elements in _LONG_ROWS:
        count = elements * widest // largest
        if count <= widest:
            continue
        budget = Budget(_QUICK)
        if (both := differ(count)) is None or budget.is_spent():
            return
        if _is_wrong_in_long_rows(subject, *both):
            _fewest(subject, found, rows, differ, right, count, both)
            return
        if budget.is_spent():
            return
        right = count


def _long_texts(subject: Subject, found: Findings) -> None:
    """One long text: the byte 255, the first letter of the sample or its first text, again and again."""
    of_all = Budget(2 * _QUICK)
    for i, x in enumerate(subject.flat):
        texts = map(as_bytes, x.reshape(-1)) if x.dtype == object else ()
        first = next(filter(None, texts), b"")
        for part in dict.fromkeys([b"\xff", first[:1], first] if first else []):
            right = 0
            for times in (size // len(part) for size in _LONG_TEXTS):
                if of_all.is_spent():
                    return
                changed = np.array(x)
                changed.reshape(-1)[0] = part * times
                flat = replaced(subject.flat, i, changed)
                label = f"{part!r} * {times} in {subject.describe().labels[i]}"
                budget = Budget(_QUICK)
                both = both_of(subject, label, flat)
                if both is None or budget.is_spent() or _is_beyond_64_bits(*both):
                    break
                if _is_wrong_in_long_rows(subject, held(*both), both[1]):
                    usual = observed(*both, inputs=flat) or _OF_LENGTH
                    found.fail(
                        f"with {label}" + f", and right with {right}" * bool(right),
                        WANTED,
                        subject.difference(*both, strict=False),
                        **blamed_or_kept(subject, usual, *both, flat),
                    )
                    return
                right = times


def _is_beyond_64_bits(wanted, seen) -> bool:
    """Whether there are integers of Python for an output of NumPy's."""
    return any(x.dtype == object != y.dtype for x, y in zip(wanted, seen))


def _fewest(
    subject, found: Findings, rows, differ, right: int, wrong: int, both
) -> None:
    """Reports the fewest columns with which a long row is wrong, found by bisection from a number that is right."""
    while wrong - right > 1:
        half = (right + wrong) // 2
        if (tried := differ(half)) is None:
            break
        if _is_wrong_in_long_rows(subject, *tried):
            wrong, both = half, tried
        else:
            right = half
    label, flat = rows(wrong)
    if wrong - right == 1 and _is_by_number(subject, flat, wrong):
        label += f", and right with {right}"
    different = subject.difference(*both, strict=False)
    words = blamed_or_kept(subject, observed(*both, inputs=flat), *both, flat)
    found.fail(f"with {label}", WANTED, different, **words)


def _is_by_number(subject: Subject, flat, columns: int) -> bool:
    """Whether rows are right without any one of their columns: then it is the number that counts, not the values."""
    for i in {0, columns // 2, columns - 1}:
        fewer = [
            np.delete(x, i, -1) if x.ndim and x.shape[-1] == columns else x
            for x in flat
        ]
        both = both_of(subject, f"rows without column {i}", fewer)
        if both and _is_wrong_in_long_rows(subject, *both):
            return False
    return True


def _is_wrong_in_long_rows(subject: Subject, wanted, seen) -> bool:
    """Whether the results differ by more than sums of many elements do."""
    different = subject.difference(wanted, seen, strict=False)
    return bool(different) and not all(map(_nearly, wanted, seen))


def _takes(subject: Subject, label: str, flat) -> bool:
    """Whether the op has a result. The reference may take long for what the op refuses, such as sizes."""
    subject.progress(label, flat)
    try:
        subject.eager(flat)
    except Exception:
        return False
    return True


def _nearly(one: np.ndarray, got: np.ndarray) -> bool:
    """Whether floats are as close as sums of many elements have to be, and other values equal."""
    if one.shape != got.shape or not is_inexact(got.dtype) or one.dtype == object:
        return np.array_equal(one, got)
    one, got = wide(one, got)
    most = np.max(np.abs(one), initial=0, where=np.isfinite(one))
    return bool(close(one, got, 0, _SMALL * most).all())


def _is_right_for_distinct(subject: Subject, flat) -> bool:
    """Whether the op is right for as many elements in the same order, but with no two of them equal."""

    def distinct(x: np.ndarray) -> np.ndarray:
        order = np.argsort(x, axis=None, kind="stable")
        apart = np.array(x.reshape(-1))
        apart[order] += np.arange(x.size).astype(x.dtype)
        return apart.reshape(x.shape)

    changed = [
        distinct(x) if x is not y and x.dtype.kind in "iuf" else x
        for x, y in zip(flat, subject.flat)
    ]
    both = both_of(subject, f"{_TIMES} times the sample, all different", changed)
    return both is not None and not subject.difference(*both, strict=False)


def _zeros(subject: Subject, found: Findings) -> None:
    """Zeros of both signs: one number with two bit patterns."""
    for i, x in enumerate(subject.flat):
        if not is_inexact(x.dtype) or x.size < 2:
            continue
        different, flat = _with_zeros(subject, i, -0.0)
        if different:
            found.fail(
                f"with 0.0 and -0.0 in {subject.describe().labels[i]}",
                WANTED,
                different,
                subject.cause(
                    "also with 0.0 in place of -0.0"
                    if _with_zeros(subject, i, 0.0)[0]
                    else "right with 0.0 in place of -0.0: the bits are compared or counted, though 0.0 == -0.0 is true"
                ),
                line=subject.line(flat),
            )
            return


def _with_zeros(subject: Subject, i: int, second: float) -> tuple[str, list]:
    """The difference, in one line, when an input holds 0.0 and another zero, and the flat inputs."""
    zeros = np.array(subject.flat[i])
    zeros.reshape(-1)[[0, zeros.size // 2]] = 0.0, second
    flat = replaced(subject.flat, i, zeros)
    both = both_of(subject, f"with 0.0 and {second}", flat)
    return subject.difference(*both, strict=False) if both else "", flat


def _left_out(subject: Subject, found: Findings) -> None:
    """Leaves out, one at a time, the attrs that have a default."""
    for name in subject.attrs:
        if not _has_default(subject.op, name):
            continue
        attrs = {key: value for key, value in subject.attrs.items() if key != name}
        label = f"{name} left out"
        both = both_of(subject, label, subject.flat, attrs)
        if different := both and subject.difference(*both, strict=False):
            usual = _of_defaults(subject, name, both[1]) or observed(
                *both, inputs=subject.flat
            )
            words = blamed_or_kept(subject, usual, *both, subject.flat, attrs)
            found.fail(label, WANTED, different, **words)


def _has_default(function: Callable, name: str) -> bool:
    try:
        one = inspect.signature(function).parameters[name]
    except (KeyError, TypeError, ValueError):
        return False
    return one.default is not one.empty


def _of_defaults(subject: Subject, name: str, seen) -> str:
    """Whether the reference gives the same result when it is given the default of the op's function."""
    default = inspect.signature(subject.op).parameters[name].default
    try:
        wanted = reference_of(subject, subject.flat, {**subject.attrs, name: default})
    except Exception:
        return ""
    if subject.difference(wanted, seen, strict=False):
        return ""
    return f"right for {name}={default!r}, the default of the op's function: the reference has another"


def _special_values(subject: Subject, found: Findings) -> list[str]:
    """NaN and infinities in two places, and in one; returns the names of those that the op takes."""
    told = {}
    for name, flat in with_special_values(subject):
        # To refuse it is as good.
        both = both_of(subject, f"with {name}", flat, refused=CLEAN_ERRORS)
        if both is not None:
            different = subject.difference(*both, strict=False)
            told[name] = different, both, flat
    for name, (different, both, flat) in told.items():
        if not different:
            continue
        in_the_middle, *_ = told.get(f"{name} in the middle", ("other",))
        why = (
            observed(*both, inputs=flat),
            "" if in_the_middle else "only with one in front",
        )
        found.fail(
            f"with {name}",
            WANTED,
            different,
            subject.cause("; ".join([*filter(None, why), ANY_SPECIAL])),
            line=subject.line(flat),
        )
    return list(told)
