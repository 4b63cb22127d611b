"""The values of the op, against the reference: numbers other than the sample's."""

from collections.abc import Callable

import numpy as np

from opcheck.findings.compare import (
    close,
    difference,
    is_inexact,
    observed,
    tolerance,
    wide,
)
from opcheck.findings.report import Findings
from opcheck.findings.wanted import (
    BEFORE,
    EXACTLY,
    FAR,
    WANTED,
    blamed_or_kept,
    held,
    reference_of,
    replaced,
)
from opcheck.processes.budget import Budget
from opcheck.subject import Subject, attrs_of_call, is_sorted

_SMALL = FAR / 50
_SECONDS = 1.5  # for each of the two
_ODD = (1 << 24) + 1  # float32 does not hold it
_HOLDS = {24: np.float32, 53: np.float64}  # all integers of so many bits
_BITS = (24, 28, 53)  # a loop over 2**28 is too slow for more
_RANKS = 1 << 16  # different integers
_NEARLY = 2.0**-12  # of a number
_TINY = 1e-30  # below, float32 has fewer digits
_COARSE = _FAR_FROM_ZERO, _NEAR_ZERO = "{1:.6g} added to {0}", "{0} times {2:.3g}"


def tiny(dtype: np.dtype) -> float:
    """A factor small enough for numbers to vanish beside a 1; 0 for integers."""
    return float(np.finfo(dtype).eps) / 16 if dtype.kind == "f" else 0.0


def _equal(x: np.ndarray) -> np.ndarray:
    return np.full_like(x, x.flat[0])


def far(x: np.ndarray) -> np.ndarray:
    """The numbers plus a large one, in whose squares their differences vanish."""
    return x + x.dtype.type(np.ptp(x) * 2.0 ** ((np.finfo(x.dtype).nmant + 1) // 2))


_QUIET = "{0} so small that products of two are 0"
_SCALED = "{0} times 2**20"  # exact
_UP_TO = "a number such as 1e10 that stands for infinity, or an overflow"
_FURTHER = 8  # steps from one float to the next
# What is special about the numbers of an input, and these.
_OTHER_FLOATS = {
    _FAR_FROM_ZERO: far,
    _NEAR_ZERO: lambda x: x * x.dtype.type(tiny(x.dtype)),
    "{0} negated, last first": lambda x: -np.flip(x),
    "{0} all below 0": lambda x: x - x.dtype.type(np.max(x) + 1),
    "{0} all 0": np.zeros_like,
    "{0} all equal": _equal,
    _QUIET: lambda x: x * x.dtype.type(2.0 ** (-85 if x.itemsize == 4 else -600)),
    _SCALED: lambda x: np.ldexp(x, 20),
}
_OTHER_INTEGERS = {
    "{0} all 0": np.zeros_like,
    "{0} all equal": _equal,
    "{0} minus 1": lambda x: np.maximum(x, np.iinfo(x.dtype).min + 1) - 1,
    "{0} plus 2**24 + 1": lambda x: x + x.dtype.type(_ODD * (x.itemsize > 2)),
    "{0}, last first": lambda x: x if is_sorted(x) else np.flip(x),
    "{0} negated, last first": lambda x: -np.flip(x) if x.dtype.kind == "i" else x,
}


def other_numbers(subject: Subject, found: Findings) -> None:
    """Other numbers in one input, if the reference computes the same from wider ones and from their neighbors."""
    budget, told = subject.budget(_SECONDS), set()
    for i, x in enumerate(subject.flat):
        if x.dtype not in (np.float32, np.float64) and x.dtype.kind not in "iu":
            continue
        others = _OTHER_FLOATS if x.dtype.kind == "f" else _OTHER_INTEGERS
        for what, change in others.items() if x.size else ():
            if what in told or budget.is_spent():
                continue
            if what == _QUIET and any(is_inexact(y.dtype) for y in subject.expected()):
                continue  # a float of so little may as well be 0
            with np.errstate(all="ignore"):
                other = np.asarray(change(x))
            by = float(other.flat[0]) - float(x.flat[0])
            label = what.format(subject.describe().labels[i], by, tiny(x.dtype))
            if (
                np.array_equal(other, x)
                or not np.isfinite(other).all()
                or any(_crosses(x, other, y) for y in subject.flat)
                or (moved := _moved(subject, label, i, other, what)) is None
            ):
                continue
            flat, wanted, same, seen = moved
            sure = surely(subject, what, wanted, seen, same, np.abs(other).max())
            if different := difference(sure, seen, EXACTLY, strict=False):
                told.add(what)
                found.fail(
                    f"with {label}",
                    f"{WANTED}, but for rounding" if what in _COARSE else WANTED,
                    different,
                    **blamed_or_kept(
                        subject,
                        _of_coarse(what, sure, seen)
                        or observed(sure, seen, inputs=flat)
                        or _UP_TO * (what == _SCALED),
                        wanted,
                        seen,
                        flat,
                    ),
                )


def nearly_equal(subject: Subject, found: Findings) -> None:
    """Two inputs, or the second half of all in one shape, nearly equal to the first: near points, a short interval."""
    labels, alike = subject.describe().labels, {}
    for i, x in enumerate(subject.flat):
        if x.dtype in (np.float32, np.float64) and x.size:
            alike.setdefault((x.shape, x.dtype), []).append(i)
    for some in alike.values():
        half = len(some) // 2
        flat, told = list(subject.flat), []
        for i, j in zip(some[:half], some[half:]):
            x, y = subject.flat[i], subject.flat[j]
            by = np.abs(x) * x.dtype.type(_NEARLY)
            flat[j] = x - by if (y <= x).all() else x + by
            told.append(f"{labels[j]} equal to {labels[i]} but for {_NEARLY:.2g} of it")
        if not told:
            continue
        label = " and ".join(told)
        subject.progress(label, flat)
        moved = [every_second_next(x) if i in some else x for i, x in enumerate(flat)]
        doubles = [x.astype(np.float64) if i in some else x for i, x in enumerate(flat)]
        try:
            wanted, *same = (reference_of(subject, x) for x in (flat, moved, doubles))
            seen = subject.eager(flat)
        except Exception:
            continue
        sure = surely(subject, _NEAR_ZERO, wanted, seen, same, 0)
        if different := difference(sure, seen, EXACTLY, strict=False):
            found.fail(
                f"with {label}",
                f"{WANTED}, but for rounding",
                different,
                **blamed_or_kept(
                    subject,
                    "a difference in which digits are lost, such as acos(x) of a number near 1",
                    sure,
                    seen,
                    flat,
                ),
            )
            return


def every_second_next(x: np.ndarray) -> np.ndarray:
    """Floats, of which every second one is the next larger."""
    near = np.array(x)
    near.reshape(-1)[1::2] = np.nextafter(x.reshape(-1)[1::2], np.inf)
    return near


def _crosses(x: np.ndarray, other: np.ndarray, y: np.ndarray) -> bool:
    """Whether numbers that were all at most, or at least, another input's no longer are, as bounds have to be."""
    if y is x or (x.shape, x.dtype) != (y.shape, y.dtype):
        return False
    return any(
        way(x, y).all() > way(other, y).all()
        for way in (np.less_equal, np.greater_equal)
    )


def _of_coarse(what: str, wanted, seen) -> str:
    """The likely cause of a wrong result for numbers near zero or far from it; nothing where it is no number."""
    if what == _QUIET:
        return "a product of tiny numbers that is 0, and so has no sign"
    if what not in _COARSE:
        return ""
    floats = [
        (wide(one, got), one.shape == got.shape)
        for one, got in zip(wanted, seen)
        if is_inexact(got.dtype)
    ]
    wrong = [got[one != got] for (one, got), alike in floats if alike]
    if any(np.isnan(got).any() for got in wrong):
        return ""
    if what == _NEAR_ZERO:
        return (
            "a difference in which tiny numbers drown, such as log(1 + x) for log1p(x), or exp(x) - 1 for expm1(x)"
            if floats
            else ""
        )
    if any(np.isinf(got).any() for got in wrong):
        return "an overflow on the way to a finite result, such as exp(x) in log(1 + exp(x))"
    return "a difference of large numbers, such as the mean of the squares minus the square of the mean"


def _moved(
    subject: Subject, label: str, i: int, x: np.ndarray, what: str
) -> tuple | None:
    """The flat inputs with other numbers in one, and what is computed from them; None if they are not accepted.

    That is what the reference computes, what it computes from the neighbor of every second number and from wider
    numbers, and what the op does. Last bits of numbers a million times as large decide on much, such as a sine or what
    is rounded: all of these are moved, and further.
    """
    kind = x.dtype.kind
    near = every_second_next(x) if kind == "f" and np.ptp(x) else np.array(x)
    if what == _SCALED:
        near.reshape(-1)[::2] *= 1 - _FURTHER * np.finfo(x.dtype).eps
        near.reshape(-1)[1::2] *= 1 + _FURTHER * np.finfo(x.dtype).eps
    inputs = [x, near, x.astype(np.float64 if kind == "f" else np.int64)]
    if kind == "i" and x.min() < 0 <= subject.flat[i].min():
        inputs.append(x - BEFORE)  # else -1 may be a place from the end
    flat, *others = (replaced(subject.flat, i, to) for to in inputs)
    if kind in "iu" and not _is_no_size(subject, label, i, flat):
        return None
    subject.progress(label, flat)
    try:
        wanted, *same = (reference_of(subject, one) for one in (flat, *others))
        return flat, wanted, same[:2], subject.eager(flat)
    except Exception:
        return None


def _is_no_size(subject: Subject, what: str, i: int, flat) -> bool:
    """Whether a call with other integers in an input is quick.

    Large ones are not tried if adding 1 to the sample's changes a shape.
    """
    if np.max(flat[i]) > BEFORE:
        x = subject.flat[i]
        more = replaced(subject.flat, i, np.minimum(x, np.iinfo(x.dtype).max - 1) + 1)
        both = _quickly(subject, what, more, subject.attrs)
        shapes = [x.shape for x in subject.expected()]
        if both is None or [x.shape for x in both[1]] != shapes:
            return False
    return _quickly(subject, what, flat, subject.attrs) is not None


def surely(subject: Subject, what: str, wanted, seen, same, most) -> list[np.ndarray]:
    """What is seen, except where it is surely wrong: there, what is wanted.

    Args:
      subject: The op.
      what: Which numbers its inputs hold.
      wanted: What the reference computes.
      seen: What the op does.
      same: What the reference computes from their neighbors, and from wider numbers.
      most: The largest of the numbers.
    """
    coarse, found = what in _COARSE, []
    for one, got, *likes in zip(wanted, seen, *same):
        if any(x.shape != one.shape for x in likes):
            found.append(got)
            continue
        if any(x.dtype.kind not in "biufcV" or x.dtype.names for x in (one, got)):
            alike = not any(difference([one], [x], strict=False) for x in likes)
            found.append(one if alike else got)
            continue
        if one.shape != got.shape:
            found.append(one)
            continue
        if not is_inexact(got.dtype) and not is_inexact(one.dtype):
            sure = np.logical_and.reduce([one == like for like in likes])
            found.append(np.where(sure, one, got))
            continue
        numbers = np.abs(wide(one)[0])
        sure = np.isfinite(numbers)
        least, scale = tolerance(got.dtype, subject.options.get("tolerances"))
        scale = scale + 1e-5 * float(most)
        bound = max(least, _SMALL)
        if coarse:
            bound, scale = FAR, 0.0
        if what == _NEAR_ZERO:
            sure &= numbers > _TINY
        else:
            scale += bound * np.max(numbers, initial=0, where=sure)
        for like in likes:
            sure &= close(one, like, bound / 5, scale / 5)
        found.append(np.where(sure & ~close(one, got, bound, scale), one, got))
    return held(found, seen)


def cut_to_32_bits(subject: Subject, found: Findings) -> None:
    """One int64 plus 2**32: it is a mistake if the op gives what the reference gives for the number without it."""
    for i, x in enumerate(subject.flat):
        is_wide = x.dtype.kind in "iu" and x.itemsize == 8 and x.size
        if not is_wide or abs(int(x.flat[0])) >= 1 << 62:
            continue
        changed = np.array(x)
        changed.reshape(-1)[0] += 1 << 32
        flat, label = replaced(subject.flat, i, changed), subject.describe().labels[i]
        both = _quickly(subject, f"{label} and 2**32", flat, subject.attrs)
        if both is None:
            continue
        _, seen = both
        different = subject.difference(*both, strict=False)
        shorter = reference_of(subject, subject.flat)
        if different and not subject.difference(shorter, seen, strict=False):
            found.fail(
                f"with 2**32 added to one element of {label}",
                WANTED,
                different,
                f"{label} is cut to 32 bits, as int does: int64_t and int64 hold them all",
                line=subject.line(flat),
            )
            return


def neighbors(
    subject: Subject, found: Findings, what="", flat=None, attrs=None, which=None
) -> None:
    """Integers that differ by one, and are so large that a float or a double takes some of them to be equal.

    They replace the sample's by rank: in each of some inputs, and in all of them. It is a mistake if the op computes
    what the reference does for the rounded ones, and the reference something else for the exact ones. Floats may be
    computed from floats, and count only if they depend on nothing but the order.
    """
    flat = subject.flat if flat is None else flat
    attrs = subject.attrs if attrs is None else attrs
    chosen = [
        i
        for i, x in enumerate(flat)
        if x.dtype.kind in "iu" and x.itemsize > 2 and (which is None or which[i])
    ]
    by_dtype: dict = {}
    for i in chosen:
        by_dtype.setdefault(flat[i].dtype, []).append(i)
    sets = [*by_dtype.values(), *([i] for i in chosen)]
    budget = subject.budget(_SECONDS / 2)
    for some in dict.fromkeys(map(tuple, sets)):
        if budget.is_spent() or _neighbors(subject, found, what, flat, attrs, some):
            return


def _neighbors(
    subject: Subject, found: Findings, what: str, flat, attrs, some: tuple
) -> bool:
    """As `neighbors`, in some inputs of one dtype; returns whether there is a finding."""
    every = np.concatenate([flat[i].reshape(-1) for i in some])
    different, ranks = np.unique(every, return_inverse=True)
    if len(different) < 2 or len(different) > _RANKS:
        return False
    ends = np.cumsum([flat[i].size for i in some])[:-1]
    names = " and ".join(subject.describe().labels[i] for i in some)

    def with_numbers(numbers: np.ndarray) -> list[np.ndarray]:
        changed = list(flat)
        for i, one in zip(some, np.split(numbers.astype(every.dtype), ends)):
            changed[i] = one.reshape(flat[i].shape)
        return changed

    ranks = ranks.reshape(-1)
    apart = with_numbers(ranks + (ranks == ranks.max()))
    shapes, of_ranks = None, None
    for bits in (0, *_BITS):
        if 8 * every.itemsize < bits + 2:
            return False
        large = (ranks + (1 << bits)).astype(every.dtype)
        exact = with_numbers(large)
        label = f"{what}{names} by rank, from 2**{bits} on"
        if (both := _quickly(subject, label, exact, attrs)) is None:
            return False
        wanted, seen = both
        if shapes not in (None, [x.shape for x in seen]):
            return False  # a size
        shapes, of_ranks = [x.shape for x in seen], of_ranks or wanted
        if bits not in _HOLDS or not subject.difference(wanted, seen, strict=False):
            continue
        try:
            rounded = reference_of(
                subject, with_numbers(large.astype(_HOLDS[bits])), attrs
            )
            stretched = reference_of(subject, apart, attrs)
        except Exception:
            return False
        ordered = len(different) > 2
        wanted = [
            one
            if not is_inexact(got.dtype)
            or (ordered and np.array_equal(one, x) and np.array_equal(one, y))
            else got
            for one, got, x, y in zip(wanted, seen, of_ranks, stretched)
        ]
        wrong = subject.difference(wanted, seen, strict=False)
        if wrong and not subject.difference(rounded, seen, strict=False):
            found.fail(
                f"{what or 'with '}{names} from 2**{bits} on, one apart",
                WANTED,
                wrong,
                f"the integers are converted to {_HOLDS[bits].__name__} on the way, which does not hold 2**{bits} + 1",
                line=subject.line(exact, attrs),
            )
            return True
    return False


def large_together(subject: Subject, found: Findings) -> None:
    """Integers of inputs and attrs, all multiplied by one factor: each may be valid, and their product overflow.

    An id below its bound stays below it, and texts become as many times as long. What the op or the reference does not
    take in a larger size stays as it is.
    """
    names = subject.describe().labels
    own = subject.describe().all_of("attr")
    kinds = {x.name for x in own} | subject.attrs.keys()
    of_call = attrs_of_call(subject.op, subject.attrs, own)
    knobs = [name for name in of_call if name in kinds and _largest(of_call[name]) > 1]
    knobs += [
        i
        for i, x in enumerate(subject.flat)
        if _largest(x) > 0 and (knobs if x.dtype == object else x.itemsize > 2)
    ]
    factors = dict.fromkeys(knobs, 1)

    def call(tried: dict, more: int = 0) -> tuple[list, dict]:
        """Flat inputs and attrs, each multiplied by its factor, and some of the inputs plus one."""
        flat = [
            _as_large(x, tried.get(i, 1), more * (i in tried))
            for i, x in enumerate(subject.flat)
        ]
        larger = {k: _as_large(of_call[k], n) for k, n in tried.items() if k in kinds}
        return flat, {**subject.attrs, **larger}

    def computed(tried: dict) -> tuple[list, list] | None:
        some = [of_call[k] if k in kinds else subject.flat[k] for k in tried]
        if any(_largest(x) * n >= _limit(x) for x, n in zip(some, tried.values())):
            return None
        return _quickly(subject, _together(names, tried), *call(tried))

    budget, by = subject.budget(_SECONDS), 4
    while factors and not budget.is_spent():
        both, factors = _grown_together(factors, computed, by)
        if both is None and by == 2:
            return
        if both is None:  # twice as large may still be taken
            by = 2
            continue
        wanted, seen = both
        flat, attrs = call(factors)
        try:
            wider = [x.astype(np.int64) if x.dtype.kind in "iu" else x for x in flat]
            same = reference_of(subject, wider, attrs)
        except Exception:
            return
        try:
            near = reference_of(subject, *call(factors, more=1))
        except Exception:  # they have to be what they are
            near = [x * np.nan if is_inexact(x.dtype) else x for x in wanted]
        sure = surely(subject, _FAR_FROM_ZERO, wanted, seen, [near, same], 0)
        if different := difference(sure, seen, EXACTLY, strict=False):
            label = _together(names, factors)
            found.fail(
                f"with {label}",
                WANTED,
                different,
                **blamed_or_kept(
                    subject,
                    "; ".join(
                        filter(
                            None,
                            [
                                observed(wanted, seen, inputs=flat),
                                f"right where each of them is {by} times smaller",
                            ],
                        )
                    ),
                    *both,
                    flat,
                    attrs,
                ),
            )
            return


def _together(names, factors: dict) -> str:
    """Which inputs and attrs are how many times as large."""
    by_factor: dict[int, list[str]] = {}
    for knob, factor in factors.items():
        if factor > 1:
            name = knob if isinstance(knob, str) else names[knob]
            by_factor.setdefault(factor, []).append(name)
    told = (f"{', '.join(some)} times {n}" for n, some in sorted(by_factor.items()))
    return " and ".join(told)


def _grown_together(factors: dict, computed: Callable, by: int) -> tuple:
    """What is computed when as many factors as possible are so many times as large, and these factors."""
    everything = {key: by * n for key, n in factors.items()}
    if (both := computed(everything)) is not None:
        return both, everything
    found, tried = None, dict(factors)
    for _ in range(2):  # one may need another one, which comes later
        for key, n in factors.items():
            if tried[key] == n and (both := computed({**tried, key: by * n})):
                found, tried[key] = both, by * n
    return found, tried


def _quickly(subject: Subject, label: str, flat, attrs) -> tuple[list, list] | None:
    """What the reference and the op compute; None if one refuses, takes long, or returns much."""
    subject.progress(label, flat, attrs)
    of_op, of_both = Budget(0.02, at_most=10), Budget(0.1, at_most=2)
    try:
        seen = subject.eager(flat, attrs)
        if of_op.is_spent() or sum(x.size for x in seen) > 1 << 17:
            return None
        wanted = reference_of(subject, flat, attrs)
        return None if of_both.is_spent() else (wanted, seen)
    except Exception:
        return None


def _limit(value) -> int:
    """How large integers, or how long texts, become."""
    if isinstance(value, np.ndarray) and value.dtype == object:
        return 1 << 16
    return 1 << (31 if getattr(value, "itemsize", 8) == 4 else 40)


def _largest(value) -> int:
    """The largest integer of an attr or an input, by absolute value, or the length of its longest text; else 0."""
    some = np.asarray(value)
    if some.dtype == object:
        return max((len(x) for x in some.flat if isinstance(x, bytes)), default=0)
    if some.dtype.kind not in "iu" or not some.size:
        return 0
    return max(abs(int(some.max())), abs(int(some.min())))


def _as_large(value, factor: int, more: int = 0):
    """An attr or an input multiplied by a factor; texts, repeated so often."""
    if isinstance(value, np.ndarray):
        if factor == 1:
            return value
        if value.dtype == object:
            return value * factor
        return (value.astype(np.int64) * factor + more).astype(value.dtype)
    if isinstance(value, list | tuple):
        return type(value)(x * factor for x in value)
    return value * factor
