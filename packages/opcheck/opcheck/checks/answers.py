"""Results of unusual calls, against the reference's."""

import numpy as np

from opcheck.findings.compare import (
    compared,
    difference,
    is_inexact,
    observed,
    tolerance,
    wide,
)
from opcheck.findings.report import (
    ANSWERED,
    ANY_SPECIAL,
    KEPT,
    Findings,
    describe_error,
)
from opcheck.findings.source import in_turn
from opcheck.inputs.samples import flattened, packed
from opcheck.inputs.wrong import Case
from opcheck.processes import calls
from opcheck.processes.children import Child, Crash, WorkerError
from opcheck.references import is_refusal, outputs_of
from opcheck.registry import CHECKS
from opcheck.subject import Subject

_MANY = 1 << 18  # elements that are more than loops in Python compute in a second


def refusal_of(sample, case: Case) -> str:
    """The error that a call should give where the reference raises ValueError for it; nothing elsewhere."""
    error = _raised(sample, case)
    return _as_raised(error) if error and is_refusal(error) else ""


def has_answer(sample, case: Case) -> bool:
    """Whether the reference has a result for a call."""
    asked = sample.reference is not None and case.compared
    return asked and _raised(sample, case) is None


def _raised(sample, case: Case) -> Exception | None:
    """What the reference raises for a call, if it may be asked."""
    if sample.reference is None or not case.compared:
        return None
    try:
        outputs_of(sample.reference, case.inputs, case.attrs)
    except Exception as error:
        return error
    return None


def _as_raised(error: Exception) -> str:
    return f"an error, as the reference raises: {describe_error(error)[:80]}"


def which_shape(sample, case: Case, outputs) -> str:
    """Whether the reference's results have the kernel's shapes, in words."""
    if sample.reference is None or outputs is None:
        return ""
    try:
        wanted = outputs_of(sample.reference, case.inputs, case.attrs)
    except Exception:
        return ""
    if [x.shape for x in wanted] == [x.shape for x in outputs]:
        return ": the reference has the kernel's shape"
    shapes = ", ".join(str(list(x.shape)) for x in wanted)
    return f": the kernel's shape is not that of the reference, {shapes}"


def compare_to_reference(
    child: Child, found: Findings, sample, case: Case, outcome
) -> None:
    if sample.reference is None or outcome.outputs is None or not case.compared:
        return
    if sum(x.size for x in outcome.outputs) > _MANY:
        return
    try:
        wanted = outputs_of(sample.reference, case.inputs, case.attrs)
    except Exception as error:
        if isinstance(error, NotImplementedError):
            return  # it has no answer, and there may be one
        if again := _wraps_around(child, sample, case, outcome):
            found.fail(
                case.label,
                _as_raised(error),
                f"the result for {again} that begins again at its end",
                "an index that wraps around at the end of an input, and no check of its size",
                line=sample.line(case.inputs, case.attrs),
            )
            return
        if is_refusal(error):
            found.fail(
                case.label,
                _as_raised(error),
                "a result",
                ANSWERED,
                line=sample.line(case.inputs, case.attrs),
            )
        return  # the reference does not define it
    if len(wanted) == len(outcome.outputs):
        pairs = zip(wanted, outcome.outputs)
        most = _largest(flattened(case.inputs)) if case.huge else None
        wanted = [_as_held(*both, sample.options, most) for both in pairs]
    if different := compared(sample.options, wanted, outcome.outputs, strict=False):
        cause = observed(wanted, outcome.outputs, sample.options.get("tolerances"))
        if case.special:
            equal = _is_wrong_for_ones(child, sample, case)
            advice = "wrong with 1 in their place, too" if equal else ANY_SPECIAL
            cause = "; ".join([*filter(None, [cause]), advice])
        if _ends_at_nul(child, case, outcome.outputs):
            cause = (
                "it takes a string to end at its first NUL, as strlen() and c_str() do"
            )
        line = sample.line(case.inputs, case.attrs)
        if _is_right_alone(child, sample, case, wanted):
            cause, line = KEPT, in_turn(sample.line(sample.inputs, sample.attrs), line)
        chapter = CHECKS["reference"].chapter
        found.fail(
            case.label, "what the reference computes", different, cause, chapter, line
        )


def _wraps_around(child: Child, sample, case: Case, outcome) -> str:
    """The input with fewer elements than the sample's that the op reads again from its start, if there is one."""
    flat = flattened(case.inputs)
    changed = [i for i, (x, y) in enumerate(zip(sample.flat, flat)) if x is not y]
    if len(flat) != len(sample.flat) or len(changed) != 1 or sample.attrs != case.attrs:
        return ""
    i = changed[0]
    x, y = sample.flat[i], flat[i]
    if x.dtype != y.dtype or x.ndim != y.ndim or not 1 < y.size < x.size:
        return ""
    name = child.ask(Subject.describe).labels[i]
    flat[i] = np.resize(y, x.shape)
    seen = []
    for inputs in (sample.inputs, packed(case.inputs, flat)):
        try:
            [one] = child.ask(
                calls.call, inputs=inputs, attrs=case.attrs, modes=["eager"]
            )
        except (Crash, WorkerError):
            return ""
        seen.append(one.outputs)
    if None in seen or not difference(*seen, exact=True):
        return ""  # what is left out does not count
    return "" if difference(seen[1], outcome.outputs, exact=True) else name


def _ends_at_nul(child: Child, case: Case, outputs) -> bool:
    """Whether strings cut at their first NUL give the same result."""
    flat = flattened(case.inputs)
    cut = [
        np.vectorize(lambda x: x.split(b"\0")[0], [object])(x)
        if x.dtype == object and x.size
        else x
        for x in flat
    ]
    if all(np.array_equal(x, y) for x, y in zip(flat, cut) if x.dtype == object):
        return False
    inputs = packed(case.inputs, cut)
    try:
        [one] = child.ask(calls.call, inputs=inputs, attrs=case.attrs, modes=["eager"])
    except (Crash, WorkerError):
        return False
    return one.outputs is not None and not difference(one.outputs, outputs, exact=True)


def _is_wrong_for_ones(child: Child, sample, case: Case) -> bool:
    """Whether a call with NaN or infinities is wrong with 1 in place of these, too, as where equal numbers are."""
    flat = [
        np.where(np.isfinite(x), x, np.ones_like(x)) if is_inexact(x.dtype) else x
        for x in flattened(case.inputs)
    ]
    inputs = packed(case.inputs, flat)
    try:
        wanted = outputs_of(sample.reference, inputs, case.attrs)
        given = {"inputs": inputs, "attrs": case.attrs, "modes": ["eager"]}
        [outcome] = child.ask(calls.call, **given)
    except Exception:
        return False
    seen = outcome.outputs
    return seen is not None and bool(
        compared(sample.options, wanted, seen, strict=False)
    )


def _is_right_alone(child: Child, sample, case: Case, wanted) -> bool:
    """Whether the call gives what is wanted in a process that has made no other call."""
    child.close()
    try:
        [outcome] = child.ask(
            calls.call, inputs=case.inputs, attrs=case.attrs, modes=["eager"]
        )
    except Crash:
        return False
    got = outcome.outputs
    return got is not None and not compared(sample.options, wanted, got, strict=False)


def _largest(flat: list) -> float:
    """The largest finite float of some inputs, by absolute value; 0 if there is none."""
    numbers = [np.abs(wide(x, x)[0]) for x in flat if is_inexact(x.dtype)]
    return max(
        (float(np.max(x, initial=0, where=np.isfinite(x))) for x in numbers), default=0
    )


def _as_held(wanted, got: np.ndarray, options, most: float | None) -> np.ndarray:
    """What is wanted, as far as the output's dtype can hold it.

    Integers wrap around where the reference has a wider dtype. Next to a huge number, others are lost in rounding:
    `most` is the largest float of the inputs where numbers of them are huge.
    """
    wanted = np.asarray(wanted)
    if wanted.shape != got.shape or object in (wanted.dtype, got.dtype):
        return wanted
    if wanted.dtype.kind in "iu" and got.dtype.kind in "iu":
        return wanted.astype(got.dtype)
    if most is None:
        return wanted
    if not is_inexact(got.dtype):
        return got if wanted.dtype.kind == "f" else wanted
    both = wide(wanted, got)
    with np.errstate(all="ignore"):
        finite = np.isfinite(both[0]) & np.isfinite(both[1])
        scale = np.max(np.abs(both[0]), initial=most, where=finite)
        relative, _ = tolerance(got.dtype, options.get("tolerances"))
        near = np.abs(both[0] - both[1]) <= relative * scale
    return np.where(~finite | near, both[1], wanted)
