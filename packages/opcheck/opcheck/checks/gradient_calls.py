"""The registered gradient in calls other than the sample."""

import contextlib
import itertools
import re
from dataclasses import replace

import numpy as np
import tensorflow as tf

from opcheck.checks.derivatives import (
    IN_STEPS,
    compare_with_differences,
    dense,
    float_outputs,
    gradients_of,
    is_of_one_triangle,
    is_symmetric,
    line_of,
    slopes_of,
    steps_of,
    weights_of,
)
from opcheck.checks.drawn import Draw, what_differs
from opcheck.checks.numbers import far, tiny
from opcheck.findings.compare import TOLERANCES, close, difference, is_inexact
from opcheck.findings.report import Findings, describe_error
from opcheck.findings.wanted import FAR, both_of, replaced
from opcheck.inputs.constants import FEW
from opcheck.processes.pulse import one_call
from opcheck.subject import CLEAN_ERRORS, Subject, attrs_of_call, is_builtin
from opcheck.tensors import constant

_CALLS, _SECONDS = 100, 1.5
_FAR = 3  # times the spread
_COUNT = 1 << 10
_OVERFLOWS = 100.0  # exp of it, in float32 alone
_EXACT = (np.float32, np.float64)
_SMALL = 1e-5  # beside a derivative of 1
_COLUMNS, _NAMES = 4, 8  # of an input of integers, and of a string
_COMPUTES_A_GRADIENT = re.compile("(?i)grad|backprop")
REFUSALS = (*CLEAN_ERRORS, LookupError)


def other_calls(subject: Subject, found: Findings, flat, names) -> None:
    """Checks the first order with an index that occurs twice, with a dimension of size 1, and with other attrs."""
    for label, changed, attrs in _varied(subject, flat, names):
        _other_call(subject, found, label, changed, attrs, names)
        if found.failures:
            return


def with_one_more(subject: Subject, found: Findings, flat, chosen, names) -> None:
    """Checks the first order where one of a few integers, such as a size, is one more, if the op is right there."""
    if subject.reference is None:
        return
    for i, x in enumerate(flat):
        if x.dtype.kind not in "iu" or x.size > FEW:
            continue
        for place in np.flatnonzero(x < np.iinfo(x.dtype).max):
            more = np.array(x)
            more.reshape(-1)[place] += 1
            changed = replaced(flat, i, more)
            label = f"{names[i]}.flat[{place}] = {more.reshape(-1)[place]}"
            if _is_wrong_where_smooth(subject, label, changed, chosen):
                _other_call(subject, found, label, changed, subject.attrs, names)
            if found.failures:
                return


def elsewhere(subject: Subject, found: Findings, flat, chosen, names) -> None:
    """Checks the first order away from the sample, unless its numbers have a sum or a length of 1.

    If all are positive, only a reference knows whether negative ones are allowed.
    """
    for i in chosen:
        x = flat[i]
        rows = np.atleast_1d(x).astype(np.float64)
        if _is_normalized(rows):
            continue
        # Rising, but for one: its own inverse does not sort that.
        in_order = np.roll(np.sort(rows, axis=None), 1).reshape(x.shape)
        moves = {"in another order": in_order, "times 3": 3 * x, "plus 0.7": x + 0.7}
        if _may_have_a_zero(subject, found, x):
            moves["with a 0"] = np.array(x)
            moves["with a 0"].reshape(-1)[x.size // 2] = 0
        if subject.reference is not None or np.min(rows, initial=0) < 0:
            moves["negated, last first"] = -np.flip(x)  # what rises does so still
        for what, numbers in moves.items():
            moved = replaced(flat, i, np.asarray(numbers, x.dtype))
            label = f"{names[i]} {what}"
            if _is_wrong_where_smooth(subject, label, moved, chosen):
                _other_call(subject, found, label, moved, subject.attrs, names)
            if found.failures:
                cause = "the sample's own numbers are right"
                found.failures = [
                    replace(one, cause="; ".join(filter(None, [one.cause, cause])))
                    for one in found.failures
                ]
                return


def _may_have_a_zero(subject: Subject, found: Findings, x: np.ndarray) -> bool:
    """Whether one element may be 0: not in a symmetric matrix, nor where what is rounded has a gradient of its own."""
    if subject.reference is None or x.size < 2:
        return False
    in_steps = any(IN_STEPS in note for note in found.notes)
    return not (in_steps or is_symmetric(x) or _is_far_from_zero(x))


def _is_normalized(x: np.ndarray) -> bool:
    """Whether all rows have a sum or a length of 1."""
    rows = np.atleast_1d(x).astype(np.float64)
    return any(np.allclose(some.sum(-1), 1) for some in (rows, rows**2))


def drawn(subject: Subject, found: Findings, flat, chosen, names) -> None:
    """Checks the first order with sizes, attrs and numbers drawn near the sample's, if the op is right there.

    Ops that compute a gradient themselves are left out: what the forward op gave for one call does not fit another.
    """
    described = subject.describe()
    gradients = any(map(_COMPUTES_A_GRADIENT.search, described.op_types))
    if subject.reference is None or gradients or described.takes_variants:
        return
    tensors, outputs_of = [constant(x) for x in flat], float_outputs(subject)
    if any(
        _is_normalized(flat[i]) or is_of_one_triangle(subject, tensors, i, outputs_of)
        for i in chosen
    ):
        return
    sample = replace(subject, inputs=subject.pack(flat))
    draw = Draw(sample, smooth=True)
    budget = subject.budget(_SECONDS)
    for _ in range(_CALLS):
        if budget.is_spent() or found.failures:
            return
        changed, attrs = draw.call()
        label = f"with {what_differs(sample, changed, attrs)}"
        if _is_wrong_where_smooth(sample, label, changed, chosen, attrs):
            _other_call(subject, found, label, changed, attrs, names)


def _is_wrong_where_smooth(
    subject: Subject, label: str, flat, chosen, attrs=None
) -> bool:
    """Whether the gradient of outputs without a kink nearby is wrong, along one direction.

    If the reference refuses these inputs, or has other results, it does not count as wrong.
    """
    subject.progress(label, flat, attrs)
    if subject.reference is not None:
        both = both_of(subject, label, flat, attrs)
        near = dict.fromkeys(TOLERANCES, 1e-2)
        if both is None or difference(*both, near, strict=False):
            return False
    if attrs is not None:
        subject = replace(subject, attrs=attrs)
    random = np.random.default_rng(2)
    tensors = [constant(x) for x in flat]
    some = [tensors[i] for i in chosen]
    along = [tf.constant(random.normal(size=x.shape), x.dtype) for x in some]

    def results(t: float) -> tf.Tensor:
        moved = list(tensors)
        for i, x, direction in zip(chosen, some, along):
            moved[i] = x + t * direction
        outputs = float_outputs(subject)(moved)
        return tf.concat([tf.cast(tf.reshape(y, [-1]), tf.float64) for y in outputs], 0)

    try:
        outputs = float_outputs(subject)(tensors)
        delta, allowed = steps_of(subject, [y.dtype for y in (*some, *outputs)])
        slopes, doubt = slopes_of(lambda t: results(t).numpy(), delta)
        smooth = np.isfinite(doubt) & (doubt <= 4 * allowed**0.5 * np.abs(slopes))
        with tf.GradientTape() as tape:
            tape.watch(some)
            middle = results(0.0)
        weights = np.where(smooth, weights_of(middle).numpy(), 0)
    except Exception:
        return False  # the op does not take these
    try:
        with one_call():
            found = tape.gradient(middle, some, tf.constant(weights))
        seen = sum(
            float(tf.reduce_sum(tf.cast(dense(one) * direction, tf.float64)))
            for one, direction in zip(found, along)
            if one is not None
        )
    except Exception:
        return True  # it may have another shape, which `results` does not take
    wanted, error = weights * np.where(smooth, [slopes, doubt], 0)
    allowed *= max(1, np.abs(wanted).sum())
    return abs(seen - wanted.sum()) > allowed + np.abs(error).sum()


def _other_call(
    subject: Subject, found: Findings, label: str, changed, attrs, names
) -> None:
    subject.progress(label, changed, attrs)
    other = replace(subject, inputs=subject.pack(changed), attrs=attrs)
    tensors = [constant(x) for x in changed]
    try:
        outputs = other.outputs(tensors)
    except Exception:
        return  # the op does not take it
    values = [x.numpy() for x in outputs if x.dtype.is_floating]
    if not all(np.isfinite(x).all() for x in values):
        return
    try:
        first = gradients_of(other, tensors)
    except REFUSALS:
        return  # there is none for this call, said cleanly
    except Exception as error:
        found.fail(
            f"first order, {label}",
            "a gradient, for there is one for the sample",
            describe_error(error),
            line=line_of(other, "gradients", changed),
        )
        return
    chosen = [i for i, one in enumerate(first) if one is not None]
    wrong = [i for i in chosen if first[i].shape != tensors[i].shape]
    for i in wrong:
        found.fail(
            f"first order, {label}",
            f"a gradient of shape {tensors[i].shape}, that of {names[i]}",
            f"shape {first[i].shape}",
            "the gradient function does not sum over what the op has broadcast"
            if _broadcasts(tensors[i].shape, first[i].shape)
            else "",
            line=line_of(other, "gradients", changed),
        )
    if not wrong:
        function = float_outputs(other)
        order = f"first order, {label}"
        with contextlib.suppress(*REFUSALS):  # by the shape function alone
            compare_with_differences(
                other, found, tensors, chosen, function, order, names
            )


def _broadcasts(shape: tf.TensorShape, to: tf.TensorShape) -> bool:
    """Whether a tensor of a shape can be broadcast to the other one."""
    try:
        return tf.broadcast_static_shape(shape, to) == to
    except ValueError:
        return False


def _varied(subject: Subject, flat, names):
    """Other calls near the sample: what is special about each, its flat inputs and its attrs."""
    for i, x in enumerate(flat):
        if x.dtype.kind in "iu" and x.size > 1:
            twice = np.array(x)
            twice.reshape(-1)[1] = twice.reshape(-1)[0]
            if not np.array_equal(x, twice):
                label = f"the first element of {names[i]} twice"
                yield label, replaced(flat, i, twice), subject.attrs
            for place, again, repeated in _repeated(x):
                label = f"{names[i]}{place} in {names[i]}{again} too"
                yield label, replaced(flat, i, repeated), subject.attrs
            if (value := _only_once(x)) is not None:
                label = f"no {value} in {names[i]}"
                yield label, replaced(flat, i, _without(x, value)), subject.attrs
    for i, x in enumerate(flat):
        for axis in (axis for axis in range(x.ndim) if x.shape[axis] > 1):
            one = np.take(x, [0], axis)
            label = f"size 1 in dimension {axis} of {names[i]}"
            yield label, replaced(flat, i, one), subject.attrs
    for i, x in enumerate(flat):
        if x.ndim and x.size > 1 and len(flat) > 1:  # broadcast to the others
            scalar = np.asarray(x.reshape(-1)[0], x.dtype)
            label = f"a scalar for {names[i]}"
            yield label, replaced(flat, i, scalar), subject.attrs
    everything = range(len(flat))
    for chosen in [[i] for i in everything] + [everything] * (len(flat) > 1):
        more = [x[np.newaxis] if i in chosen else x for i, x in enumerate(flat)]
        label = " and ".join(names[i] for i in chosen)
        yield f"one dimension more in {label}", more, subject.attrs
        two = [
            np.stack([x, np.flip(x)]) if i in chosen and is_inexact(x.dtype) else y
            for i, (x, y) in enumerate(zip(flat, more))
        ]
        if [x.shape for x in two] != [x.shape for x in more]:
            label = f"{label} twice, in one dimension more"
            yield label, two, subject.attrs
    described = subject.describe()
    own = described.all_of("attr")
    attrs = {x.name for x in own}
    gradients = any(map(_COMPUTES_A_GRADIENT.search, described.op_types))
    for name, value in attrs_of_call(subject.op, subject.attrs, own).items():
        if name not in attrs:
            continue
        words = [] if gradients else described.other_words(name, value)[:_NAMES]
        beyond = _beyond(flat) if isinstance(value, float) else []
        factors = _other_factor(name, value)
        if gradients and type(value) is int:
            factors = []  # what the forward op gave does not fit
        for other in [*factors, *words, *beyond]:
            label, changed = f"{name} = {other}", {**subject.attrs, name: other}
            may_refuse = type(value) is int or other in beyond
            if not may_refuse or _is_right(subject, label, flat, changed):
                yield label, flat, changed


def _beyond(flat) -> list[float]:
    """A number that all floats of a call are less than, as one from which a norm is clamped."""
    sizes = [np.abs(x).max() for x in flat if x.dtype.kind == "f" and x.size]
    most = float(max(sizes, default=np.nan))
    return [2.0 * most] if 0 < most < np.inf else []


def _only_once(x: np.ndarray) -> int | None:
    """The last integer that occurs once, if others occur more often, as nodes do in a list of edges."""
    values, counts = np.unique(x, return_counts=True)
    once = values[counts == 1]
    return once[-1].item() if 0 < len(once) < len(values) else None


def _without(x: np.ndarray, value: int) -> np.ndarray:
    """The integers with this one replaced by the one before it, or by the one after it if it is the first."""
    places = np.arange(x.size)
    own = x.reshape(-1) == value
    places[own] += np.where(places[own] > 0, -1, 1)
    return x.reshape(-1)[places].reshape(x.shape)


def _repeated(x: np.ndarray):
    """Integers in rows, such as the ends of edges: an element of the first two rows in both, by columns.

    The row that changes should have no number twice, if possible: an edge from a node to itself is special. Rows in
    order stay in order.
    """
    if x.ndim < 2 or x.shape[-2] < 2 or x.shape[-1] < 2:
        return
    first = (0,) * (x.ndim - 2)
    for column in range(min(x.shape[-1], _COLUMNS)):
        places = [[*first, row, column] for row in (0, 1)]
        if x[tuple(places[0])] == x[tuple(places[1])]:
            continue
        found = []
        for place, again in (places, places[::-1]):
            repeated = np.array(x)
            repeated[tuple(again)] = x[tuple(place)]
            row = repeated[tuple(again[:-1])]
            if _rises(repeated[first]) or not _rises(x[first]):
                found.append((len(np.unique(row)), place, again, repeated))
        if found:
            yield max(found, key=lambda one: one[0])[1:]


def _rises(rows: np.ndarray) -> bool:
    """Whether no two rows are equal and all are in order, as the indices of a sparse tensor have to be."""
    listed = rows.tolist()
    return all(one < other for one, other in itertools.pairwise(listed))


def _other_factor(name: str, value) -> list:
    """Other values of a switch, a factor, an axis, or a number of elements, which may need other inputs."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        axis = re.search("axis|axes|dim", name)
        if not axis:
            return [value + 1] if 0 < value < _COUNT else []
        return [n for n in (value + 1, 1, 0) if n != value]
    return [value * 1.5 + 0.1] if isinstance(value, float) else []


def _is_right(subject: Subject, label: str, flat, attrs) -> bool:
    """Whether the op computes what the reference does. Other inputs may have been computed with the sample's sizes."""
    if subject.reference is None:
        return False
    both = both_of(subject, label, flat, attrs)
    return both is not None and not subject.difference(*both, strict=False)


def one_tensor_for_two(
    subject: Subject, found: Findings, tensors, chosen, names
) -> None:
    """Checks `op(x, x)`: the gradient is the sum of those of the two inputs."""
    for i, j in itertools.combinations(chosen, 2):
        x = tensors[i]
        if (x.shape, x.dtype) != (tensors[j].shape, tensors[j].dtype):
            continue

        def flat(one, other, i=i, j=j):
            changed = list(tensors)
            changed[i], changed[j] = one, other
            return changed

        try:
            copies = [tf.identity(x), tf.identity(x)]
            each = gradients_of(subject, flat(*copies))
            with tf.GradientTape() as tape:
                tape.watch(x)
                outputs = float_outputs(subject)(flat(x, x))
            weights = [weights_of(y) for y in outputs]
            with one_call():
                both = dense(tape.gradient(outputs, x, weights))
        except Exception:
            continue  # the op does not take it
        if None in (each[i], each[j]):
            continue
        wanted = [(each[i] + each[j]).numpy()]
        seen = [np.zeros_like(wanted[0]) if both is None else both.numpy()]
        if different := subject.difference(wanted, seen):
            found.fail(
                f"one tensor for {names[i]} and {names[j]}",
                "the sum of the gradients of the two",
                different.replace("the output", "the gradient"),
                "the gradient function takes equal tensors for one input",
            )
            return
        outputs_of = float_outputs(subject)

        def function(moved, i=i, flat=flat, outputs_of=outputs_of):
            return outputs_of(flat(moved[i], moved[i]))

        order = f"first order, {names[i]} and {names[j]} equal"
        with contextlib.suppress(*REFUSALS):
            compare_with_differences(
                subject, found, tensors, [i], function, order, names, False
            )


def _is_far_from_zero(x: np.ndarray) -> bool:
    """Whether numbers are as temperatures in kelvins, which may have to be above 0."""
    return x.size > 1 and np.abs(x).min() > _FAR * np.std(x)


def at_zero(subject: Subject, found: Findings, tensors, chosen, names) -> None:
    """An input of zeros, as in a mask or a fresh variable: if the results are finite, no gradient is NaN.

    An input that is far from zero in the sample, like a temperature in kelvins, may have to be.
    """
    if all(map(is_builtin, subject.describe().op_types)):
        return
    for i in chosen:
        if _is_far_from_zero(tensors[i].numpy()):
            continue
        flat = replaced(tensors, i, tf.zeros_like(tensors[i]))
        subject.progress(f"{names[i]} is all 0")
        try:
            results = float_outputs(subject)(flat)
            if not all(np.isfinite(x.numpy()).all() for x in results):
                continue
            gradients = gradients_of(subject, flat)
        except Exception:
            continue  # the op, or its gradient, does not take it
        for j in chosen:
            nans = np.isnan(gradients[j].numpy()) if gradients[j] is not None else []
            if np.any(nans):
                found.fail(
                    f"first order, with respect to {names[j]}, where {names[i]} is all 0",
                    "a number, for the results are finite",
                    f"nan ({np.count_nonzero(nans)} of {nans.size})",
                    "0 / 0, or 0 times infinity, in the gradient function, which spoils every weight of a model: "
                    "where 0 is right, tf.math.divide_no_nan(x, y) gives it",
                    line=line_of(subject, "gradients", [x.numpy() for x in flat]),
                )
                return


def in_fewer_digits(subject: Subject, found: Findings, flat, chosen, names) -> None:
    """Compares the gradient in float32 with that in float64 for numbers near zero, large ones and ones far from zero.

    The results have to be right in float32, and the neighbors of all numbers to have nearly the same gradient.
    """
    if not subject.repeats() or subject.draws_by_seed():
        return
    budget = subject.budget(_SECONDS / 5)
    for i in chosen:
        x = subject.flat[i]
        if (x.dtype, flat[i].dtype) != (np.float32, np.float64) or not x.size:
            continue
        near_zero, far_from_zero = x * np.float32(tiny(x.dtype)), far(x)
        moves = {
            f"times {tiny(x.dtype):.3g}": near_zero,
            f"plus {_OVERFLOWS:g}": x + np.float32(_OVERFLOWS),
            f"plus {far_from_zero.flat[0] - x.flat[0]:.6g}": far_from_zero,
        }
        for what, numbers in moves.items():
            if budget.is_spent():
                return
            label, own = f"{names[i]} {what}", replaced(subject.flat, i, numbers)
            subject.progress(label, own)
            if not (wrong := _with_fewer_digits(subject, own, flat)):
                continue
            j, place, wanted, seen = wrong
            found.fail(
                f"the gradient in float32, with respect to {names[j]}, {label}",
                f"{wanted:.6g}, as in float64",
                f"{seen:.6g} for {names[j]}{list(place)}",
                "in the gradient function, a difference in which digits are lost, such as 1 - exp(-x) for -expm1(-x)"
                if numbers is near_zero or np.isfinite(seen)
                else "an overflow on the way to a finite gradient, such as exp(x) in exp(x) / (1 + exp(x))",
                line=line_of(subject, "gradients", own),
            )
            return


def _with_fewer_digits(subject: Subject, own, like) -> tuple | None:
    """Where the gradient is surely wrong: the input's number, the element, and what is wanted and seen there.

    Args:
      subject: The op.
      own: Flat inputs.
      like: Flat inputs whose dtypes are wider.
    """
    neighbors = [
        [np.nextafter(x, x.dtype.type(to)) if x.dtype in _EXACT else x for x in own]
        for to in (np.inf, -np.inf)
    ]
    wider = [
        [constant(x.astype(y.dtype)) for x, y in zip(some, like)]
        for some in (own, *neighbors)
    ]
    given = list(map(constant, own))
    try:
        for y, one in zip(*(float_outputs(subject)(x) for x in (given, wider[0]))):
            if (
                not np.isfinite(y).all()
                or not close(one.numpy(), y.numpy(), 1e-3, 0).all()
            ):
                return None
        all_seen = gradients_of(subject, given)
        all_wanted = zip(*(gradients_of(subject, x) for x in wider))
    except Exception:
        return None  # the op, or its gradient, does not take these
    for j, (seen, some) in enumerate(zip(all_seen, all_wanted)):
        if seen is None or None in some or seen.dtype != tf.float32:
            continue
        wanted, *near = (x.numpy() for x in some)
        sure = np.abs(wanted) < np.finfo(np.float32).max
        most = FAR * np.max(np.abs(wanted), initial=0, where=sure) + _SMALL
        for x in near:
            sure &= close(wanted, x, FAR / 5, most / 5)
        wrong = sure & ~close(wanted, seen.numpy(), FAR, most)
        if wrong.any():
            place = tuple(map(int, np.argwhere(wrong)[0]))
            return j, place, wanted[place], seen.numpy()[place]
    return None
