"""The values of the op: against a reference, in every mode, in every dtype."""

import contextlib
import functools
import inspect
import itertools
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import op_def_registry

from opcheck.calls import again
from opcheck.compare import (
    TOLERANCES,
    close,
    difference,
    is_inexact,
    mentions,
    observed,
    tolerance,
    wide,
)
from opcheck.memory import FILLINGS, filled_memory
from opcheck.pulse import each, one_call
from opcheck.report import FORWARDED, KEPT, SHAPES, Findings, Skip, describe_error
from opcheck.source import in_turn
from opcheck.subject import (
    CLEAN_ERRORS,
    Subject,
    arrays,
    attrs_of_call,
    constant,
    copied,
    is_builtin,
    is_opaque,
    kernels_of,
    made,
    shrunk,
    with_special_values,
)

_WANTED = "what the reference computes"
_FAR = 0.05  # of the largest result
_MANY = 1 << 12
_TIMES = 16
_LARGE_SECONDS = 1.5  # for integers that grow
_OTHER_SECONDS = 1.5  # for other numbers
_ODD = (1 << 24) + 1  # float32 does not hold it
_BEFORE = 1 << 16  # so far before the first row there is no row from the end
_SMALL = _FAR / 50
_TINY = 1e-30  # below, float32 has fewer digits
_EXACTLY = dict.fromkeys(TOLERANCES, 0.0)
_FILE = 1 << 20  # bytes of one that is copied
_OWNED = "tf.function whose op owns its inputs"
_COARSE = _FAR_FROM_ZERO, _NEAR_ZERO = "{1:.6g} added to {0}", "{0} times {2:.3g}"


def _tiny(dtype: np.dtype) -> float:
    """A factor after which numbers drown beside a 1; 0 for integers."""
    return float(np.finfo(dtype).eps) / 16 if dtype.kind == "f" else 0.0


def _equal(x: np.ndarray) -> np.ndarray:
    return np.full_like(x, x.flat[0])


def _far(x: np.ndarray) -> np.ndarray:
    """It adds a large number, in whose squares the differences drown."""
    return x + x.dtype.type(np.ptp(x) * 2.0 ** ((np.finfo(x.dtype).nmant + 1) // 2))


# What is special about the numbers of an input, and these.
_OTHER_FLOATS = {
    _FAR_FROM_ZERO: _far,
    _NEAR_ZERO: lambda x: x * x.dtype.type(_tiny(x.dtype)),
    "{0} negated, last first": lambda x: -np.flip(x),
    "{0} all below 0": lambda x: x - x.dtype.type(np.max(x) + 1),
    "{0} all 0": np.zeros_like,
    "{0} all equal": _equal,
}
_OTHER_INTEGERS = {
    "{0} all 0": np.zeros_like,
    "{0} all equal": _equal,
    "{0} minus 1": lambda x: np.maximum(x, np.iinfo(x.dtype).min + 1) - 1,
    "{0} plus 2**24 + 1": lambda x: x + x.dtype.type(_ODD * (x.itemsize > 2)),
    "{0}, last first": lambda x: x if _is_sorted(x) else np.flip(x),
}


def reference(subject: Subject, found: Findings) -> str:
    """Compares the results with those of your reference: on the sample, fewer elements, many more, NaN, ±Inf, ±0.

    Also on numbers that are tiny, far from zero, all below it, all equal, all 0 or in reverse, on integers one lower or
    beyond 2**24, and on those of inputs and attrs that are large together.
    Integers have to be equal, floats within a tolerance for their dtype.
    """
    if subject.reference is None:
        raise Skip("no reference function was given")
    wanted = _reference(subject, subject.flat)
    before = _smaller_first(subject)
    for filling in FILLINGS[:2]:
        with filled_memory(filling):
            seen = [subject.eager() for _ in range(2)]
        if different := subject.difference(wanted, seen[1], strict=False):
            found.fail(
                "the sample call",
                _WANTED,
                different,
                subject.cause(observed(wanted, seen[1])),
                line=subject.line(modes=("eager" if subject.repeats() else "guarded",)),
            )
            break
    tried = ["the sample"]
    for name, flat in shrunk(subject.flat):
        if (both := both_of(subject, f"with {name}", flat)) is None:
            continue
        wanted, seen = both
        tried[1:] = ["other sizes"]
        if not (different := subject.difference(wanted, seen, strict=False)):
            continue
        right = any(
            not subject.difference(wanted, one, strict=False)
            for one in (*before.get(name, ()), *_in_a_new_kernel(subject, flat))
        )
        if right and subject.repeats():
            found.fail(
                f"with {name}, after the sample call",
                f"{_WANTED}, as before the sample call",
                different,
                KEPT,
                line=in_turn(subject.line(), subject.line(flat)),
            )
            continue
        found.fail(
            f"with {name}",
            _WANTED,
            different,
            observed(wanted, seen),
            line=subject.line(flat),
        )
    _repeated(subject, found)
    _large_together(subject, found)
    _zeros(subject, found)
    for name in subject.attrs:
        if not _has_default(subject.op, name):
            continue
        attrs = {key: value for key, value in subject.attrs.items() if key != name}
        label = f"{name} left out"
        both = both_of(subject, label, subject.flat, attrs)
        if different := both and subject.difference(*both, strict=False):
            unrepeated, why = again(subject, subject.flat, subject.inputs, attrs)
            found.fail(
                label,
                _WANTED,
                different,
                why or _of_defaults(subject, name, both[1]) or observed(*both),
                line=subject.line(
                    attrs=attrs, modes=("guarded" if unrepeated else "eager",)
                ),
            )
    _other_numbers(subject, found)
    tried += _special_values(subject, found)
    return f"equal for {', '.join(tried)}"


def _special_values(subject: Subject, found: Findings) -> list[str]:
    """NaN and infinities in two places, and in one: the names of those that the op takes."""
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
        why = observed(*both), "" if in_the_middle else "only with one in front"
        allowed = "if any result is fine there, pass special_values=False"
        found.fail(
            f"with {name}",
            _WANTED,
            different,
            subject.cause("; ".join([*filter(None, why), allowed])),
            line=subject.line(flat),
        )
    return list(told)


def _of_defaults(subject: Subject, name: str, seen) -> str:
    """Whether the reference gives the same where it is given the default of the op's function."""
    default = inspect.signature(subject.op).parameters[name].default
    try:
        wanted = _reference(subject, subject.flat, {**subject.attrs, name: default})
    except Exception:
        return ""
    if subject.difference(wanted, seen, strict=False):
        return ""
    return f"right for {name}={default!r}, the default of the op's function: the reference has another"


def both_of(
    subject: Subject, label: str, flat, attrs=None, refused=Exception
) -> tuple[list, list] | None:
    """What the reference and the op compute; None where the one raises anything, or the other what is `refused`."""
    subject.progress(label, flat, attrs)
    try:
        wanted = _reference(subject, flat, attrs)
    except Exception:
        return None
    try:
        return wanted, subject.eager(flat, attrs)
    except refused:
        return None


def _replaced(flat: list, i: int, x: np.ndarray) -> list:
    return [*flat[:i], x, *flat[i + 1 :]]


def _zeros(subject: Subject, found: Findings) -> None:
    """Zeros of both signs, which are one number with two patterns of bits."""
    for i, x in enumerate(subject.flat):
        if not is_inexact(x.dtype) or x.size < 2:
            continue
        zeros = np.array(x)
        zeros.reshape(-1)[[0, x.size // 2]] = 0.0, -0.0
        flat = _replaced(subject.flat, i, zeros)
        both = both_of(subject, "with 0.0 and -0.0", flat)
        if different := both and subject.difference(*both, strict=False):
            found.fail(
                f"with 0.0 and -0.0 in {subject.describe().labels[i]}",
                _WANTED,
                different,
                subject.cause(
                    "also with 0.0 in place of -0.0"
                    if _also_with_zeros(subject, i)
                    else "right with 0.0 in place of -0.0: the bits are compared or counted, though 0.0 == -0.0 is true"
                ),
                line=subject.line(flat),
            )
            return


def _also_with_zeros(subject: Subject, i: int) -> bool:
    zeros = np.array(subject.flat[i])
    zeros.reshape(-1)[[0, zeros.size // 2]] = 0.0
    flat = _replaced(subject.flat, i, zeros)
    both = both_of(subject, "with two times 0.0", flat)
    return both is not None and bool(subject.difference(*both, strict=False))


def _repeated(subject: Subject, found: Findings) -> None:
    """The sample many times in a row: more elements than a short cut takes, and equal ones among them.

    Floats may be sums of more elements, and need not be so near.
    """
    size = sum(x.size for x in subject.flat)
    if found.failures or not subject.repeats() or size > _MANY // _TIMES:
        return
    largest = max((x.size for x in subject.flat), default=0)
    most = max((x.ndim for x in subject.flat), default=0)
    taken = set()  # axes
    for axis, only in itertools.product(range(most), (False, True)):
        flat = [
            _times(x, axis) if x.ndim > axis and (x.size == largest or not only) else x
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
            _WANTED,
            different,
            "right where no elements are equal: a sort that does not keep their order, which std::stable_sort does"
            if unstable
            else observed(wanted, seen),
            line=subject.line(flat),
        )
        return


def _times(x: np.ndarray, axis: int) -> np.ndarray:
    """An array many times along an axis; what is sorted along it still is."""
    if _is_sorted(x, axis):
        return np.repeat(x, _TIMES, axis)
    return np.concatenate([x] * _TIMES, axis)


def _is_sorted(x: np.ndarray, axis: int = -1) -> bool:
    """Whether numbers all rise, or all fall, along an axis."""
    if x.dtype.kind not in "iuf" or not x.ndim:
        return False
    rows = np.moveaxis(x, axis, 0)
    one, next_one = rows[:-1], rows[1:]
    return bool((one <= next_one).all() or (one >= next_one).all())


def _takes(subject: Subject, label: str, flat) -> bool:
    """Whether the op has a result. The reference may take long for what the op refuses, such as sizes."""
    subject.progress(label, flat)
    try:
        subject.eager(flat)
    except Exception:
        return False
    return True


def _nearly(one: np.ndarray, got: np.ndarray) -> bool:
    """Whether floats are as near as a sum of many elements has to be, and other values equal."""
    if one.shape != got.shape or not is_inexact(got.dtype) or one.dtype == object:
        return np.array_equal(one, got)
    one, got = wide(one, got)
    most = np.max(np.abs(one), initial=0, where=np.isfinite(one))
    return bool(close(one, got, 0, _SMALL * most).all())


def _is_right_for_distinct(subject: Subject, flat) -> bool:
    """Whether the op is right for as many elements in the same order, but no two of them equal."""

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


def _other_numbers(subject: Subject, found: Findings) -> None:
    """Other numbers in one input, where the reference computes the same from wider ones and from their neighbors."""
    subject.progress("")
    if found.failures or not subject.repeats():
        return
    end, told = time.monotonic() + _OTHER_SECONDS, set()
    for i, x in enumerate(subject.flat):
        if x.dtype not in (np.float32, np.float64) and x.dtype.kind not in "iu":
            continue
        others = _OTHER_FLOATS if x.dtype.kind == "f" else _OTHER_INTEGERS
        for what, change in others.items() if x.size else ():
            if what in told or time.monotonic() > end:
                continue
            with np.errstate(all="ignore"):
                other = np.asarray(change(x))
            by = float(other.flat[0]) - float(x.flat[0])
            label = what.format(subject.describe().labels[i], by, _tiny(x.dtype))
            if (
                np.array_equal(other, x)
                or not np.isfinite(other).all()
                or any(_crosses(x, other, y) for y in subject.flat)
                or (moved := _moved(subject, label, i, other)) is None
            ):
                continue
            flat, wanted, same, seen = moved
            sure = _surely(subject, what, wanted, seen, same, np.abs(other).max())
            if different := difference(sure, seen, _EXACTLY, strict=False):
                told.add(what)
                found.fail(
                    f"with {label}",
                    f"{_WANTED}, but for rounding" if what in _COARSE else _WANTED,
                    different,
                    _of_coarse(what, seen) or observed(sure, seen),
                    line=subject.line(flat),
                )


def _crosses(x: np.ndarray, other: np.ndarray, y: np.ndarray) -> bool:
    """Whether numbers that are all at most, or at least, those of another input no longer are, as bounds have to be."""
    if y is x or (x.shape, x.dtype) != (y.shape, y.dtype):
        return False
    return any(
        way(x, y).all() > way(other, y).all()
        for way in (np.less_equal, np.greater_equal)
    )


def _of_coarse(what: str, seen) -> str:
    """The likely cause of a wrong result of numbers near zero or far from it."""
    if what == _NEAR_ZERO:
        return "a difference in which tiny numbers drown, such as log(1 + x) for log1p(x), or exp(x) - 1 for expm1(x)"
    if what != _FAR_FROM_ZERO:
        return ""
    if any(np.isinf(one).any() for one in seen if is_inexact(one.dtype)):
        return "an overflow on the way to a finite result, such as exp(x) in log(1 + exp(x))"
    return "a difference of large numbers, such as the mean of the squares minus the square of the mean"


def _moved(subject: Subject, what: str, i: int, x: np.ndarray) -> tuple | None:
    """The flat inputs with other numbers in one, and what is computed of them; None if these are not taken.

    That is what the reference computes, what it computes from every second number's neighbor and from wider numbers,
    and what the op does.
    """
    near, kind = np.array(x), x.dtype.kind
    if kind == "f" and np.ptp(x):
        near.reshape(-1)[1::2] = np.nextafter(x.reshape(-1)[1::2], np.inf)
    inputs = [x, near, x.astype(np.float64 if kind == "f" else np.int64)]
    if kind == "i" and x.min() < 0 <= subject.flat[i].min():
        inputs.append(x - _BEFORE)  # else -1 may be a place from the end
    flat, *others = (_replaced(subject.flat, i, to) for to in inputs)
    if kind in "iu" and not _is_no_size(subject, what, i, flat):
        return None
    subject.progress(what, flat)
    try:
        wanted, *same = (_reference(subject, one) for one in (flat, *others))
        return flat, wanted, same[:2], subject.eager(flat)
    except Exception:
        return None


def _is_no_size(subject: Subject, what: str, i: int, flat) -> bool:
    """Whether a call with other integers in an input is quick.

    Large ones are not tried where one more than in the sample changes a shape.
    """
    if np.max(flat[i]) > _BEFORE:
        x = subject.flat[i]
        more = _replaced(subject.flat, i, np.minimum(x, np.iinfo(x.dtype).max - 1) + 1)
        both = _quickly(subject, what, more, subject.attrs)
        shapes = [x.shape for x in subject.expected()]
        if both is None or [x.shape for x in both[1]] != shapes:
            return False
    return _quickly(subject, what, flat, subject.attrs) is not None


def _surely(subject: Subject, what: str, wanted, seen, same, most) -> list[np.ndarray]:
    """What is seen, but for what is surely wrong: there, what is wanted.

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
        if any(
            x.dtype.kind not in "biufcV" or x.dtype.names for x in (one, got)
        ) or any(x.shape != one.shape for x in likes):
            found.append(got)
            continue
        if one.shape != got.shape:
            found.append(one)
            continue
        if not is_inexact(got.dtype) and not is_inexact(one.dtype):
            found.append(np.where(one == likes[1], one, got))
            continue
        numbers = np.abs(wide(one)[0])
        sure = np.isfinite(numbers)
        least, scale = tolerance(got.dtype, subject.options.get("tolerances"))
        scale = scale + 1e-5 * float(most)
        bound = max(least, _SMALL)
        if coarse:
            bound, scale = _FAR, 0.0
        if what == _NEAR_ZERO:
            sure &= numbers > _TINY
        else:
            scale += bound * np.max(numbers, initial=0, where=sure)
        for like in likes:
            sure &= close(one, like, bound / 5, scale / 5)
        found.append(np.where(sure & ~close(one, got, bound, scale), one, got))
    return _held(found, seen)


def _large_together(subject: Subject, found: Findings) -> None:
    """Integers of inputs and attrs, all by one factor larger: each may be valid and their product overflow.

    An id below its bound stays so. What the op, or the reference, does not take larger stays as it is.
    """
    subject.progress("")
    if found.failures or not subject.repeats():
        return
    names = subject.describe().labels
    own = subject.describe().all_of("attr")
    kinds = {x.name for x in own} | subject.attrs.keys()
    of_call = attrs_of_call(subject.op, subject.attrs, own)
    knobs = [name for name in of_call if name in kinds and _largest(of_call[name]) > 1]
    knobs += [
        i
        for i, x in enumerate(subject.flat)
        if x.dtype.kind in "iu" and x.size and x.itemsize > 2 and _largest(x) > 0
    ]
    factors = dict.fromkeys(knobs, 1)

    def call(tried: dict, more: int = 0) -> tuple[list, dict]:
        """Flat inputs and attrs, each so many times as large, some of them and one more."""
        flat = [
            _as_large(x, tried.get(i, 1), more * (i in tried))
            for i, x in enumerate(subject.flat)
        ]
        larger = {k: _as_large(of_call[k], n) for k, n in tried.items() if k in kinds}
        return flat, {**subject.attrs, **larger}

    def computed(tried: dict) -> tuple[list, list] | None:
        some = [of_call[k] if k in kinds else subject.flat[k] for k in tried]
        if any(
            _largest(x) * n >= 1 << (31 if getattr(x, "itemsize", 8) == 4 else 40)
            for x, n in zip(some, tried.values())
        ):
            return None
        return _quickly(subject, _together(names, tried), *call(tried))

    end = time.monotonic() + _LARGE_SECONDS
    while factors and time.monotonic() < end:
        both, factors = _grown_together(factors, computed)
        if both is None:
            return
        wanted, seen = both
        flat, attrs = call(factors)
        try:
            wide = [x.astype(np.int64) if x.dtype.kind in "iu" else x for x in flat]
            same = _reference(subject, wide, attrs)
        except Exception:
            return
        try:
            near = _reference(subject, *call(factors, more=1))
        except Exception:  # they have to be what they are
            near = [x * np.nan if is_inexact(x.dtype) else x for x in wanted]
        sure = _surely(subject, _FAR_FROM_ZERO, wanted, seen, [near, same], 0)
        if different := difference(sure, seen, _EXACTLY, strict=False):
            label = _together(names, factors)
            found.fail(
                f"with {label}",
                _WANTED,
                different,
                "; ".join(
                    filter(
                        None,
                        [observed(wanted, seen), "right for numbers 4 times smaller"],
                    )
                ),
                line=subject.line(flat, attrs),
            )
            return


def _together(names, factors: dict) -> str:
    """Which inputs and attrs are how much larger."""
    by_factor: dict[int, list[str]] = {}
    for knob, factor in factors.items():
        if factor > 1:
            name = knob if isinstance(knob, str) else names[knob]
            by_factor.setdefault(factor, []).append(name)
    told = (f"{', '.join(some)} times {n}" for n, some in sorted(by_factor.items()))
    return " and ".join(told)


def _grown_together(factors: dict, computed: Callable) -> tuple:
    """What is computed where as many as possible of some factors are 4 times as large, and these factors."""
    everything = {key: 4 * n for key, n in factors.items()}
    if (both := computed(everything)) is not None:
        return both, everything
    found, tried = None, dict(factors)
    for _ in range(2):  # one may need another one, which comes later
        for key, n in factors.items():
            if tried[key] == n and (both := computed({**tried, key: 4 * n})):
                found, tried[key] = both, 4 * n
    return found, tried


def _quickly(subject: Subject, label: str, flat, attrs) -> tuple[list, list] | None:
    """What the reference and the op compute; None if one refuses, takes long, or gives much."""
    subject.progress(label, flat, attrs)
    start, computed = time.monotonic(), time.process_time()

    def took(most: float) -> bool:  # the machine may be busy, and a call may wait
        return time.process_time() - computed > most or time.monotonic() - start > 0.2

    try:
        seen = subject.eager(flat, attrs)
        if took(0.02) or sum(x.size for x in seen) > 1 << 17:
            return None
        wanted = _reference(subject, flat, attrs)
        return None if took(0.1) else (wanted, seen)
    except Exception:
        return None


def _held(wanted, seen) -> list[np.ndarray]:
    """What is wanted; in place of integers that the dtype of a result does not hold, those of the result."""
    return [
        np.where(one == one.astype(got.dtype), one, got)
        if {one.dtype.kind, got.dtype.kind} <= {*"iu"} and one.shape == got.shape
        else one
        for one, got in zip(wanted, seen)
    ] + list(wanted[len(seen) :])


def _largest(value) -> int:
    """The largest integer of an attr or an input, by its absolute value; 0 where there is none."""
    some = np.asarray(value)
    if some.dtype.kind not in "iu" or not some.size:
        return 0
    return max(abs(int(some.max())), abs(int(some.min())))


def _as_large(value, factor: int, more: int = 0):
    """An attr or an input so many times as large."""
    if isinstance(value, np.ndarray):
        if factor == 1:
            return value
        return (value.astype(np.int64) * factor + more).astype(value.dtype)
    if isinstance(value, list | tuple):
        return type(value)(x * factor for x in value)
    return value * factor


def _smaller_first(subject: Subject) -> dict[str, list]:
    """What the smaller calls give before there has been another one."""
    found = {}
    for name, flat in shrunk(subject.flat):
        subject.progress(f"with {name}", flat)
        with contextlib.suppress(Exception):  # the op does not take these shapes
            found[name] = [subject.eager(flat)]
    subject.progress("the sample call")
    return found


def _in_a_new_kernel(subject: Subject, flat) -> list:
    """What a call gives as the first one of a graph, whose kernels are new; nothing if there is no such graph."""
    try:
        function = subject.traced(subject.specs(flat=flat))
        return [arrays(function(*map(constant, flat)))]
    except Exception:
        return []


def _has_default(function: Callable, name: str) -> bool:
    try:
        one = inspect.signature(function).parameters[name]
    except (KeyError, TypeError, ValueError):
        return False
    return one.default is not one.empty


def _reference(subject: Subject, flat: list, attrs=None) -> list[np.ndarray]:
    attrs = subject.attrs if attrs is None else attrs
    with np.errstate(all="ignore"):
        result = subject.reference(*subject.pack([np.array(x) for x in flat]), **attrs)
    return [np.asarray(x) for x in tf.nest.flatten(result)]


def _is_known(subject: Subject, flat: list, attrs) -> bool:
    """Whether the reference has a result."""
    try:
        _reference(subject, flat, attrs)
    except Exception:
        return False
    return True


def eager_vs_graph(subject: Subject, found: Findings) -> str:
    """Compares the eager result with that of other ways to run the op, each called twice.

    They are a `tf.function` that knows the shapes, only the ranks or nothing, `tf.data`'s `map`, and a graph of
    TensorFlow 1. If an input is the name of a file, a graph has to see that the file has changed.
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
        _OWNED: lambda: _owning(subject, tensors),
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
            found.fail(
                f"in {mode}",
                "the values of eager execution",
                describe_error(error),
                _wrongly_inferred(subject)
                or (
                    "only where less is known of the shapes"
                    if "tf.function" in agreed and "unknown" in mode
                    else ""
                ),
                line=_line(subject, mode),
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
                    else "the graph gives the same each time: what Python decides while it is made"
                    if all(different)
                    else "one call gives what another does not: a kernel that keeps something from one to the next"
                ),
                line=_line(subject, mode) if different[0] else "",
            )
        else:
            agreed.add(mode)
    if not found.failures:
        _in_a_changed_file(subject, found)
    return f"eager and {len(modes) - 1} ways to make a graph agree, called twice"


def _wrongly_inferred(subject: Subject) -> str:
    """Whether the shape that is inferred for the sample is another one than the kernel's."""
    try:
        inferred = [x.shape for x in subject.traced().outputs]
    except Exception:
        return ""
    for shape, output in zip(inferred, subject.expected()):
        if not shape.is_compatible_with(output.shape):
            return f"{SHAPES}: {shape} is inferred, and the kernel gives {list(output.shape)}"
    return ""


def _in_a_changed_file(subject: Subject, found: Findings) -> None:
    """Changes a file whose name a graph has as a constant."""
    for i, x in enumerate(subject.flat):
        name = x.item() if x.dtype == object and x.size == 1 else b""
        if b"\0" in name or not os.path.isfile(name) or os.path.getsize(name) > _FILE:
            continue
        content = Path(os.fsdecode(name)).read_bytes()
        with tempfile.TemporaryDirectory() as folder:
            copied = Path(folder) / Path(os.fsdecode(name)).name
            copied.write_bytes(content)
            other = np.full(x.shape, os.fsencode(copied), object)
            flat = _replaced(subject.flat, i, other)
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
    """Where a graph of constants gives what it gave before the file changed."""
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


def _line(subject: Subject, mode: str) -> str:
    """The call in this mode beside the eager one, as Python; nothing where that is more than a line."""
    modes = {
        "tf.function": "graph",
        "tf.function with unknown rank": "any shape",
        _OWNED: "owned",
    }
    return subject.line(modes=("eager", modes[mode])) if mode in modes else ""


def _owning(subject: Subject, tensors: list) -> list[list[np.ndarray]]:
    """Nobody else holds the inputs, so the kernel may give their memory to its outputs."""

    def call(*flat):
        return subject.outputs(list(map(copied, flat)))

    run = made(call, subject.specs())
    return [arrays(run(*tensors)) for _ in range(2)]


def _in_dataset(subject: Subject, tensors: list) -> list[list[np.ndarray]]:
    def call(_, *flat):
        return 0, *subject.outputs(flat)  # an element cannot be empty

    dataset = tf.data.Dataset.from_tensors((0, *tensors)).repeat(2).map(call)
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


def dtypes(subject: Subject, found: Findings) -> str:
    """Runs the op in each dtype that has a kernel. A declared dtype without a kernel is a failure."""
    description = subject.describe()
    parameters = {*subject.attrs, *subject.parameters()[len(subject.inputs) :]}
    device = "GPU" if tf.config.get_visible_devices("GPU") else "CPU"
    exercised = []
    for op_type, op_def in description.op_defs.items():
        for attr in (attr for attr in op_def.attr if attr.type == "list(type)"):
            found.note(
                f"attr {attr.name} of {op_type} is a list of dtypes, which are not varied"
            )
        for attr in (attr for attr in op_def.attr if attr.type == "type"):
            declared = [tf.as_dtype(t).name for t in attr.allowed_values.list.type]
            registered = registered_dtypes(op_type, attr.name, device, "DEFAULT")
            anywhere = registered_dtypes(op_type, attr.name, "CPU", "GPU", "DEFAULT")
            run = [name for name in declared if name in registered] if declared else []
            run = run or sorted(registered)
            missing = [
                name for name in declared if registered and name not in registered
            ]
            orphans = [name for name in missing if name not in anywhere]
            if orphans and not is_builtin(op_type):
                found.fail(
                    f"{attr.name}={orphans[0]}",
                    "a kernel: the interface allows it",
                    f"no kernel on any device for {', '.join(orphans)}",
                    "a missing REGISTER_KERNEL_BUILDER, or a dtype too many in .Attr()",
                )
            elif missing:
                found.note(
                    f"declared, without a kernel on {device}: {', '.join(missing)}"
                )
            reachable = attr.name in description.type_attrs or attr.name in parameters
            if not reachable:
                if len(run) > 1 and not is_builtin(op_type):
                    found.note(
                        f"attr {attr.name} of {op_type} cannot be set from the inputs"
                    )
                continue
            for name in run:
                outcome = _run_dtype(subject, attr.name, name, found)
                if outcome:
                    found.note(outcome)
                else:
                    exercised.append(name)
    if not exercised and not found.failures:
        seen = sorted({tf.as_dtype(x.dtype).name for x in subject.flat})
        return f"nothing to vary; ran the sample's: {', '.join(seen) or 'no inputs'}"
    return f"ran {', '.join(dict.fromkeys(exercised))}"


def registered_dtypes(op_type: str, attr: str, *devices: str) -> set[str]:
    """The names of the dtypes that the op's kernels on a device take for an attr."""
    names = set()
    for kernel in kernels_of(op_type, *devices):
        constraints = [c for c in kernel.constraint if c.name == attr]
        for constraint in constraints:
            names |= {tf.as_dtype(t).name for t in constraint.allowed_values.list.type}
        if not constraints:
            names |= _allowed(op_type, attr)
    return names


@functools.cache
def _allowed(op_type: str, attr: str) -> set[str]:
    for candidate in op_def_registry.get(op_type).attr:
        if candidate.name == attr and candidate.allowed_values.list.type:
            return {tf.as_dtype(t).name for t in candidate.allowed_values.list.type}
    return {one.name for one in vars(tf.dtypes).values() if isinstance(one, tf.DType)}


def _run_dtype(subject: Subject, attr: str, name: str, found: Findings) -> str:
    """Runs the op in one dtype: nothing to say, or why it could not be run."""
    dtype = tf.as_dtype(name)
    if dtype in (tf.variant, tf.resource) or dtype.is_quantized:
        return "not run: variant, resource, quantized dtypes"
    attrs = dict(subject.attrs)
    if attr in {*attrs, *subject.parameters()[len(subject.inputs) :]}:
        attrs[attr] = dtype
    affected = [own == attr for own in subject.describe().type_attrs]
    refused = []
    for base, flat in _in_dtype(subject.flat, affected, dtype):
        subject.progress(f"in {name}", flat, attrs)
        try:
            seen = subject.eager(flat, attrs)
            break
        except Exception as error:
            refused.append((error, base, flat))
    else:
        error, base, flat = refused[0]
        names = [one for some in subject.describe().names for one in some] + [*attrs]
        if isinstance(error, CLEAN_ERRORS) and (
            mentions(describe_error(error), names)
            or (subject.reference and not _is_known(subject, flat, attrs))
        ):
            return f"{name} refuses the sample"
        if all(map(is_builtin, subject.describe().op_types)):
            return (
                f"refused by another op of {len(subject.describe().op_types)}: {name}"
            )
        found.fail(
            f"in {name}",
            f"a result: a kernel for {attr}={name} is registered",
            describe_error(error),
            "the kernel is registered for a dtype that it does not handle",
            line=subject.line(flat, attrs),
        )
        return ""
    inputs = subject.pack(flat)
    different, why = again(subject, flat, inputs, attrs)
    if different:
        found.fail(
            f"in {name}, called again",
            "the same values, whatever unused memory holds",
            different,
            why,
            line=subject.line(flat, attrs, ("guarded",)),
        )
        return ""
    if subject.reference is not None:
        try:
            wanted = _reference(subject, flat, attrs)
        except Exception as error:
            return f"{name} ran, not compared: {describe_error(error)}"
        what, own = _WANTED, []
    else:
        try:
            wanted = _as_expected(subject, base, flat, seen, attrs)
        except Exception:
            wanted = None
        what, own = (
            "the values of the sample's own dtype, but for rounding",
            subject.flat,
        )
    if wanted is None:
        return ""
    if different := subject.difference(
        wanted, seen, strict=False
    ) and _coarse_difference(subject, wanted, seen, [*flat, *own]):
        found.fail(
            f"in {name}",
            what,
            different,
            subject.cause(_by_dtype(subject, base, flat, wanted, seen, attrs)),
            line=subject.line(flat, attrs),
        )
    elif name in ("float16", "bfloat16"):
        _run_long(subject, name, affected, attrs, found)
    elif subject.reference is not None and np.dtype(dtype.as_numpy_dtype).kind == "i":
        _negative(subject, name, flat, affected, attrs, found)
    return ""


def _negative(
    subject: Subject, name: str, flat, affected, attrs, found: Findings
) -> None:
    """Negative integers in each input of the dtype that has none: a kernel for an unsigned dtype takes them for large.

    Not where the reference takes only some: it may find a place from the end, where the op refuses or ignores it.
    """
    for i, x in enumerate(flat):
        if not affected[i] or not x.size or x.min() < 0:
            continue
        some, far = np.array(x), x.astype(np.int64)
        some.reshape(-1)[::2] = -np.maximum(some.reshape(-1)[::2], 1)
        far.reshape(-1)[::2] -= _BEFORE
        changed, farther = (_replaced(flat, i, to) for to in (some, far))
        if not _is_known(subject, farther, attrs):
            continue
        label = f"in {name}, with negative numbers in {subject.describe().labels[i]}"
        both = both_of(subject, label, changed, attrs)
        if (
            both
            and subject.difference(*both, strict=False)
            and (different := _coarse_difference(subject, *both, changed))
        ):
            found.fail(
                label,
                _WANTED,
                different,
                _as_unsigned(subject, i, changed, attrs, both[1]) or observed(*both),
                line=subject.line(changed, attrs),
            )
            return


def _by_dtype(subject: Subject, base, flat, wanted, seen, attrs) -> str:
    """Whether the sample's own dtype is right for the same numbers, and what the wrong ones have in common."""
    own = [x.dtype.name for x, y in zip(base, flat) if x.dtype != y.dtype]
    told = ""
    if own and subject.reference is not None and attrs == subject.attrs:
        back = [y.astype(x.dtype) for x, y in zip(base, flat)]
        both = both_of(subject, f"in {own[0]}", back)
        if both is not None and not subject.difference(*both, strict=False):
            told = f"right for the same numbers in {own[0]}: a mistake in the kernel for this dtype"
    return "; ".join(filter(None, [told, observed(wanted, seen)]))


def _as_unsigned(subject: Subject, i: int, flat, attrs, seen) -> str:
    """Whether the op computes what the reference does for the bits of an input as an unsigned integer."""
    bits = flat[i].view(f"u{flat[i].itemsize}").astype(np.int64)
    try:
        wanted = _reference(subject, _replaced(flat, i, bits), attrs)
    except Exception:
        return ""
    if _coarse_difference(subject, wanted, seen, flat):
        return ""
    least = flat[i].argmin()
    taken = f"it takes {flat[i].flat[least]} for {bits.flat[least]}"
    return f"a kernel for an unsigned dtype is registered for this one: {taken}"


def _run_long(subject: Subject, name: str, affected, attrs, found: Findings) -> None:
    """Long sums of positive numbers in a dtype of few bits, against the same numbers in float32."""
    dtype = tf.as_dtype(name)
    by_chance = subject.options.get("nondeterministic") or not subject.repeats()
    if by_chance or sum(x.size for x in subject.flat) > _MANY:
        return
    for axis in (-1, 0):
        flat = [
            np.concatenate([np.abs(x)] * 512, axis) if own and x.ndim else x
            for x, own in zip(subject.flat, affected)
        ]
        flat = [_convert(x, dtype) if own else x for x, own in zip(flat, affected)]
        wide = [x.astype(np.float32) if own else x for x, own in zip(flat, affected)]
        subject.progress(f"in {name}, with 512 times the sample's sizes", flat, attrs)
        try:
            seen, wanted = subject.eager(flat, attrs), subject.eager(wide, attrs)
        except Exception:
            continue  # not with these sizes, or not in float32
        for one, other in zip(seen, wanted):
            if one.dtype != dtype.as_numpy_dtype or one.shape != other.shape:
                continue
            one, other = one.astype(np.float64), other.astype(np.float64)
            finite = np.isfinite(one) & np.isfinite(other)
            scale = np.max(np.abs(other), initial=0, where=finite)
            away = np.abs(one - other) * finite
            if away.size and away.max() > _FAR * scale:
                place = np.unravel_index(away.argmax(), away.shape)
                found.fail(
                    f"in {name}, with 512 times the sample's sizes along dimension {axis}",
                    f"{other[place]:.6g}, as in float32, but for rounding",
                    f"{one[place]:.6g}",
                    "a sum in the dtype of the input: float is for the sum, and the result is rounded "
                    "once",
                    line=subject.line(flat, attrs),
                )
                return


def _coarse_difference(subject: Subject, wanted, seen, flat) -> str:
    """The difference by the tolerance of the coarsest dtype among inputs and outputs."""
    names = [x.dtype for x in (*flat, *seen) if is_inexact(x.dtype)]
    overrides = dict(subject.options.get("tolerances") or {})
    if names:
        coarsest = max((tolerance(dtype, overrides) for dtype in names), key=max)
        for array in seen:
            overrides.setdefault(
                array.dtype.name, coarsest if is_inexact(array.dtype) else 0.0
            )
    return difference(_held(wanted, seen), seen, overrides, strict=False)


def _as_expected(subject: Subject, base, flat, seen, attrs):
    """What the sample's own dtype gives for the same numbers; None where that says nothing."""
    kinds = [
        (is_inexact(x.dtype), is_inexact(y.dtype), y.dtype.kind)
        for x, y in zip(base, flat)
    ]
    if attrs != subject.attrs or any((x != y) or kind in "bOc" for x, y, kind in kinds):
        return None
    if any(x.dtype == object for x in seen):
        return None  # a text may well tell of the dtype
    back = [y.astype(x.dtype) for x, y in zip(base, flat)]
    wanted = subject.eager(back)
    with np.errstate(all="ignore"):
        return [x.astype(y.dtype) for x, y in zip(wanted, seen)]


def _in_dtype(flat, affected, dtype: tf.DType) -> Iterator[tuple[list, list]]:
    """The sample before and after some of its inputs have another dtype.

    Their integers are small; or, of those that a dtype of integers holds, as they are; or the other inputs' are, too.
    """
    base = [_small(x) if own else x for x, own in zip(flat, affected)]
    yield base, [_convert(x, dtype) if own else x for x, own in zip(base, affected)]
    if not dtype.is_integer:
        return
    integers = [x.dtype.kind in "iu" for x in flat]
    if all(one for one, own in zip(integers, affected) if own):
        same = [
            x.astype(dtype.as_numpy_dtype) if own else x
            for x, own in zip(flat, affected)
        ]
        if all(map(np.array_equal, flat, same)):
            yield flat, same
    few = [np.minimum(x, 100) if one else x for x, one in zip(base, integers)]
    yield few, [_convert(x, dtype) if own else x for x, own in zip(few, affected)]


def _small(array: np.ndarray) -> np.ndarray:
    """Floats stay; integers become small enough for int8."""
    if array.dtype.kind not in "iu" or (np.abs(array.astype(float)) <= 100).all():
        return array
    return (array % 100).astype(array.dtype)


def _convert(array: np.ndarray, dtype: tf.DType) -> np.ndarray:
    target = np.dtype(dtype.as_numpy_dtype)
    if array.dtype == target:
        return array
    if dtype == tf.string:
        strings = [str(x).encode() for x in array.reshape(-1).tolist()]
        result = np.empty(len(strings), object)
        result[:] = strings
        return result.reshape(array.shape)
    if array.dtype == object:
        return np.arange(array.size).reshape(array.shape).astype(target)
    if dtype.is_bool:
        return array > 0
    if array.dtype.kind == "c" and not dtype.is_complex:
        array = array.real
    if dtype.is_integer:
        array = np.rint(array.astype(np.float64))
        array = np.clip(array, -100, 100)
        if dtype.is_unsigned:
            array = np.abs(array)
    return array.astype(target)
