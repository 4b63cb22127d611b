"""Calls of a reference."""

import traceback
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from opcheck.processes.worker import place


def outputs_of(
    reference: Callable, inputs: Sequence, attrs: Mapping
) -> list[np.ndarray]:
    """The outputs of a reference, flat; it may write to its inputs."""
    copies = [
        [np.array(one) for one in x] if isinstance(x, list) else np.array(x)
        for x in inputs
    ]
    with np.errstate(all="ignore"):
        return [np.asarray(x) for x in _flatten(reference(*copies, **attrs))]


def is_refusal(error: Exception) -> bool:
    """Whether a reference itself says that there is no result: not NumPy, or whatever it calls."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    own = "-packages" not in last.filename and str(last.line).startswith("raise ")
    return own and isinstance(error, ValueError)


def _flatten(value) -> list:
    if isinstance(value, list | tuple):
        return [x for part in value for x in _flatten(part)]
    return [value]


def check_reference(
    reference: Callable | None, inputs: Sequence, attrs: Mapping
) -> None:
    """Raises ValueError where the reference has no answer to the sample."""
    if reference is None:
        return
    try:
        outputs = outputs_of(reference, inputs, attrs)
    except Exception as error:
        first, *_ = f"{type(error).__name__}: {error}".splitlines()
        where = f" ({found})" if (found := place(error)) else ""
        raise ValueError(
            f"the reference raises for the sample: {first}{where}"
        ) from None
    if any(x.dtype == object and x.ndim == 0 and x.item() is None for x in outputs):
        raise ValueError(
            "the reference returns None for the sample: is a `return` missing?"
        )
