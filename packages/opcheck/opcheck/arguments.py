"""What is wrong with the arguments of `opcheck.check` and its like, said in one line."""

import difflib
import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from numbers import Integral, Real

import numpy as np

from opcheck.inputs.samples import Sample, is_tensor
from opcheck.registry import BY_NAME, CHECKS, NAMES

# The options that take whole numbers, and the least that each takes.
_LEAST = {"repeats": 1, "memory": 0, "examples": 1, "variations": 0, "thorough": 1}


def samples_of(
    inputs: Sequence, attrs: dict, samples: Sequence | None
) -> list[tuple[Sequence, dict]]:
    """The inputs and the attrs of each sample; those of the call itself come first."""
    found = [(inputs, attrs)] if inputs or not samples else []
    for number, one in enumerate(samples or ()):
        if isinstance(one, Mapping) and "inputs" in one:
            rest = {name: value for name, value in one.items() if name != "inputs"}
            found.append((one["inputs"], {**attrs, **rest}))
        elif isinstance(one, list | tuple):
            found.append((one, attrs))
        else:
            raise ValueError(
                f"samples[{number}] is a {type(one).__name__}, and neither a tuple of inputs nor "
                "a dictionary with `inputs` and attrs"
            )
    return found


def known_failures(given, names: Sequence[str]) -> dict[str, str]:
    """From names of checks to words of the failure that is expected of each."""
    some = _named("expected_failures", given)
    known = dict(given) if isinstance(given, Mapping) else dict.fromkeys(some, "")
    for name in known:
        check_name("check", name, names)
    return known


def check_names(extra: Sequence[Callable] = ()) -> list[str]:
    """The names of all checks, those of one's own at the end.

    Raises:
      ValueError: Two have the same name.
    """
    if not isinstance(extra, list | tuple) or not all(map(callable, extra)):
        raise ValueError(f"extra is {extra!r}: it takes a list of functions")
    names = [*NAMES, *BY_NAME, *map(name_of, extra)]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two checks have the name {name!r}")
    return names


def choose(
    checks, skip, names: Sequence[str] = tuple(CHECKS)
) -> tuple[list[str], dict[str, str]]:
    """Of the checks with these names, those to run, and the reasons for those to skip."""
    if checks is not None:
        checks = _named("checks", checks)
    if not isinstance(skip, Mapping):
        skip = {name: "not wanted" for name in _named("skip", skip)}
    for name in [*(checks or []), *skip]:
        check_name("check", name, names)
    if checks is None:
        checks = [name for name in names if name not in BY_NAME]
    wanted = [name for name in names if name in set(checks)]
    reasons = {name: reason for name, reason in skip.items() if name in wanted}
    return [name for name in wanted if name not in reasons], reasons


def _named(option: str, given) -> list:
    """The names of checks that an option has."""
    if isinstance(given, str):
        return [given]
    if given is not None and not isinstance(given, Iterable):
        raise ValueError(f"{option} is {given!r}: it takes names of checks")
    return list(given or ())


def check_name(what: str, name: str, names: Collection[str]) -> None:
    """Raises ValueError where a name is none of these, and says which is the nearest."""
    if name not in names:
        near = _nearest(str(name), names)
        meant = f", did you mean {near!r}? There are" if near else ": there are"
        raise ValueError(f"no {what} {name!r}{meant} {', '.join(names)}")


def _nearest(name: str, names: Iterable[str], cutoff: float = 0.7) -> str:
    return next(iter(difflib.get_close_matches(name, names, 1, cutoff)), "")


def check_kinds(op, reference, attrs, samples) -> None:
    """Raises ValueError where one of them is something else than it has to be."""
    if not callable(op):
        raise ValueError(f"the op is {op!r:.100}: opcheck.check(FUNCTION, INPUTS…)")
    if reference is not None and not callable(reference):
        raise ValueError(f"reference is {reference!r:.100}: it takes a function")
    if attrs is not None and not isinstance(attrs, Mapping):
        raise ValueError(f"attrs is {attrs!r:.100}: it takes a dictionary")
    if samples is not None and not isinstance(samples, list | tuple):
        raise ValueError(f"samples is {samples!r:.100}: it takes a list")


def parameters_of(op: Callable) -> dict[str, inspect.Parameter]:
    try:
        return dict(inspect.signature(op).parameters)
    except (TypeError, ValueError):
        return {}


def check_raw(op: Callable, inputs: Sequence, attrs: Mapping) -> None:
    """Raises ValueError for a function of tf.raw_ops with inputs: it takes all by keyword."""
    if not str(getattr(op, "__module__", "")).startswith("tensorflow."):
        return
    import tensorflow as tf
    from tensorflow.python.framework import op_def_registry

    name = next((name for name, one in vars(tf.raw_ops).items() if one is op), "")
    if not name or not (inputs or any(map(is_tensor, attrs.values()))):
        return
    count = len(op_def_registry.get(name).input_arg)
    taken = list(parameters_of(op))[:count]
    raise ValueError(
        f"tf.raw_ops.{name} takes all by keyword, and checks give inputs by position. Check this: "
        f"def {op.__name__}({', '.join(taken)}, **attrs): return tf.raw_ops.{name}"
        f"({', '.join(f'{one}={one}' for one in taken)}, **attrs)"
    )


def check_meant(
    op, inputs: Sequence, attrs, given: Mapping, options: Sequence[inspect.Parameter]
) -> None:
    """Raises ValueError where an option has the name of an argument of the op, and no attrs say which is meant."""
    if not callable(op) or attrs is not None:
        return
    others = list(parameters_of(op))[len(inputs) :]
    for option in (one for one in options if one.name in others):
        name, value = option.name, given[option.name]
        if not isinstance(value, np.ndarray) and value == option.default:
            continue
        raise ValueError(
            f"{name} is an option of opcheck.check, and an argument of {name_of(op)}: "
            f"attrs={{{name!r}: …}} gives it to the op; where the option is meant, add attrs={{}}"
        )


def check_arguments(
    op: Callable,
    inputs: Sequence,
    attrs: Mapping,
    plain: Mapping,
    options: Sequence[inspect.Parameter],
) -> None:
    """Raises ValueError where the op cannot be called so, and where a tensor is no input.

    Args:
      op: The function.
      inputs: By position.
      attrs: By keyword.
      plain: Those of them that were not given as `attrs`: options may be among them, misspelt.
      options: Of opcheck.check.
    """
    try:
        signature = inspect.signature(op)
    except (TypeError, ValueError):
        signature = None
    parameters = dict(signature.parameters) if signature else {}
    known = [one.name for one in options]
    for name in (name for name in plain if name not in parameters):
        any_name = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
        near = _nearest(name, known, 0.85 if any_name or not signature else 0.7)
        what = f"the option {near!r}"
        if not near and not any_name:
            near = _nearest(name, parameters)
            what = f"its argument {near!r}"
        if near:
            raise ValueError(
                f"{name_of(op)} has no argument {name!r}: did you mean {what}?"
            )
    for name, value in attrs.items():
        one = parameters.get(name)
        required = one is not None and one.default is one.empty
        first = required and not inputs and next(iter(parameters)) == name
        if (
            isinstance(value, Sample)
            or (is_tensor(value) and not isinstance(value, np.ndarray | np.generic))
            or (isinstance(value, np.ndarray) and name in plain and required)
            or (isinstance(value, list | tuple) and name in plain and first)
        ):
            raise ValueError(
                f"{name} is a tensor given by keyword, and checks vary only those that are given "
                f"by position: opcheck.check({name_of(op)}, …)"
            )
    if signature is None:
        return
    try:
        signature.bind(*inputs, **attrs)
    except TypeError as error:
        raise ValueError(
            f"{name_of(op)}{signature} cannot be called with {len(inputs)} inputs and "
            f"{', '.join(attrs) or 'no attrs'}: {error}"
        ) from None


def check_numbers(**options) -> None:
    """Raises ValueError where an option is no number, or too small a one."""
    for name, value in options.items():
        least = _LEAST.get(name)
        if least is None:
            fine, wanted = isinstance(value, Real) and value > 0, "a number above 0"
        else:
            fine = isinstance(value, Integral) and value >= least
            wanted = f"a whole number, {least} or more"
        if not fine:
            raise ValueError(f"{name} is {value!r}: it takes {wanted}")


def by_name(tolerances: Mapping | None) -> dict:
    """The tolerances by the names of dtypes."""
    if not tolerances:
        return {}
    if not isinstance(tolerances, Mapping):
        raise ValueError("tolerances is a dictionary, from dtypes to what is allowed")
    import tensorflow as tf

    some = [one.name for one in vars(tf.dtypes).values() if isinstance(one, tf.DType)]
    known = sorted(set(some))
    found = {_dtype_name(dtype): value for dtype, value in tolerances.items()}
    for name, value in found.items():
        check_name("dtype of tolerances", name, known)
        pair = value if isinstance(value, Sequence) else (value, value)
        if len(pair) != 2 or not all(isinstance(x, Real) and x >= 0 for x in pair):
            raise ValueError(
                f"tolerances has {value!r} for {name}: it takes a number, or a pair (relative, absolute)"
            )
    return found


def _dtype_name(dtype) -> str:
    return (
        dtype
        if isinstance(dtype, str)
        else getattr(dtype, "name", None) or np.dtype(dtype).name
    )


def registered_types(op_types: Sequence[str] | str | None) -> list[str] | None:
    """The names as a list. Raises ValueError where there is no such op."""
    if op_types is None:
        return None
    from opcheck.subject import registered

    if not isinstance(op_types, str | list | tuple):
        raise ValueError(f"op_types is {op_types!r}: it takes a list of names of ops")
    op_types = [op_types] if isinstance(op_types, str) else list(op_types)
    known = registered()
    for name in op_types:
        if name not in known:
            near = _nearest(str(name), known)
            meant = f": did you mean {near!r}?" if near else ""
            raise ValueError(
                f"op_types has {name!r}, and no such op is registered{meant}"
            )
    return op_types


def as_text(old_op_def) -> str | None:
    """All definitions as one text, which other processes and lines of Python can hold."""
    if old_op_def is None:
        return None
    from google.protobuf import text_format
    from tensorflow.core.framework.op_def_pb2 import OpDef, OpList

    several = old_op_def if isinstance(old_op_def, list | tuple) else [old_op_def]
    found = OpList()
    for one in several:
        try:
            kind = OpList if str(one).lstrip().startswith("op ") else OpDef
            parsed = text_format.Parse(str(one), kind())
        except text_format.ParseError as error:
            raise ValueError(f"old_op_def is no OpDef: {error}") from None
        found.op.extend(parsed.op if kind is OpList else [parsed])
    return str(found)


def name_of(op) -> str:
    return getattr(op, "__name__", None) or type(op).__name__
