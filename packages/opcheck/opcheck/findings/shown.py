"""What lines of Python call to show a failure that is more than the value of a call."""

import itertools
import time
from collections.abc import Callable, Mapping, Sequence

from opcheck.checks import derivatives
from opcheck.checks.complex_parts import in_real_numbers
from opcheck.findings.compare import difference
from opcheck.subject import Subject, made
from opcheck.tensors import arrays, constant, tensors_of

_SECONDS = 20


def repeated(op: Callable, *inputs, **attrs) -> str:
    """What the first of many calls says that does not give the bits of the first one."""
    first, end = arrays(tensors_of(op(*inputs, **attrs))), time.monotonic() + _SECONDS
    for number in itertools.count(2):
        seen = arrays(tensors_of(op(*inputs, **attrs)))
        if different := difference(first, seen, exact=True):
            return f"call {number}: {different} of the first call"
        if time.monotonic() > end:
            return f"{number} calls: the same bits"


def gradients(op: Callable, inputs: Sequence, attrs: Mapping, known: str = "") -> list:
    """The gradients with respect to all inputs, of a sum of the results with different weights; None for integers.

    If something is known in a graph, the "shapes", the "ranks" or "nothing", first those that it gives, then the eager
    ones.
    """
    subject = _subject(op, inputs, attrs)
    tensors = list(map(constant, subject.flat))
    if not known:
        return derivatives.gradients_of(subject, tensors)

    def given(*flat):
        return derivatives.known_gradients(subject, flat)

    graph = made(given, derivatives.specs_of(tensors, known))
    return [graph(*tensors), given(*tensors)]


def slope(
    op: Callable,
    inputs: Sequence,
    attrs: Mapping,
    *,
    of: int,
    along: int,
    row: int,
    order: int = 1,
    delta: float | None = None,
) -> str:
    """One entry of the gradient beside its finite difference.

    Args:
      op: The function.
      inputs: Tensors and lists of tensors.
      attrs: Keyword arguments of the op.
      of: The number of the tensor with respect to which the gradient is; those that come in are behind the inputs.
      along: The number of the element, or of the direction if there are many.
      row: The number of the result, or of a weighted sum of results if there are many.
      order: 2 for the gradient of the gradient.
      delta: The step, if it is not the usual one.
    """
    subject = _subject(op, inputs, attrs, delta=delta)
    tensors = list(map(constant, subject.flat))
    function = derivatives.float_outputs(subject)
    names = subject.describe().labels
    if order == 2:
        tensors, function, names = derivatives.of_second_order(subject, tensors, names)
    sides = derivatives.both_sides(subject, tensors, of, function)
    seen, wanted = (one[row, along] for one in (sides.analytical, sides.numerical))
    place = sides.place(names[of], along)
    return f"{seen:.6g} for {place}, and {wanted:.6g} by finite differences"


def _subject(op: Callable, inputs: Sequence, attrs: Mapping, **options) -> Subject:
    held = [
        arrays(x) if isinstance(x, list | tuple) else arrays([x])[0] for x in inputs
    ]
    subject = Subject(op, held, dict(attrs), options)
    if any(x.dtype.kind == "c" for x in (*subject.flat, *subject.expected())):
        return in_real_numbers(subject)
    return subject
