"""`opcheck.check`: runs the checks, most of them in child processes, and makes the report."""

import contextlib
import difflib
import functools
import inspect
import itertools
import traceback
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any

import numpy as np

from opcheck.findings.report import (
    AT_ONCE,
    GUARDED,
    MUCH_LARGER,
    SHARED,
    SPLIT,
    UNTRACED,
    Report,
    Result,
    Skip,
    Worker,
    by_signal,
    likely_cause,
)
from opcheck.inputs.constants import Constants, constants_of
from opcheck.inputs.samples import Sample, as_arrays, flattened, is_tensor, packed
from opcheck.locations import Location, locate
from opcheck.parts import in_parts
from opcheck.processes.children import Child, Crash, WorkerError, start_server
from opcheck.processes.pulse import Patience
from opcheck.processes.worker import check_inside, place, refused, run_check
from opcheck.registry import BY_NAME, CHECKS, NAMES

_COMPARED = (
    "reference",
    "dtypes",
    "empty",
    "gradient",
    "bad_input",
)  # with a reference
# Whether threads meet is chance: the line that runs such a check again tries for longer.
_LONGER = {
    "concurrency": ("concurrency_seconds", 10.0),
    "determinism": ("repeats", 50),
}


_HANGING = 3  # checks, after which others would only wait, too
# The options that take whole numbers, and the least that each takes.
_LEAST = {"repeats": 1, "memory": 0, "examples": 1, "variations": 0, "thorough": 1}


@dataclass
class Call:
    """The sample call, as the parent process knows it."""

    op: Callable
    location: Location | None
    inputs: list
    attrs: dict
    options: dict
    reference: Callable | None
    extra: dict = field(default_factory=dict)

    @property
    def flat(self) -> list[np.ndarray]:
        """All input arrays, those of lists too."""
        return flattened(self.inputs)

    @functools.cached_property
    def constants(self) -> Constants:
        """Those that the reference's code names, read once for all processes."""
        return constants_of(self.reference)

    def pack(self, flat: Sequence) -> list:
        """Puts flat inputs back into lists."""
        return packed(self.inputs, flat)

    def line(
        self, inputs: Sequence, attrs: Mapping, modes=("eager",), shapes=None
    ) -> str:
        """The call as a line of Python."""
        from opcheck.findings.source import line

        return line(self.location, self.op, inputs, attrs, modes, shapes)

    def check_line(self, name: str) -> str:
        """One of the checks of the call, as a line of Python; nothing where it would be another check."""
        from opcheck.findings.source import check_line

        given = {}
        defaults = inspect.signature(check).parameters
        for option, value in self.options.items():
            if value == {} or value == defaults[option].default:
                continue
            if not isinstance(value, bool | int | float | str | dict | list | tuple):
                return ""
            given[option] = value
        if name in _LONGER:
            given.setdefault(*_LONGER[name])
        reference = None
        if self.reference is not None and name in _COMPARED:
            try:
                reference = locate(self.reference)
            except ValueError:
                if name != "gradient":  # which asks it for some calls alone
                    return ""
        if self.location is None:
            return ""
        names = {"op", *(one.name for one in _options())}
        others = list(_parameters(self.op))[len(self.inputs) :]
        taken = names & {*self.attrs, *others}
        some = self.location, self.op, self.inputs, self.attrs
        return check_line(*some, name, given, reference, taken)


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


def check(
    op: Callable,
    *inputs,
    attrs: Mapping | None = None,
    samples: Sequence | None = None,
    reference: Callable | None = None,
    checks: Iterable[str] | None = None,
    skip: Mapping[str, str] | Iterable[str] | None = None,
    expected_failures: Mapping[str, str] | Iterable[str] | None = None,
    nondeterministic: bool = False,
    fast: bool = False,
    raise_on_failure: bool = False,
    tolerances: Mapping | None = None,
    op_types: Sequence[str] | None = None,
    gradient: bool | None = None,
    gradient_tolerance: float | None = None,
    delta: float | None = None,
    special_values: bool = True,
    old_op_def: Any = None,
    repeats: int = 5,
    concurrency_seconds: float = 1.0,
    timeout: float = 6.0,
    memory: int = 4 << 30,
    gpu: bool = False,
    isolate: bool = True,
    extra: Sequence[Callable] = (),
    **more_attrs,
) -> Report:
    """Tests everything that a TensorFlow op promises.

    The checks run in child processes, so that a crash is a finding and not the end. The op has to
    be importable for that: a function at the top level of a module.

    Args:
      op: Calls the op: takes the inputs by position and the attrs by keyword.
      *inputs: Tensors, arrays, what TensorFlow makes a tensor of, lists of tensors or arrays for
        list inputs (`[]` is one without tensors), or `opcheck.Sample` for generated values. A RaggedTensor, a
        SparseTensor or IndexedSlices are made of several tensors: the checks vary these, and the reference takes them.
      attrs: Attrs of the op whose names are also those of options.
      samples: More samples, each a tuple of inputs, or a dictionary with `inputs` and attrs. The checks run for
        each, and the report has the worst result of each check.
      reference: A function that takes the same arguments, as arrays, and returns what the op should
        return.
      checks: The names of the checks to run, from `opcheck.NAMES`; all of them if None. A check of `extra`
        has the name of its function, and `large_tensors` runs only if it is named.
      skip: The checks not to run: a dictionary from their names to the reason.
      expected_failures: Known bugs: a dictionary from names of checks to words of the failure. Such a
        failure becomes a note. If the check no longer fails in this way, that is a failure: delete the entry.
      nondeterministic: True: two calls of the op may give different values, as with a random op. Shapes and
        dtypes are compared, values are not.
      fast: True: fewer repetitions, and a quarter of the time for other numbers and drawn calls, for a first look.
      raise_on_failure: True: raises `opcheck.OpCheckError` if a check fails or none ran, as `report.assert_ok()` does.
      tolerances: A dictionary from names of dtypes to pairs (relative, absolute), which replace
        those of `opcheck.findings.compare.TOLERANCES`.
      op_types: The registered ops that are checked. By default, those in the graph of `op` that
        come from your libraries. If all are TensorFlow's own, all of them except casts, reshapes
        and the like.
      gradient: True: it is a failure if no gradient is registered. None: without a registered
        gradient the check is skipped.
      gradient_tolerance: How far the registered gradient may be from finite differences; by default
        1e-6 if everything is float64, otherwise 2e-2.
      delta: The step of these differences; by default 1e-5 if everything is float64, otherwise 1e-2.
      special_values: Whether NaN and infinities are compared with the reference too.
      old_op_def: One or more older definitions of the op, as text or OpDef, for `schema`.
      repeats: Runs for each number of threads in `determinism`.
      concurrency_seconds: For how many seconds `concurrency` tries.
      timeout: Seconds until a call counts as hung, on a free processor. Raise it for a slow op.
      memory: Bytes that a child process may allocate; 0: no limit.
      gpu: Whether all checks run the op on a GPU, where there is one; `devices` always does.
      isolate: False: whatever can run in this process does, for a debugger.
      extra: Your own checks, which run after the others. Each is a function that takes an
        `opcheck.subject.Subject`, which holds the op and its sample, and an `opcheck.Findings`,
        which collects failures. It returns the detail of a pass. Child processes have to be able
        to import it, like the op.
      **more_attrs: Keyword arguments for `op`.

    Returns:
      The report. `report.assert_ok()` raises if a check failed, or if all were skipped.

    Raises:
      ValueError: An argument is not what it has to be.
      OpCheckError: A check failed or none ran, and raise_on_failure is True.
    """
    _check_meant(op, inputs, attrs, locals())
    _check_kinds(op, reference, attrs, samples)
    flags = {
        "nondeterministic": nondeterministic,
        "fast": fast,
        "raise_on_failure": raise_on_failure,
        "gradient": gradient,
        "special_values": special_values,
        "gpu": gpu,
        "isolate": isolate,
    }
    for name, value in flags.items():
        if value is not None and not isinstance(value, int | np.bool_):
            raise ValueError(f"{name} is {value!r}: it takes True or False")
    names = check_names(extra)
    chosen, reasons = choose(checks, skip, names)
    known = _known_failures(expected_failures, names)
    for given in (attrs or {}).keys() & more_attrs.keys():
        raise ValueError(f"{given} is given twice: in attrs and by itself")
    attrs = {**(attrs or {}), **more_attrs}
    optional = {"gradient_tolerance": gradient_tolerance, "delta": delta}
    check_numbers(
        repeats=repeats,
        concurrency_seconds=concurrency_seconds,
        timeout=timeout,
        memory=memory,
        **{name: value for name, value in optional.items() if value is not None},
    )
    options = {
        "tolerances": by_name(tolerances),
        "op_types": _registered(op_types),
        "gradient": gradient,
        **optional,
        "special_values": special_values,
        "old_op_def": _as_text(old_op_def),
        "repeats": min(repeats, 2) if fast else repeats,
        "concurrency_seconds": min(concurrency_seconds, 0.2)
        if fast
        else concurrency_seconds,
        "memory": memory,
        "nondeterministic": nondeterministic,
        "fast": bool(fast),
    }
    try:
        location, refusal = locate(op), ""
    except ValueError as error:
        location, refusal = None, str(error)
    own = {f.__name__: locate(f) if location else f for f in extra}
    made = []  # a Call of each sample
    for some, with_attrs in _samples(inputs, attrs, samples):
        _check_raw(op, some, with_attrs)
        _check_arguments(op, some, with_attrs, more_attrs)
        called, dense = in_parts(op, some)
        where = location and locate(called)
        arrays = as_arrays(dense)
        call = Call(called, where, arrays, with_attrs, options, reference, own)
        _check_reference(call)
        made.append(call)
    if location is not None:
        start_server()

    def whole(found: Result, call: Call) -> Result:
        if found.verdict != "fail":
            return found
        line = call.check_line(found.check) if found.check in CHECKS else ""
        line = line or call.line(call.inputs, call.attrs)
        end = f"  # {name_of(op)}: what you have checked" if location is None else ""
        others = [replace(one, line=(one.line or line) + end) for one in found.others]
        line = (found.line or line) + end
        return replace(found, line=line, others=tuple(others))

    reports = []
    for call in made:
        results = {name: Result(name, "skip", why) for name, why in reasons.items()}
        run = _Run(call, timeout, gpu, isolate and location is not None)
        if location is None:
            for name in (name for name in chosen if _worker(name) is None):
                results[name] = Result(name, "skip", refusal)
        jobs = run.jobs([name for name in chosen if name not in results])
        with ThreadPoolExecutor(3) as threads, run.ended_by_an_interrupt():
            for found in threads.map(lambda job: job(), jobs):
                results.update({result.check: result for result in found})
        in_order = [whole(results[name], call) for name in names if name in results]
        reports.append(Report(name_of(op), in_order, run.workers))
    report = Report.worst_of(reports).without(known)
    return report.assert_ok() if raise_on_failure else report


def _samples(
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


def _known_failures(given, names: Sequence[str]) -> dict[str, str]:
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


def _check_kinds(op, reference, attrs, samples) -> None:
    """Raises ValueError where one of them is something else than it has to be."""
    if not callable(op):
        raise ValueError(f"the op is {op!r:.100}: opcheck.check(FUNCTION, INPUTS…)")
    if reference is not None and not callable(reference):
        raise ValueError(f"reference is {reference!r:.100}: it takes a function")
    if attrs is not None and not isinstance(attrs, Mapping):
        raise ValueError(f"attrs is {attrs!r:.100}: it takes a dictionary")
    if samples is not None and not isinstance(samples, list | tuple):
        raise ValueError(f"samples is {samples!r:.100}: it takes a list")


def _options() -> list[inspect.Parameter]:
    """What `check` takes by keyword, besides attrs."""
    given = inspect.signature(check).parameters.values()
    return [one for one in given if one.kind is one.KEYWORD_ONLY]


def _parameters(op: Callable) -> dict[str, inspect.Parameter]:
    try:
        return dict(inspect.signature(op).parameters)
    except (TypeError, ValueError):
        return {}


def _check_meant(op, inputs: Sequence, attrs, given: Mapping) -> None:
    """Raises ValueError where an option has the name of an argument of the op, and no attrs say which is meant."""
    if not callable(op) or attrs is not None:
        return
    others = list(_parameters(op))[len(inputs) :]
    for option in (one for one in _options() if one.name in others):
        name, value = option.name, given[option.name]
        if not isinstance(value, np.ndarray) and value == option.default:
            continue
        raise ValueError(
            f"{name} is an option of opcheck.check, and an argument of {name_of(op)}: "
            f"attrs={{{name!r}: …}} gives it to the op; where the option is meant, add attrs={{}}"
        )


def _check_raw(op: Callable, inputs: Sequence, attrs: Mapping) -> None:
    """Raises ValueError for a function of tf.raw_ops with inputs: it takes all by keyword."""
    if not str(getattr(op, "__module__", "")).startswith("tensorflow."):
        return
    import tensorflow as tf
    from tensorflow.python.framework import op_def_registry

    name = next((name for name, one in vars(tf.raw_ops).items() if one is op), "")
    if not name or not (inputs or any(map(is_tensor, attrs.values()))):
        return
    count = len(op_def_registry.get(name).input_arg)
    taken = list(_parameters(op))[:count]
    raise ValueError(
        f"tf.raw_ops.{name} takes all by keyword, and checks give inputs by position. Check this: "
        f"def {op.__name__}({', '.join(taken)}, **attrs): return tf.raw_ops.{name}"
        f"({', '.join(f'{one}={one}' for one in taken)}, **attrs)"
    )


def _check_arguments(
    op: Callable, inputs: Sequence, attrs: Mapping, plain: Mapping
) -> None:
    """Raises ValueError where the op cannot be called so, and where a tensor is no input.

    Args:
      op: The function.
      inputs: By position.
      attrs: By keyword.
      plain: Those of them that were not given as `attrs`: options may be among them, misspelt.
    """
    try:
        signature = inspect.signature(op)
    except (TypeError, ValueError):
        signature = None
    parameters = dict(signature.parameters) if signature else {}
    options = [one.name for one in _options()]
    for name in (name for name in plain if name not in parameters):
        any_name = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
        near = _nearest(name, options, 0.85 if any_name or not signature else 0.7)
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


def _check_reference(call: Call) -> None:
    """Raises ValueError where the reference has no answer to the sample."""
    if call.reference is None:
        return
    try:
        outputs = outputs_of(call.reference, call.inputs, call.attrs)
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


def _registered(op_types: Sequence[str] | str | None) -> list[str] | None:
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


def _as_text(old_op_def) -> str | None:
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


class _Run:
    """One run: which check goes to which process."""

    def __init__(self, call: Call, timeout: float, gpu: bool, isolate: bool):
        self._call = call
        self._patience = Patience(timeout)
        self._gpu = gpu
        self._isolate = isolate
        self._hung: list[str] = []  # the checks in which calls hang
        self._hanging_line = ""  # that shows where the sample call does
        self.workers: list[Worker] = []

    @contextlib.contextmanager
    def ended_by_an_interrupt(self) -> Iterator[None]:
        """Lets no other thread wait for a worker after this one has been interrupted."""
        try:
            yield
        except BaseException:
            self._patience.over = True
            raise

    def child(
        self,
        *checks: str,
        threads: int = 0,
        bare: bool = False,
        gpu: bool | None = None,
    ) -> Child:
        call = self._call

        def opened() -> Worker:
            self.workers.append(Worker(checks))
            return self.workers[-1]

        start = {
            "options": call.options,
            "threads": threads,
            "gpu": self._gpu if gpu is None else gpu,
        }
        if not bare:
            start |= {
                "location": call.location,
                "inputs": call.inputs,
                "attrs": call.attrs,
                "has_reference": call.reference is not None,
                "constants": call.constants,
            }
        return Child(call.reference, self._patience, opened, **start)

    def jobs(self, chosen: Sequence[str]) -> list[Callable]:
        """Functions that run at the same time, each giving some results.

        Where the sample call hangs, the first check says so, and no other one could say more.
        """
        able = [name for name in chosen if name != "reference" or self._call.reference]
        if able and self._isolate and (hanging := self._hanging(able[0])):
            because = f"the sample call hangs: see {able[0]}"
            rest = [Result(one, "skip", because) for one in chosen if one != able[0]]
            return [lambda: [hanging, *rest]]
        together: dict[str, list[str]] = {}
        for name in (name for name in chosen if _worker(name) is not None):
            worker = _worker(name) if self._isolate else "this process"
            together.setdefault(worker, []).append(name)
        jobs = [lambda n=n, w=w: self._inside(n, w) for w, n in together.items()]
        alone = [name for name in chosen if _worker(name) is None]
        return jobs + [lambda n=n: [self._alone(n)] for n in alone]

    def _inside(self, names: Sequence[str], worker: str) -> list[Result]:
        call = self._call
        if not self._isolate:
            from opcheck.subject import Subject

            subject = Subject(
                call.op, call.inputs, call.attrs, call.options, call.reference
            )
            subject.location = call.location
            subject.constants = call.constants
            return [check_inside(subject, name, call.extra.get(name)) for name in names]
        results = []
        with self.child(*names, gpu=True if worker == "gpu" else None) as child:
            for name in names:
                own = call.extra.get(name)
                if skipped := self._pointless(name):
                    results.append(skipped)
                    continue
                try:
                    results.append(child.ask(check_inside, name=name, own=own))
                except Crash as crash:
                    self._hung += [name] * crash.hung
                    why = (
                        *self._crashed(crash),
                        _chapter(name),
                        self._crash_line(name, crash),
                    )
                    results.append(Result(name, "fail", *why))
                except WorkerError as error:
                    why = refused(*error.args)
                    results.append(Result(name, "fail", *why, _chapter(name)))
        return results

    def _hanging(self, name: str) -> Result | None:
        """The failure of a check if the sample call, the first one in its process, hangs."""
        from opcheck.processes import calls

        sample = {"inputs": self._call.inputs, "attrs": self._call.attrs}
        try:
            with self.child(name) as child:
                child.ask(calls.call, **sample, modes=("eager",))
        except Crash as crash:
            if crash.hung:
                _, *why = self._crashed(crash)
                line = self._call.line(**sample)
                words = "the sample call", *why, _chapter(name), line
                return Result(name, "fail", *words)
        except Exception:
            pass  # as the checks will find
        return None

    def _crash_line(self, name: str, crash: Crash) -> str:
        """The call in the mode in which it dies, or the whole check where calls die only together."""
        whole = self._call.check_line(name)
        if str(crash.doing).startswith(AT_ONCE) and whole:
            return whole
        of_sample = crash.hung and not crash.call
        if of_sample and self._hanging_line:
            return self._hanging_line
        from opcheck.processes import calls

        tried = [crash.call or (self._call.inputs, self._call.attrs)]
        if crash.call and not crash.hung:  # where it hangs, the sample's does not
            tried.insert(0, (self._call.inputs, self._call.attrs))
        trials = [("eager", calls.call, {"modes": ("eager", "graph")})]
        if crash.of_heap:  # a later call meets what one has broken
            trials.insert(0, ("often", calls.often, {}))
        elif crash.hung and not whole:
            trials.append(("often", calls.often, {}))
        for call, (mode, function, more) in itertools.product(tried, trials):
            made = dict(zip(("inputs", "attrs"), call))
            with self.child() as child:
                try:
                    child.ask(function, **made, **more)
                except Crash as again:
                    self._patience.hung -= again.hung  # it is known
                    modes = [again.doing or mode] + ["malloc"] * again.of_heap
                    line = self._call.line(**made, modes=modes)
                    if of_sample:
                        self._hanging_line = line
                    return line
                except WorkerError:
                    pass
        modes = ["eager"] + ["malloc"] * crash.of_heap
        return whole or self._call.line(**made, modes=modes)

    def _crashed(self, crash: Crash) -> tuple[str, str, str, str]:
        """What was tried, what was expected and seen, and the likely cause."""
        doing = str(crash.doing)
        shared = SHARED if doing.startswith(AT_ONCE) else ""
        shared = SPLIT if doing == MUCH_LARGER else shared
        return (
            GUARDED if doing == "guarded" else doing or "the sample call",
            "a result or a TensorFlow error",
            str(crash),
            (crash.of_heap and shared)
            or likely_cause(str(crash))
            or shared
            or by_signal(str(crash), doing),
        )

    def _alone(self, name: str) -> Result:
        """Runs a check of this process; how a worker of its ended is a finding."""

        def run(found) -> str:
            try:
                make = functools.partial(self.child, name)
                return CHECKS[name].function(make, self._call, found)
            except Crash as crash:
                self._hung += [name] * crash.hung
                found.fail(*self._crashed(crash), line=self._crash_line(name, crash))
            except WorkerError as error:
                if not found.failures and self._has_no_graph(name):
                    raise Skip(UNTRACED) from None
                found.fail(*refused(*error.args))
            return ""

        return self._pointless(name) or run_check(name, _chapter(name), run)

    def _has_no_graph(self, name: str) -> bool:
        from opcheck.subject import Subject

        try:
            with self.child(name) as child:
                return child.ask(Subject.has_no_graph)
        except (Crash, WorkerError):
            return False

    def _pointless(self, name: str) -> Result | None:
        """What there is to say of a check after several in which calls hang."""
        hung = max(len(self._hung), self._patience.hung)
        if hung < _HANGING:
            return None
        such = f", such as {self._hung[0]}" if self._hung else ""
        return Result(name, "skip", f"{hung} checks hang{such}")


def _worker(name: str) -> str | None:
    return CHECKS[name].worker if name in CHECKS else "most"


def _chapter(name: str) -> str:
    return CHECKS[name].chapter if name in CHECKS else ""
