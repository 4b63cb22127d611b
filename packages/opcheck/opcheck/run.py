"""`opcheck.check`: runs the checks, most of them in child processes, and makes the report."""

import contextlib
import functools
import inspect
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from opcheck.arguments import (
    as_text,
    by_name,
    check_arguments,
    check_kinds,
    check_meant,
    check_names,
    check_numbers,
    check_raw,
    choose,
    known_failures,
    name_of,
    parameters_of,
    registered_types,
    samples_of,
)
from opcheck.findings.report import (
    AT_ONCE,
    GUARDED,
    LONGEST_LINE,
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
from opcheck.inputs.samples import as_arrays, flattened, packed
from opcheck.locations import Location, locate
from opcheck.parts import in_parts
from opcheck.processes.children import Child, Crash, WorkerError, start_server
from opcheck.processes.pulse import Patience
from opcheck.processes.worker import check_inside, refused, run_check
from opcheck.references import check_reference
from opcheck.registry import CHECKS

# With a reference.
_COMPARED = ("reference", "dtypes", "empty", "gradient", "bad_input")
# Whether threads meet is chance: the line that runs such a check again tries for longer.
_LONGER = {
    "concurrency": ("concurrency_seconds", 10.0),
    "determinism": ("repeats", 50),
}
_HANGING = 3  # checks, after which others would only wait, too


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
        others = list(parameters_of(self.op))[len(self.inputs) :]
        taken = names & {*self.attrs, *others}
        some = self.location, self.op, self.inputs, self.attrs
        return check_line(*some, name, given, reference, taken)


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
    check_meant(op, inputs, attrs, locals(), _options())
    check_kinds(op, reference, attrs, samples)
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
    known = known_failures(expected_failures, names)
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
        "op_types": registered_types(op_types),
        "gradient": gradient,
        **optional,
        "special_values": special_values,
        "old_op_def": as_text(old_op_def),
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
    for some, with_attrs in samples_of(inputs, attrs, samples):
        check_raw(op, some, with_attrs)
        check_arguments(op, some, with_attrs, more_attrs, _options())
        called, dense = in_parts(op, some)
        where = location and locate(called)
        arrays = as_arrays(dense)
        call = Call(called, where, arrays, with_attrs, options, reference, own)
        check_reference(call.reference, call.inputs, call.attrs)
        made.append(call)
    if location is not None:
        start_server()

    def whole(found: Result, call: Call) -> Result:
        if found.verdict != "fail":
            return found
        line = call.check_line(found.check) if found.check in CHECKS else ""
        line = line or call.line(call.inputs, call.attrs)
        end = f"  # {name_of(op)}: what you have checked" if location is None else ""

        def with_line(one: Result) -> Result:
            own = one.line or line
            too_long = len(own) > LONGEST_LINE > len(line)
            return replace(one, line=(line if too_long else own) + end)

        others = tuple(map(with_line, found.others))
        return replace(with_line(found), others=others)

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


def _options() -> list[inspect.Parameter]:
    """What `check` takes by keyword, besides attrs."""
    given = inspect.signature(check).parameters.values()
    return [one for one in given if one.kind is one.KEYWORD_ONLY]


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
        inputs, _ = crash.call or ([], {})
        return (
            GUARDED if doing == "guarded" else doing or "the sample call",
            "a result or a TensorFlow error",
            str(crash),
            (crash.of_heap and shared)
            or likely_cause(str(crash))
            or shared
            or by_signal(str(crash), doing, flattened(inputs)),
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
