"""The gradient of what moves in steps: no difference decides on it, but it goes where the results go."""

from collections.abc import Iterator, Mapping

import numpy as np
import tensorflow as tf

from opcheck.checks.derivatives import (
    IN_STEPS,
    float_outputs,
    gradients_of,
    steps_of,
    weights_of,
)
from opcheck.findings.compare import close
from opcheck.findings.report import Findings
from opcheck.findings.wanted import replaced
from opcheck.subject import Subject
from opcheck.tensors import arrays, constant

_FACTORS = (1, 4, 16, 64, 256)  # with some of them, some numbers are beyond a limit
_SECONDS = 1.5


def in_other_places(subject: Subject, found: Findings, flat, chosen, names) -> None:
    """Where each row or channel of the results depends on that of the inputs alone, so must that of the gradient.

    This is asked of inputs that move the results in steps.
    """
    budget = subject.budget(_SECONDS)
    for i in chosen:
        in_steps = f"{names[i]} {IN_STEPS}"
        if not any(note.startswith(in_steps) for note in found.notes):
            continue
        calls = {
            f" times {factor}" if factor > 1 else "": replaced(
                flat, i, (factor * flat[i]).astype(flat[i].dtype)
            )
            for factor in _FACTORS
        }
        for axes in _axes(flat, i):
            if budget.is_spent():
                return
            where = " and ".join(
                f"dimension {axis} of {names[k]}" for k, axis in axes.items()
            )
            subject.progress(f"{where} in another order")
            size = flat[i].shape[axes[i]]
            moves = {
                f"{where} in another order": np.roll(np.arange(size), 1),
                f"all of {where} as the first": np.zeros(size, int),
                f"all of {where} as the last": np.full(size, size - 1),
            }
            try:
                along = [
                    _where_alike(subject, call, axes, places)
                    for call in calls.values()
                    for places in moves.values()
                ]
                if not along[0] or any(one != along[0] for one in along):
                    continue
                for label, call in calls.items():
                    for what, places in moves.items():
                        label_of = f"{names[i]}{label}, with {what}"
                        both = _gradients(subject, call, i, axes, along[0], places)
                        if _differ(subject, found, names[i], label_of, *both):
                            return
            except Exception:
                continue  # the op, or its gradient, does not take these


def _axes(flat, i: int) -> Iterator[dict[int, int]]:
    """The axes of one input, each alone and with those of other inputs that may belong to it.

    These are of the same size, and counted from the start, or from the end, or the only ones.
    """
    for axis, size in enumerate(flat[i].shape):
        others = [k for k, x in enumerate(flat) if k != i and size in x.shape]
        ways = [
            {},
            dict.fromkeys(others, axis),
            dict.fromkeys(others, axis - flat[i].ndim),
            {k: 0 for k in others if flat[k].ndim == 1},
        ]
        tried = []
        for way in ways if size > 1 else ():
            axes = {i: axis}
            for k, one in way.items():
                if flat[k].shape[one : one + 1 or None] == (size,):
                    axes[k] = one % flat[k].ndim
            if axes not in tried:
                tried.append(axes)
                yield axes


def _moved(flat, axes: Mapping[int, int], places) -> list:
    return [np.take(x, places, axes[k]) if k in axes else x for k, x in enumerate(flat)]


def _where_alike(subject: Subject, flat, axes: Mapping[int, int], places) -> list[int]:
    """The axis of each result along which it moves as the inputs do; nothing if there is not one of each."""
    before, after = (
        arrays(float_outputs(subject)([constant(x) for x in some]))
        for some in (flat, _moved(flat, axes, places))
    )
    found = []
    for y, seen in zip(before, after):
        alike = [
            axis
            for axis, size in enumerate(y.shape)
            if size == len(places) and np.array_equal(np.take(y, places, axis), seen)
        ]
        if len(alike) != 1 or y.shape != seen.shape:
            return []
        found += alike
    return found


def _gradients(subject: Subject, flat, i: int, axes, along, places) -> list[np.ndarray]:
    """Of one input and of what it is moved to, brought back: for one gradient of the results, moved with them."""
    outputs = float_outputs(subject)([constant(x) for x in flat])
    first = np.unique(places, return_index=True)[1]  # the others are copies of these
    weights, moved = [], []
    for y, axis in zip(outputs, along):
        own = np.moveaxis(weights_of(y).numpy(), axis, 0)
        both = np.zeros_like(own), np.zeros_like(own)
        both[0][places[first]] = both[1][first] = own[first]
        for some, one in zip((weights, moved), both):
            some.append(constant(np.moveaxis(one, 0, axis)))
    runs = [(flat, weights), (_moved(flat, axes, places), moved)]
    before, after = (
        gradients_of(subject, [constant(x) for x in some], incoming)[i].numpy()
        for some, incoming in runs
    )
    back = np.zeros_like(before)
    np.add.at(np.moveaxis(back, axes[i], 0), places, np.moveaxis(after, axes[i], 0))
    return [before, back]


def _differ(subject: Subject, found: Findings, name, label, wanted, seen) -> bool:
    """Whether two gradients differ, which is a failure."""
    _, allowed = steps_of(subject, [tf.as_dtype(wanted.dtype)])
    least = allowed * np.max(np.abs(wanted), initial=1, where=np.isfinite(wanted))
    wrong = ~close(wanted, seen, allowed, least)
    if wrong.any():
        place = tuple(np.argwhere(wrong)[0].tolist())
        found.fail(
            f"first order, with respect to {label}",
            f"{wanted[place]:.6g} for {name}{[*place]}, as before: the results are the same, in other places",
            f"{seen[place]:.6g} ({wrong.sum()} of {wrong.size} derivatives differ)",
            "the gradient function takes what belongs to another place, such as the limits of the first channel, or to "
            "all together, which the op does not",
        )
    return bool(wrong.any())
