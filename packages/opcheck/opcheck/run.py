"""`opcheck.check`: runs the checks, most of them in child processes, and makes the report."""

import functools
import inspect
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from opcheck.children import Child, Crash, WorkerError, start_server
from opcheck.registry import CHECKS, NAMES
from opcheck.report import Report, Result, Worker, likely_cause
from opcheck.samples import Location, as_arrays, locate
from opcheck.worker import check_inside, refused, run_check


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
        lists = (x if isinstance(x, list) else [x] for x in self.inputs)
        return [array for some in lists for array in some]

    def pack(self, flat: Sequence) -> list:
        """Puts flat inputs back into lists."""
        rest = iter(flat)
        return [
            [next(rest) for _ in x] if isinstance(x, list) else next(rest)
            for x in self.inputs
        ]

    def line(
        self, inputs: Sequence, attrs: Mapping, modes=("eager",), shapes=None
    ) -> str:
        """The call as a line of Python."""
        from opcheck.source import line

        return line(self.location, self.op, inputs, attrs, modes, shapes)


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


def _flatten(value) -> list:
    if isinstance(value, list | tuple):
        return [x for part in value for x in _flatten(part)]
    return [value]


def check(
    op: Callable,
    *inputs,
    reference: Callable | None = None,
    checks: Iterable[str] | None = None,
    skip: Mapping[str, str] | Iterable[str] | None = None,
    tolerances: Mapping | None = None,
    op_types: Sequence[str] | None = None,
    gradient: bool | None = None,
    gradient_tolerance: float | None = None,
    delta: float | None = None,
    special_values: bool = True,
    old_op_def: Any = None,
    repeats: int = 5,
    concurrency_seconds: float = 1.0,
    timeout: float = 60.0,
    memory: int = 4 << 30,
    gpu: bool = False,
    isolate: bool = True,
    extra: Sequence[Callable] = (),
    **attrs,
) -> Report:
    """Tests everything that a TensorFlow op promises.

    The checks run in child processes, so that a crash is a finding and not the end. The op has to
    be importable for that: a function at the top level of a module.

    Args:
      op: Calls the op: takes the inputs by position and the attrs by keyword.
      *inputs: Tensors, arrays, what TensorFlow makes a tensor of, lists of tensors or arrays for
        list inputs (`[]` is one without tensors), or `opcheck.Sample` for generated values.
      reference: A function that takes the same arguments, as arrays, and returns what the op is to
        return.
      checks: The names of the checks to run, of `opcheck.NAMES`; all if None. A check of `extra`
        has the name of its function.
      skip: The checks not to run: a dictionary from their names to the reason.
      tolerances: A dictionary from names of dtypes to pairs (relative, absolute), which replace
        those of `opcheck.compare.TOLERANCES`.
      op_types: The registered ops that are checked. By default, those in the graph of `op` that
        come from your libraries. If all are TensorFlow's own, all of them except casts, reshapes
        and the like.
      gradient: True: it is a failure if no gradient is registered. None: without a registered
        gradient the check is skipped.
      gradient_tolerance: How far the registered gradient may be from finite differences; by default
        1e-6 where all is float64, and else 2e-2.
      delta: The step of these differences; by default 1e-5 where all is float64, and else 1e-2.
      special_values: Whether NaN and infinities are compared with the reference too.
      old_op_def: One or more older definitions of the op, as text or OpDef, for `schema`.
      repeats: Runs for each number of threads in `determinism`.
      concurrency_seconds: How many seconds `concurrency` tries.
      timeout: Seconds after which a silent child process counts as hung.
      memory: Bytes that a child process may allocate; 0: no limit.
      gpu: Whether the op runs on a GPU, where there is one, in all checks; `devices` always does.
      isolate: False runs in this process what can run there, for a debugger.
      extra: Your own checks, which run after the others. Each is a function that takes an
        `opcheck.subject.Subject`, which holds the op and its sample, and an `opcheck.Findings`,
        which collects failures. It returns the detail of a pass. Child processes have to be able
        to import it, like the op.
      **attrs: Keyword arguments for `op`.

    Returns:
      The report. `report.assert_ok()` raises if a check failed.

    Raises:
      ValueError: An argument is not what it has to be.
    """
    names = check_names(extra)
    chosen, reasons = choose(checks, skip, names)
    options = {
        "tolerances": by_name(tolerances),
        "op_types": op_types,
        "gradient": gradient,
        "gradient_tolerance": gradient_tolerance,
        "delta": delta,
        "special_values": special_values,
        "old_op_def": _texts(old_op_def),
        "repeats": repeats,
        "concurrency_seconds": concurrency_seconds,
        "memory": memory,
    }
    try:
        location, refusal = locate(op), ""
    except ValueError as error:
        location, refusal = None, str(error)
    own = {f.__name__: locate(f) if location else f for f in extra}
    call = Call(op, location, as_arrays(inputs), attrs, options, reference, own)
    _check_arguments(op, inputs, attrs)
    results = {name: Result(name, "skip", why) for name, why in reasons.items()}
    run = _Run(call, timeout, gpu, isolate and location is not None)
    if location is None:
        for name in (name for name in chosen if _worker(name) is None):
            results[name] = Result(name, "skip", refusal)
    else:
        start_server()
    jobs = run.jobs([name for name in chosen if name not in results])
    with ThreadPoolExecutor(3) as threads:
        for found in threads.map(lambda job: job(), jobs):
            results.update({result.check: result for result in found})
    in_order = [results[name] for name in names if name in results]
    return Report(_name(op), in_order, run.workers)


def check_names(extra: Sequence[Callable] = ()) -> list[str]:
    """The names of all checks, those of one's own at the end.

    Raises:
      ValueError: Two have the same name.
    """
    names = [*NAMES, *(check.__name__ for check in extra)]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two checks have the name {name!r}")
    return names


def choose(
    checks, skip, names: Sequence[str] = NAMES
) -> tuple[list[str], dict[str, str]]:
    """Of the checks with these names, those to run, and the reasons for those to skip."""
    if isinstance(checks, str):
        checks = [checks]
    if isinstance(skip, str):
        skip = [skip]
    if skip is not None and not isinstance(skip, Mapping):
        skip = {name: "not wanted" for name in skip}
    for name in [*(checks or []), *(skip or {})]:
        if name not in names:
            raise ValueError(f"no check {name!r}: there are {', '.join(names)}")
    wanted = [name for name in names if checks is None or name in set(checks)]
    reasons = {name: reason for name, reason in (skip or {}).items() if name in wanted}
    return [name for name in wanted if name not in reasons], reasons


def _check_arguments(op: Callable, inputs: Sequence, attrs: Mapping) -> None:
    """Raises ValueError where the op cannot be called so: an option may be misspelt, too."""
    try:
        signature = inspect.signature(op)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*inputs, **attrs)
    except TypeError as error:
        raise ValueError(
            f"{_name(op)}{signature} cannot be called with {len(inputs)} inputs and "
            f"{', '.join(attrs) or 'no attrs'}: {error}"
        ) from None


def by_name(tolerances: Mapping | None) -> dict:
    """The tolerances by the names of dtypes."""
    if not isinstance(tolerances or {}, Mapping):
        raise ValueError("tolerances is a dictionary, from dtypes to what is allowed")
    return {_dtype_name(dtype): value for dtype, value in (tolerances or {}).items()}


def _dtype_name(dtype) -> str:
    return (
        dtype
        if isinstance(dtype, str)
        else getattr(dtype, "name", None) or np.dtype(dtype).name
    )


def _texts(old):
    """Something that every process can read."""
    if old is None or isinstance(old, str):
        return old
    return list(old) if isinstance(old, list | tuple) else [old]


def _name(op) -> str:
    return getattr(op, "__name__", None) or type(op).__name__


class _Run:
    """One run: which check goes to which process."""

    def __init__(self, call: Call, timeout: float, gpu: bool, isolate: bool):
        self._call = call
        self._timeout = timeout
        self._gpu = gpu
        self._isolate = isolate
        self.workers: list[Worker] = []

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
            "path": list(sys.path),
            "folder": os.getcwd(),
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
            }
        return Child(call.reference, self._timeout, opened, **start)

    def jobs(self, chosen: Sequence[str]) -> list[Callable]:
        """Functions that run at the same time, each giving some results."""
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
            return [check_inside(subject, name, call.extra.get(name)) for name in names]
        results = []
        with self.child(*names, gpu=True if worker == "gpu" else None) as child:
            for name in names:
                own = call.extra.get(name)
                try:
                    results.append(child.ask(check_inside, name=name, own=own))
                except Crash as crash:
                    why = (*self._crashed(crash), _chapter(name), self._sample_line())
                    results.append(Result(name, "fail", *why))
                except WorkerError as error:
                    why = refused(*error.args)
                    results.append(Result(name, "fail", *why, _chapter(name)))
        return results

    def _sample_line(self) -> str:
        return self._call.line(self._call.inputs, self._call.attrs)

    def _crashed(self, crash: Crash) -> tuple[str, str, str, str]:
        """What was tried, what was expected and seen, and the likely cause."""
        return (
            crash.doing or "the sample call",
            "a result or a TensorFlow error",
            str(crash),
            likely_cause(str(crash))
            or "the kernel, or the shape function, takes its input for something else than it is",
        )

    def _alone(self, name: str) -> Result:
        """Runs a check of this process; how a worker of its ended is a finding."""

        def run(found) -> str:
            try:
                make = functools.partial(self.child, name)
                return CHECKS[name].function(make, self._call, found)
            except Crash as crash:
                found.fail(*self._crashed(crash), line=self._sample_line())
            except WorkerError as error:
                found.fail(*refused(*error.args))
            return ""

        return run_check(name, _chapter(name), run)


def _worker(name: str) -> str | None:
    return CHECKS[name].worker if name in CHECKS else "most"


def _chapter(name: str) -> str:
    return CHECKS[name].chapter if name in CHECKS else ""
