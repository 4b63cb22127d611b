"""Integers that lead from one element to the next, a million times: recursion overflows the stack."""

import numpy as np

from opcheck.findings.report import Findings
from opcheck.findings.source import Written
from opcheck.inputs.samples import flattened, packed
from opcheck.processes import calls
from opcheck.processes.children import Child, Crash, WorkerError

_SIZES = (1 << 12, 1 << 14)  # at which the growth of the time is measured
_LONG = 1 << 20  # more than a stack of 8 MB has room for, at 16 bytes a call
_GROWTH, _SLOW = 8, 2e-2  # of four times the elements, and seconds


def chains(child: Child, sample, found: Findings, labels: list[str]) -> None:
    """Calls the op with a long chain of pairs or of places, if it takes a short one in time that grows with its length.

    Such are the edges of a graph, the parents in a tree or the next places of a list.
    """
    inputs = flattened(sample.inputs)
    for i, x in enumerate(inputs):
        if x.dtype not in (np.int32, np.int64) or not _are_places(x):
            continue
        for way in ("up", "down"):
            took = []
            for size in _SIZES:
                some, attrs = _call(sample, inputs, i, size, way)
                took.append(_seconds(child, some, attrs))
            if not all(took) or took[1] > max(_SLOW, _GROWTH * took[0]):
                continue  # refused, or slower for a reason that is no fault
            some, attrs = _call(sample, inputs, i, _LONG, way)
            try:
                child.ask(calls.seconds, inputs=some, attrs=attrs)
            except WorkerError:
                pass
            except Crash as crash:
                child.patience.hung -= crash.hung
                if not crash.hung:
                    found.fail(
                        f"{labels[i]} is a chain of {_LONG} elements",
                        "a result or a TensorFlow error, as for shorter ones",
                        str(crash),
                        "the stack overflows: a function calls itself once for each element",
                        line=sample.line(some, attrs),
                    )
                    return


def _are_places(x: np.ndarray) -> bool:
    """Whether integers may be places of each other: not below 0, and not much more than there are."""
    pairs = x.ndim == 2 and x.shape[1] == 2
    if not (pairs or x.ndim == 1) or x.size < 3:
        return False
    return x.min() >= 0 and x.max() <= 2 * x.size


def _seconds(child: Child, inputs, attrs) -> float:
    try:
        return child.ask(calls.seconds, inputs=inputs, attrs=attrs)
    except WorkerError:
        return 0.0
    except Crash as crash:
        child.patience.hung -= crash.hung
        return 0.0


def _call(sample, flat, i: int, size: int, way: str) -> tuple[list, dict]:
    """The inputs and attrs with a chain; what bounds its numbers is its size, what has as many rows is repeated."""
    x = flat[i]
    most, rows = x.max(), len(x)

    def bound(value):
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        return type(value)(size) if whole and value > most else value

    changed = []
    for j, y in enumerate(flat):
        if j == i:
            changed.append(_chain(x, size, way))
        elif y.ndim and len(y) == rows:
            changed.append(np.resize(y, (size, *y.shape[1:])))
        elif not y.ndim and y.dtype in (np.int32, np.int64):
            changed.append(np.asarray(bound(y[()]), y.dtype))
        else:
            changed.append(y)
    attrs = {name: bound(value) for name, value in sample.attrs.items()}
    return packed(sample.inputs, changed), attrs


def _chain(x: np.ndarray, size: int, way: str) -> np.ndarray:
    """Pairs of a number and the next, upwards or downwards, then of both ends; or for each place, that beside it."""
    last = size - 1
    if x.ndim == 2:
        pairs = np.vstack([np.arange(last)[:, None] + [0, 1], [[0, last]]])
        text = f"np.vstack([np.arange({last})[:, None] + [0, 1], [[0, {last}]]])"
        if way == "down":
            pairs[:last] = pairs[:last][::-1].copy()
            text = f"np.vstack([np.arange({last})[::-1, None] + [0, 1], [[0, {last}]]])"
    elif way == "up":
        pairs = np.minimum(np.arange(size) + 1, last)
        text = f"np.minimum(np.arange({size}) + 1, {last})"
    else:
        pairs = np.maximum(np.arange(size) - 1, 0)
        text = f"np.maximum(np.arange({size}) - 1, 0)"
    made = pairs.astype(x.dtype).view(Written)
    made.text = f'tf.constant({text}, "{x.dtype.name}")'
    return made
