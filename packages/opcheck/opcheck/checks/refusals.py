"""What the errors of refused calls say."""

import re
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from opcheck.findings.compare import mentions, message_of
from opcheck.findings.report import UNNAMED, Findings
from opcheck.inputs.samples import flattened
from opcheck.inputs.wrong import Case
from opcheck.references import outputs_of
from opcheck.subject import is_builtin, names_of_own, parameter_names

# What TensorShape says of a shape of more than 2**63 elements.
_OF_SIZES = re.compile(r"Encountered overflow (when multiplying|from large input)")
_BEYOND = 1 << 24  # a size of which three have a product of more than 2**63


def is_of_tensorflow(found: Findings, sample, outcome, description) -> bool:
    """Whether an error has an unusual type because TensorFlow raises it, and not the function's author."""
    kind = outcome.error.partition(":")[0]
    if outcome.raised_by == "TensorFlow":
        found.note(f"TensorFlow's Python code refuses some calls by {kind}")
        return True
    if is_composed(sample, description) and outcome.raised_by != "caller":
        found.note(f"{kind}, of an op of TensorFlow or of Python, for some calls")
        return True
    return False


def is_composed(sample, description) -> bool:
    """Whether the op is a function of its author's that calls only TensorFlow's ops."""
    return not is_of_others(sample.location) and all(
        map(is_builtin, description.op_types)
    )


def is_of_others(location) -> bool:
    """Whether somebody else words the errors: TensorFlow, or the author of a library that is given as a file."""
    return location is not None and (
        not location.module or location.module.split(".")[0] in ("tensorflow", "keras")
    )


def check_names(found: Findings, sample, case: Case, outcome, description) -> None:
    names = []
    for culprit in case.culprits:
        if isinstance(culprit, str):
            names.append(culprit)
        else:
            names += description.names[culprit]
    if len(case.culprits) == len(description.names):  # any of them, or an attr
        attrs = (x.name for x in description.all_of("attr") if x.type != "type")
        names += [*case.attrs, *attrs]
    # The function may call them otherwise, or make an input of its op itself.
    known = {x for some in description.names for x in some}
    known |= {*parameter_names(sample.op)}
    hidden = names_of_own(description.op_defs.values()) - known
    if (
        names
        and not mentions(outcome.error, [*names, *hidden])
        and not tells(outcome, case, description)
    ):
        composed = is_composed(sample, description) and outcome.raised_by != "caller"
        if is_of_others(sample.location) or composed:
            found.note("some errors name no argument of the function")
            return
        if _is_named_alike(sample, case, outcome.error, [*known, *names]):
            return
        if _OF_SIZES.search(outcome.error) and case.largest >= _BEYOND:
            found.note("TensorFlow's own error for too many elements names no input")
            return
        found.fail(
            case.label,
            f"an error that names {' or '.join(dict.fromkeys(names))}",
            outcome.error,
            UNNAMED,
            line=sample.line(case.inputs, case.attrs),
        )


def _is_named_alike(sample, case: Case, error: str, names: Sequence[str]) -> bool:
    """Whether the reference raises a ValueError naming an argument that the op's error names, too."""
    if sample.reference is None:
        return False
    try:
        outputs_of(sample.reference, case.inputs, case.attrs)
    except ValueError as refusal:
        return any(_has_word(str(refusal), [x]) and mentions(error, [x]) for x in names)
    except Exception:
        pass
    return False


def check_code(found: Findings, sample, case: Case, outcome, description) -> None:
    """OutOfRange is for things that come to an end, and so have state."""
    if is_of_others(sample.location) or any(map(is_builtin, description.op_types)):
        return
    taken = [x.type for x in description.all_of("input_arg")]
    if any(kind in (tf.variant, tf.resource) for kind in taken) or any(
        one.is_stateful for one in description.op_defs.values()
    ):
        return
    found.fail(
        case.label,
        "InvalidArgumentError",
        outcome.error,
        "absl::OutOfRangeError means that there are no more elements: a tf.data pipeline with this op in it, and a "
        "loop over it, end here without an error",
        line=sample.line(case.inputs, case.attrs),
    )


def tells(outcome, case: Case, description) -> bool:
    """Whether an error says in another way what does not fit.

    If an attr is wrong, the error names another input or attr, and a number that is required, or a negative one that is
    there. If an input has a wrong size, it names another input and that size. For an op with one input and no attrs, it
    shows a value of that input.
    """
    flat = flattened(case.inputs)
    sizes = {n for x in flat for n in x.shape}
    inputs = [name for some in description.names for name in some]
    alone = len(flat) == len(description.names) == 1 and not case.attrs
    if alone and _shows_a_value(outcome.error, flat[0]):
        return True
    if any(isinstance(x, str) for x in case.culprits):
        attrs = [x.name for x in description.all_of("attr") if x.type != "type"]
        own = {n for x in case.culprits if type(n := case.attrs.get(x)) is int}
        told = {n for n in _numbers(outcome.error) if n > 9} - (sizes - own)
        if told and _has_word(outcome.error, [*inputs, *attrs]):
            return True
        below = re.findall(r"(?<![\w.])-\d+(?![\w.])", outcome.error)
        numbers = [n for n in map(int, below) if n not in own]
        return len(flat) == len(description.names) and any(
            x.dtype.kind == "i"
            and np.isin(x, numbers).any()
            and _has_word(outcome.error, names)
            for names, x in zip(description.names, flat)
        )
    if len(flat) != len(description.names):
        return False
    others = {n for i, x in enumerate(flat) if i not in case.culprits for n in x.shape}
    told = _numbers(outcome.error) & (sizes - others)
    return bool(told) and _has_word(outcome.error, inputs)


def _shows_a_value(error: str, x: np.ndarray) -> bool:
    """Whether an error contains a float of an input, as far as its digits tell."""
    if x.dtype.kind != "f":
        return False
    number = r"(?<![\w.])-?(?:\d+\.\d+(?:e[+-]?\d+)?|\d+e[+-]?\d+|nan|inf)\b"
    said = re.findall(number, error.lower())
    return any(np.isclose(float(one), x, 1e-4, equal_nan=True).any() for one in said)


def _message(error: str) -> str:
    """The message without the op's name, and without the x of 2 x 3."""
    return re.sub(r"(?<=\d)\s*x\s*(?=\d)", " ", message_of(error))


def _numbers(error: str) -> set[int]:
    return {int(n) for n in re.findall(r"(?<![\w.])\d+(?!\w|\.\d)", _message(error))}


def _has_word(error: str, names: Sequence[str]) -> bool:
    """Whether an error contains one of the names as a word."""
    message = _message(error)
    return any(re.search(rf"(?<!\w){re.escape(x)}(?!\w)", message) for x in names)
