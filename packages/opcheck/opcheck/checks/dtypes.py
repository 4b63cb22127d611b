"""The values of the op in every dtype that has a kernel."""

import functools
import itertools
from collections.abc import Iterator

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import op_def_registry

from opcheck.checks.numbers import neighbors
from opcheck.findings.compare import (
    difference,
    is_inexact,
    mentions,
    observed,
    tolerance,
)
from opcheck.findings.report import Findings, describe_error
from opcheck.findings.wanted import (
    BEFORE,
    FAR,
    WANTED,
    both_of,
    held,
    is_known,
    reference_of,
    replaced,
)
from opcheck.processes.calls import again
from opcheck.subject import (
    CLEAN_ERRORS,
    Description,
    Subject,
    is_builtin,
    kernels_of,
    shown_by,
)

_LARGE, _LARGEST = 300.0, 65504.0  # of float16, and the greatest
_MOST = 1 << 12  # elements of a sample whose sums are made long


def dtypes(subject: Subject, found: Findings) -> str:
    """Runs the op in each dtype that has a kernel. A declared dtype without a kernel on any device is a failure."""
    description = subject.describe()
    parameters = {*subject.attrs, *subject.parameters()[len(subject.inputs) :]}
    device = "GPU" if tf.config.get_visible_devices("GPU") else "CPU"
    exercised, tried = [], set()
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
                if (attr.name, name) in tried:  # for another op with such an attr
                    continue
                tried.add((attr.name, name))
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
    """The names of the dtypes that an attr can take for the op's kernels on the given devices."""
    names = set()
    for kernel in kernels_of(op_type, *devices):
        constraints = [c for c in kernel.constraint if c.name == attr]
        for constraint in constraints:
            names |= {tf.as_dtype(t).name for t in constraint.allowed_values.list.type}
        if not constraints:
            names |= _allowed(op_type, attr)
    return names


def have_kernels(description: Description, attr: str, dtype: str) -> bool:
    """Whether all ops with an attr (there is at least one) have a CPU kernel for a dtype as its value."""
    of_ops = [
        registered_dtypes(op_type, attr, "CPU", "DEFAULT")
        for op_type, op_def in description.op_defs.items()
        if any(one.name == attr for one in op_def.attr)
    ]
    return bool(of_ops) and all(dtype in some for some in of_ops)


@functools.cache
def _allowed(op_type: str, attr: str) -> set[str]:
    for candidate in op_def_registry.get(op_type).attr:
        if candidate.name == attr and candidate.allowed_values.list.type:
            return {tf.as_dtype(t).name for t in candidate.allowed_values.list.type}
    return {one.name for one in vars(tf.dtypes).values() if isinstance(one, tf.DType)}


def _run_dtype(subject: Subject, attr: str, name: str, found: Findings) -> str:
    """Runs the op in one dtype; returns an empty text, or why it could not be run."""
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
            or (subject.reference and not is_known(subject, flat, attrs))
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
            line=subject.line(flat, attrs, (shown_by(why),)),
        )
        return ""
    if subject.reference is not None:
        try:
            wanted = reference_of(subject, flat, attrs)
        except Exception as error:
            return f"{name} ran, not compared: {describe_error(error)}"
        if any(map(_has_fractions, wanted, seen)):
            return f"{name} ran, not compared: the reference has fractions"
        what, own = WANTED, []
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
        if _as_bools(subject, base, flat, seen, attrs):
            return f"{name} ran as bool; the reference takes it for something else"
        cause = subject.cause(_by_dtype(subject, base, flat, wanted, seen, attrs))
        line = subject.line(flat, attrs, (shown_by(cause),))
        found.fail(f"in {name}", what, different, cause, line=line)
    elif name in ("float16", "bfloat16"):
        _run_long(subject, name, affected, attrs, found)
        if name == "float16" and subject.reference is not None:
            _run_large(subject, flat, affected, attrs, found)
    elif subject.reference is not None and dtype.is_integer:
        if np.dtype(dtype.as_numpy_dtype).kind == "i":
            _negative(subject, name, flat, affected, attrs, found)
        if not found.failures:
            _full_range(subject, name, flat, affected, attrs, found)
        own = [x.dtype != y.dtype for x, y in zip(flat, subject.flat)]
        if not found.failures and any(own):  # else as in `reference`
            neighbors(subject, found, f"in {name}, with ", flat, attrs, affected)
    return ""


def _as_bools(subject: Subject, base, flat, seen, attrs) -> bool:
    """Whether the op takes numbers as bools, which the sample has, and the reference takes them, say, as places."""
    if subject.reference is None or all(
        x.dtype == y.dtype or x.dtype != bool for x, y in zip(base, flat)
    ):
        return False
    try:
        wanted = reference_of(subject, base, attrs)
    except Exception:
        return False
    return not subject.difference(wanted, seen, strict=False)


def _has_fractions(wanted: np.ndarray, got: np.ndarray) -> bool:
    """Whether an integer result cannot hold what is wanted, such as an average, however it is rounded."""
    return (
        got.dtype.kind in "iu"
        and is_inexact(wanted.dtype)
        and bool((np.isfinite(wanted) & (wanted != np.rint(wanted))).any())
    )


def _in_dtype(flat, affected, dtype: tf.DType) -> Iterator[tuple[list, list]]:
    """The sample before and after some of its inputs are given another dtype.

    Their integers are small; or, for those that an integer dtype can hold, unchanged; or those of the other inputs are
    small, too.
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
    """Leaves floats as they are, and makes integers small enough for int8."""
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


def _as_expected(subject: Subject, base, flat, seen, attrs):
    """What the sample's own dtype gives for the same numbers; None if that tells nothing."""
    kinds = [
        (is_inexact(x.dtype), is_inexact(y.dtype), y.dtype.kind)
        for x, y in zip(base, flat)
    ]
    if attrs != subject.attrs or any((x != y) or kind in "bOc" for x, y, kind in kinds):
        return None
    if any(x.dtype == object for x in seen):
        return None  # a text may well tell of the dtype
    if subject.draws_by_seed():
        return None
    back = [y.astype(x.dtype) for x, y in zip(base, flat)]
    wanted = subject.eager(back)
    with np.errstate(all="ignore"):
        return [x.astype(y.dtype) for x, y in zip(wanted, seen)]


def _by_dtype(subject: Subject, base, flat, wanted, seen, attrs) -> str:
    """Whether the sample's own dtype is right for the same numbers, and what the wrong ones have in common."""
    own = [x.dtype.name for x, y in zip(base, flat) if x.dtype != y.dtype]
    told = ""
    if own and subject.reference is not None and attrs == subject.attrs:
        back = [y.astype(x.dtype) for x, y in zip(base, flat)]
        both = both_of(subject, f"in {own[0]}", back)
        if both is not None and not subject.difference(*both, strict=False):
            told = f"right for the same numbers in {own[0]}: a mistake in the kernel for this dtype"
    return "; ".join(filter(None, [told, observed(wanted, seen, inputs=flat)]))


def _full_range(
    subject: Subject, name: str, flat, affected, attrs, found: Findings
) -> None:
    """Integers of 8 or 16 bits as large as they can be, such as white pixels: sums and products need more bits.

    The reference has to compute the same for them in 64 bits.
    """
    for i, x in enumerate(flat):
        if not affected[i] or x.dtype.kind not in "iu" or x.itemsize > 2 or not x.size:
            continue
        most = int(np.abs(x.astype(np.int64)).max())
        factor = np.iinfo(x.dtype).max // max(most, 1)
        label = f"in {name}, with {subject.describe().labels[i]} times {factor}"
        large = replaced(flat, i, x * x.dtype.type(factor))
        if factor < 2 or (both := both_of(subject, label, large, attrs)) is None:
            continue
        wanted, seen = both
        try:
            of_wide = reference_of(
                subject, replaced(large, i, large[i].astype(np.int64)), attrs
            )
        except Exception:
            continue
        wanted = held(wanted, seen)
        if (
            not subject.difference(held(of_wide, seen), wanted, strict=False)
            and (different := subject.difference(wanted, seen, strict=False))
            and _coarse_difference(subject, wanted, seen, large)
        ):
            found.fail(
                label,
                WANTED,
                different,
                "a product or a sum that does not fit into the integers that it is computed in",
                line=subject.line(large, attrs),
            )
            return


def _negative(
    subject: Subject, name: str, flat, affected, attrs, found: Findings
) -> None:
    """Negative integers in each input of the dtype that had none: a kernel for an unsigned dtype takes them as large.

    Not if the reference accepts only some of them: it may count a place from the end, where the op refuses or ignores
    it.
    """
    for i, x in enumerate(flat):
        if not affected[i] or not x.size or x.min() < 0:
            continue
        some, far = np.array(x), x.astype(np.int64)
        some.reshape(-1)[::2] = -np.maximum(some.reshape(-1)[::2], 1)
        far.reshape(-1)[::2] -= BEFORE
        changed, farther = (replaced(flat, i, to) for to in (some, far))
        if not is_known(subject, farther, attrs):
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
                WANTED,
                different,
                _as_unsigned(subject, i, changed, attrs, both[1])
                or observed(*both, inputs=changed),
                line=subject.line(changed, attrs),
            )
            return


def _as_unsigned(subject: Subject, i: int, flat, attrs, seen) -> str:
    """Whether the op computes what the reference does for an input's bits read as an unsigned integer."""
    bits = flat[i].view(f"u{flat[i].itemsize}").astype(np.int64)
    try:
        wanted = reference_of(subject, replaced(flat, i, bits), attrs)
    except Exception:
        return ""
    if _coarse_difference(subject, wanted, seen, flat):
        return ""
    least = flat[i].argmin()
    taken = f"it takes {flat[i].flat[least]} for {bits.flat[least]}"
    return f"a kernel for an unsigned dtype is registered for this one: {taken}"


def _run_long(subject: Subject, name: str, affected, attrs, found: Findings) -> None:
    """Compares long sums of positive numbers, in a dtype of few bits, with those of the same numbers in float32."""
    dtype = tf.as_dtype(name)
    by_chance = subject.options.get("nondeterministic") or not subject.repeats()
    if by_chance or sum(x.size for x in subject.flat) > _MOST:
        return
    for axis, along in itertools.product((-1, 0), (False, True)):
        some = [x for x, own in zip(subject.flat, affected) if own and x.ndim]
        sizes = {x.shape[axis] for x in some}
        # What the op may want to have as many elements, such as a mask, or not.
        grows = [
            own or (along and x.ndim and x.shape[axis] in sizes)
            for x, own in zip(subject.flat, affected)
        ]
        if along and grows == [*affected]:
            continue
        flat = [
            np.concatenate([np.abs(x) if own else x] * 512, axis)
            if long and x.ndim
            else x
            for x, own, long in zip(subject.flat, affected, grows)
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
            if away.size and away.max() > FAR * scale:
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


def _run_large(subject: Subject, flat, affected, attrs, found: Findings) -> None:
    """Tries float16 numbers whose squares overflow float16, if the reference's results do not."""
    most = max(
        (np.abs(x).max() for x, own in zip(flat, affected) if own and x.size), default=0
    )
    if not 0 < most < _LARGE:
        return
    factor = flat[affected.index(True)].dtype.type(_LARGE / most)
    large = [x * factor if own else x for x, own in zip(flat, affected)]
    label = f"in float16, with numbers up to {_LARGE:.0f}"
    if (both := both_of(subject, label, large, attrs)) is None:
        return
    for wanted, seen in zip(*both):
        if wanted.shape != seen.shape or not is_inexact(seen.dtype):
            continue
        held_by_it = np.abs(wanted.astype(np.float64)) < _LARGEST / 2
        lost = held_by_it & ~np.isfinite(seen.astype(np.float64))
        if lost.any():
            place = np.unravel_index(lost.argmax(), lost.shape)
            found.fail(
                label,
                f"{float(wanted[place]):.6g}, as the reference computes",
                f"{float(seen[place]):.6g}",
                "a product or a sum beyond 65504, which float16 does not hold: float is for what lies between, and the "
                "result is rounded once",
                line=subject.line(large, attrs),
            )
            return


def _coarse_difference(subject: Subject, wanted, seen, flat) -> str:
    """The difference within the tolerance of the coarsest dtype among inputs and outputs."""
    names = [x.dtype for x in (*flat, *seen) if is_inexact(x.dtype)]
    overrides = dict(subject.options.get("tolerances") or {})
    if names:
        coarsest = max((tolerance(dtype, overrides) for dtype in names), key=max)
        for array in seen:
            overrides.setdefault(
                array.dtype.name, coarsest if is_inexact(array.dtype) else 0.0
            )
    return difference(held(wanted, seen), seen, overrides, strict=False)
