"""`opcheck.fuzz`: generated calls, and the smallest one that fails."""

import contextlib
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import hypothesis
import numpy as np
from hypothesis import strategies as st

from opcheck import registry
from opcheck.arguments import by_name, check_name, check_numbers, name_of
from opcheck.findings.compare import compared, is_inexact, mentions, wide
from opcheck.findings.expected import with_expected
from opcheck.findings.report import (
    ANSWERED,
    FORWARDED,
    KEPT,
    NOT_ALONE,
    Report,
    Result,
    by_signal,
    describe_error,
    essence,
    likely_cause,
)
from opcheck.findings.source import in_turn
from opcheck.inputs import generated
from opcheck.inputs.samples import as_arrays, flattened, packed
from opcheck.inputs.variations import calls_of
from opcheck.locations import locate
from opcheck.processes import calls
from opcheck.processes.children import Child, Crash, WorkerError
from opcheck.processes.worker import place
from opcheck.references import is_refusal, outputs_of
from opcheck.run import Call
from opcheck.subject import Subject

# What was expected, and the likely cause where it did not come.
_KINDS = {
    "crash": (
        "a result or a TensorFlow error",
        "",
    ),
    "eager_vs_graph": (
        "the same, eager and in a graph",
        "a kernel that keeps something between calls, or a check that only the kernel or only the "
        "shape function makes",
    ),
    "static_shape": (
        "an inferred shape that holds",
        "the shape function and the kernel disagree",
    ),
    "immutability": (
        "every input as it was",
        "the kernel writes to an input's memory",
    ),
    "determinism": (
        "the same values in two calls of one graph, or an op that is stateful",
        "a missing .SetIsStateful()",
    ),
    "bad_input": (
        "InvalidArgumentError or the like, which names an input or attr",
        "an error that is not about the input, or does not name it",
    ),
    "reference": (
        "what the reference computes",
        "",
    ),
}
_NO_ANSWER = "the reference is wrong, or no generated call is one that it knows"
_A_RESULT = "a result, where the reference raises "
_BEFORE = 16  # calls that may have a part in what comes after them
_NUDGES = 4
_ROUNDINGS = 16  # times the last bits of the inputs
CHECKS = tuple(kind for kind in _KINDS if kind in registry.CHECKS)


def _shapes(inputs: Sequence) -> tuple:
    return tuple(x.shape for x in flattened(inputs))


class FuzzReport(Report):
    """What fuzzing found.

    Attributes:
      calls: The number of generated calls, those of the shrinking included.
      errors: How many of them ended in a clean error.
      kinds: How many of them had shapes, dtypes or attrs that no call before them had.
      failing: The inputs and the attrs of the failing ones, as they came.
    """

    def __init__(
        self,
        subject: str,
        result: Result,
        calls: int,
        errors: int,
        failing: Sequence[tuple[list, dict]] = (),
        kinds: int = 0,
    ):
        super().__init__(subject, [result])
        self.calls = calls
        self.errors = errors
        self.kinds = kinds
        self.failing = list(failing)

    def table(self, colour: bool = False) -> str:
        """As of a report of several checks; a failure stands there only once."""
        if not self.failures:
            return super().table(colour)
        return "\n\n".join([self.summary(), *self.explanations()])

    @property
    def line(self) -> str:
        """Python that makes the smallest call that fails; else empty."""
        return self.results[0].line


def kind_of(inputs: Sequence, attrs: Mapping) -> str:
    """What of a call is not its values: shapes, dtypes and attrs."""
    return repr(([(x.shape, x.dtype) for x in flattened(inputs)], attrs))


def allowed(reference: Callable, inputs, attrs, wanted: list, seen: list) -> list:
    """What is wanted, or what is seen where that is no farther away than the last bits of the inputs move it.

    A sum whose terms cancel moves as far whichever way the inputs are nudged; at a step, one of the ways goes nowhere.

    Args:
      reference: The function that has computed what is wanted.
      inputs: Arrays and lists of arrays.
      attrs: Keyword arguments.
      wanted: Of the reference.
      seen: Of the op.
    """
    try:
        near = [
            [
                outputs_of(reference, _nudged(inputs, seed, way), attrs)
                for way in (1, -1)
            ]
            for seed in range(_NUDGES)
        ]
        return [
            _or_as_far(one, got, [[up[i], down[i]] for up, down in near])
            for i, (one, got) in enumerate(zip(wanted, seen, strict=True))
        ]
    except Exception:  # these are no valid calls any more, or shapes differ
        return wanted


def _nudged(inputs: Sequence, seed: int, way: int) -> list:
    """Inputs with the number next to each float, at random above or below; for -1 on the other side."""
    random, flat = np.random.default_rng(seed), []
    for x in flattened(inputs):
        if x.dtype.kind == "f":
            to = random.choice([-np.inf, np.inf], x.shape) * way
            x = np.nextafter(x, to.astype(x.dtype))
        flat.append(x)
    return packed(inputs, flat)


def _or_as_far(wanted: np.ndarray, seen: np.ndarray, near: Sequence) -> np.ndarray:
    if not (is_inexact(wanted.dtype) and is_inexact(seen.dtype)):
        return wanted
    middle, got = wide(wanted, seen)
    with np.errstate(all="ignore"):
        moved = [np.min([np.abs(x - middle) for x in wide(*both)], 0) for both in near]
        as_far = np.abs(got - middle) <= _ROUNDINGS * np.max(moved, 0)
    return np.where(as_far, got, middle)


def generate(use: Callable, *strategies, count: int, seed: int) -> None:
    """Calls a function with so many examples of Hypothesis; where it raises, with smaller ones."""

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=(hypothesis.Phase.generate, hypothesis.Phase.shrink),
        report_multiple_bugs=False,
        suppress_health_check=list(hypothesis.HealthCheck),
        verbosity=hypothesis.Verbosity.quiet,
    )
    @hypothesis.given(st.tuples(*strategies))
    def one(drawn):
        use(*drawn)

    one()


@dataclass(frozen=True)
class _Failure:
    kind: str
    seen: str
    inputs: list
    attrs: dict
    modes: tuple = ("eager",)
    shapes: list | None = None

    def size(self) -> tuple:
        """Smaller is better to look at."""
        arrays = flattened(self.inputs)
        text = sum(len(repr(x.tolist())) for x in arrays) + len(repr(self.attrs))
        return sum(max(1, x.size) for x in arrays), text


class _Found(Exception):
    """What Hypothesis takes for the failure."""


class _TimeIsUp(BaseException):
    """Ends Hypothesis from inside, as an interrupt from the keyboard would."""


def fuzz(
    op: Callable,
    strategy,
    examples: int = 1000,
    seconds: float = 60.0,
    reference: Callable | None = None,
    skip: str | Iterable[str] = (),
    tolerances: Mapping | None = None,
    nondeterministic: bool = False,
    variations: int = 9,
    thorough: int = 1,
    seed: int = 0,
    timeout: float = 6.0,
    memory: int = 4 << 30,
    gpu: bool = False,
    progress: bool | None = None,
) -> FuzzReport:
    """Calls an op with what Hypothesis thinks of, in a child process, and shrinks what fails.

    Each call runs eagerly and in a graph. It fails if the process dies; if the two differ; if an
    inferred shape is wrong; if an input changes; if an error is not a clean one, or names neither
    an input nor an attr; if the result is not the reference's; or if there is one where the reference itself raises
    ValueError.

    If the op refuses every call, the verdict is "skip": nothing is known of it. A reference that raises another error
    for every result, NotImplementedError apart, is a failure.

    Args:
      op: As for `opcheck.check`.
      strategy: For pairs of a list of inputs and a dictionary of attrs: `strategies.calls(…)`.
      examples: How many calls to generate at most.
      seconds: When to stop; a failing call may be shrunk for as long again.
      reference: A function that takes the same arguments and returns the result. A call for which
        it raises ValueError has to end in an error, and one for which it raises another is not compared.
      skip: What not to look for: names of `opcheck.fuzzing.CHECKS`.
      tolerances: As for `opcheck.check`.
      nondeterministic: As for `opcheck.check`.
      variations: How many further calls each example has beside the first, up to a third of them generated, the
        others derived: the same elements in other places, one input in another shape, or other attrs. They are
        cheap.
      thorough: With 1, the first call of each example also runs in a graph made for its very shapes. With 5
        only every fifth does, which is faster.
      seed: The same seed gives the same calls.
      timeout: As for `opcheck.check`.
      memory: As for `opcheck.check`.
      gpu: As for `opcheck.check`.
      progress: Whether to draw a progress bar; by default if standard error is a terminal.

    Raises:
      ValueError: The op cannot be imported by a child process, or an argument is wrong.
    """
    skip = {skip} if isinstance(skip, str) else set(skip)
    for name in skip:
        check_name("check", name, CHECKS)
    check_numbers(
        examples=examples,
        seconds=seconds,
        variations=variations,
        thorough=thorough,
        timeout=timeout,
        memory=memory,
    )
    location = locate(op)
    options = {
        "tolerances": by_name(tolerances),
        "nondeterministic": nondeterministic,
        "memory": memory,
    }
    call = Call(op, location, [], {}, options, reference)
    start = {"location": location, "options": options, "gpu": gpu}
    with Child(None, timeout, **start) as child:
        campaign = _Campaign(child, call, skip, seconds, variations, thorough)
        bar = sys.stderr.isatty() if progress is None else progress
        try:
            campaign.names = child.ask(Subject.parameters)  # its start is not counted
        except (Crash, WorkerError) as error:
            raise ValueError(
                f"a child process cannot import {name_of(op)}: {error}"
            ) from None
        campaign.run(strategy, examples, seed, bar)
        campaign.replay()
    return campaign.report()


class _Campaign:
    """One run: what was called and what failed."""

    def __init__(
        self,
        child: Child,
        call: Call,
        skip: set[str],
        seconds: float,
        variations: int,
        thorough: int,
    ):
        self.child = child
        self.call = call
        self.skip = skip
        self.seconds = seconds
        self.variations = variations
        self.thorough = thorough
        self.calls = self.errors = self.examples = self.compared = 0
        self.refused = ""  # the last clean error
        self.unanswered = ""  # what the reference raised last, without refusing
        self.names: list[str] = []
        self.alone = True
        self.largest: list[tuple[list, dict]] = []  # calls of other shapes
        self.before: list[tuple[list, dict]] = []  # what has to be called first
        self.unrepeated = ""
        self.kinds: set[str] = set()
        self.smallest: _Failure | None = None
        self.failing: list[tuple[list, dict]] = []
        self.begin = self.end = 0.0

    def run(self, strategy, examples: int, seed: int, bar: bool) -> None:
        """Lets Hypothesis generate, and shrink what fails."""
        attrs = getattr(strategy, "opcheck_attrs", None)
        others = st.just([]) if attrs is None else st.lists(attrs, max_size=2)
        # They cost less than an example, for which graphs are made.
        more = st.lists(strategy, max_size=self.variations // 3)

        def one(generated, others, more):
            self._one(*generated, others, more)
            if bar:
                self._draw(examples)

        self.begin = time.monotonic()
        self.end = self.begin + self.seconds
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Generating overly large repr")
                count = -(-examples // (1 + self.variations))
                generate(one, strategy, others, more, count=count, seed=seed)
        except (_Found, _TimeIsUp):
            pass
        except hypothesis.errors.Flaky:
            pass  # it failed once: that is enough
        finally:
            if bar:
                sys.stderr.write("\n")

    def _one(self, inputs, attrs: Mapping, others: Sequence, more: Sequence) -> None:
        if self.calls and time.monotonic() > self.end:
            raise _TimeIsUp
        inputs = as_arrays(inputs)
        more = [(as_arrays(some), dict(its_attrs)) for some, its_attrs in more]
        all_calls = list(calls_of(inputs, attrs, others, more, self.variations))
        thorough = self.examples % self.thorough == 0 or self.smallest is not None
        self.examples += 1
        try:
            outcomes = self.child.ask(
                generated.fuzz,
                inputs=inputs,
                attrs=dict(attrs),
                count=self.variations,
                thorough=thorough,
                outputs=self.call.reference is not None,
                others=others,
                more=more,
            )
        except Crash as crash:
            self.calls += 1
            number, mode, shapes = crash.doing or (0, "eager", None)
            varied, its_attrs, _ = all_calls[number]
            self._fail("crash", str(crash), varied, its_attrs, (mode,), shapes)
        for outcome, (these, its_attrs, same_shapes) in zip(outcomes, all_calls):
            self.calls += 1
            self.kinds.add(kind_of(these, its_attrs))
            if outcome.outputs is None and outcome.clean:
                self.errors += 1
                self.refused = outcome.error
            kind, seen = self._judge(outcome, these, its_attrs, same_shapes)
            if seen and kind not in self.skip:
                self._fail(kind, seen, these, its_attrs, outcome.modes, outcome.shapes)
            if outcome.outputs is not None:
                some = [*self.largest, (these, dict(its_attrs))]
                some.sort(key=lambda call: sum(x.size for x in flattened(call[0])))
                of_shape = {_shapes(one[0]): one for one in some}
                self.largest = list(of_shape.values())[-_BEFORE:]

    def _judge(self, outcome, inputs, attrs, same_shapes) -> tuple[str, str]:
        if outcome.mismatch:
            return outcome.kind, outcome.mismatch
        if not outcome.clean:
            return "bad_input", outcome.error
        if outcome.outputs is None:
            fine = outcome.generic or self._names(outcome.error, inputs, attrs)
            return "bad_input", "" if fine else outcome.error
        if self.call.reference is None or not same_shapes:
            return "", ""
        try:
            wanted = outputs_of(self.call.reference, inputs, attrs)
        except Exception as error:
            refused = f"{_A_RESULT}{describe_error(error)[:80]}"
            if is_refusal(error):
                self.compared += 1
                return "bad_input", refused
            if not isinstance(error, NotImplementedError):
                where = f" ({found})" if (found := place(error)) else ""
                self.unanswered = f"{describe_error(error)}{where}"
            return "bad_input", ""
        self.compared += 1
        options = self.call.options
        different = compared(options, wanted, outcome.outputs, strict=False)
        if different:
            given = self.call.reference, inputs, attrs
            wanted = allowed(*given, wanted, outcome.outputs)
            different = compared(options, wanted, outcome.outputs, strict=False)
        return "reference", different

    def _names(self, error: str, inputs, attrs: Mapping) -> bool:
        """Whether an error names an argument of the function, or what a library's op in it calls its own."""
        if mentions(error, [*self.names, *attrs]):
            return True
        some = {"inputs": inputs, "attrs": dict(attrs)}
        with contextlib.suppress(Crash, WorkerError):
            return mentions(error, self.child.ask(generated.own_names, **some))
        return False

    def _fail(self, kind: str, seen: str, inputs, attrs, modes, shapes) -> None:
        failure = _Failure(kind, essence(seen), inputs, dict(attrs), modes, shapes)
        self.failing.append((failure.inputs, failure.attrs))
        if self.smallest is None:
            self.end = time.monotonic() + self.seconds
            self.smallest = failure
        elif kind == self.smallest.kind and failure.size() <= self.smallest.size():
            self.smallest = failure
        raise _Found(kind)

    def replay(self) -> None:
        """Makes the smallest failing call in fresh processes: by itself, or after others, as few as will do."""
        failure = self.smallest
        if failure is None:
            return
        if failure.kind in ("reference", "eager_vs_graph"):
            self.unrepeated = self._why_unrepeated()
        if self.unrepeated:
            self.smallest = replace(failure, modes=("guarded",))
            return
        if self._fails_after([]):
            return
        shapes = _shapes(failure.inputs)
        others = [one for one in self.largest if _shapes(one[0]) != shapes]
        self.alone = bool(others) and self._fails_after(others)
        while self.alone and len(others) > 1:
            half = len(others) // 2
            halves = (others[half:], others[:half])
            fewer = next((some for some in halves if self._fails_after(some)), others)
            if fewer is others:
                break
            others = fewer
        self.before = others if self.alone else []

    def _why_unrepeated(self) -> str:
        """What it depends on, if the smallest failing call gives something else where memory holds other bytes."""
        self.child.close()
        some = {"inputs": self.smallest.inputs, "attrs": self.smallest.attrs}
        try:
            [outcome] = self.child.ask(calls.call, modes=("eager",), **some)
        except Crash:
            return ""
        return outcome.why

    def _fails_after(self, before: Sequence[tuple[list, dict]]) -> bool:
        failure = self.smallest
        self.child.close()
        asked = {"count": 0, "outputs": self.call.reference is not None}
        try:
            for inputs, attrs in before:
                self.child.ask(generated.eager, inputs=inputs, attrs=attrs)
            some = {"inputs": failure.inputs, "attrs": failure.attrs, "thorough": True}
            outcome, *_ = self.child.ask(generated.fuzz, **some, **asked)
        except Crash:
            return True
        _, seen = self._judge(outcome, failure.inputs, failure.attrs, True)
        return bool(seen)

    def _draw(self, examples: int) -> None:
        done = max(
            self.calls / examples, (time.monotonic() - self.begin) / self.seconds
        )
        filled = int(30 * min(1.0, done))
        state = "shrinking" if self.smallest else f"{self.calls} calls"
        sys.stderr.write(f"\r[{'#' * filled}{'.' * (30 - filled)}] {state:20}")
        sys.stderr.flush()

    def report(self) -> FuzzReport:
        """What came of it."""
        took = time.monotonic() - self.begin
        done = (
            f"{self.calls} generated calls in {took:.1f} s, {len(self.kinds)} with new shapes, "
            f"dtypes or attrs, {self.errors} with clean errors"
        )
        failure = self.smallest
        if failure is None and self.errors == self.calls:
            why = f"{self.calls} generated calls, and the op has taken none: "
            result = Result(
                "fuzz", "skip", why + " ".join(essence(self.refused).split())
            )
        elif failure is None and self.unanswered and not self.compared:
            result = Result(
                *("fuzz", "fail", done, "a result of the reference for some call"),
                *(f"{self.unanswered}, or the like, for each", _NO_ANSWER),
            )
        elif failure is None:
            result = Result("fuzz", "pass", done)
        else:
            expected, cause = _KINDS[failure.kind]
            seen = failure.seen
            if seen.startswith(_A_RESULT):
                raised = seen.removeprefix(_A_RESULT)
                expected, seen = (
                    f"an error, as the reference raises: {raised}",
                    "a result",
                )
                cause = ANSWERED
            flat = flattened(failure.inputs)
            cause = likely_cause(seen) or cause or by_signal(seen, flat=flat)
            if failure.modes[-1] == "owned":
                cause = FORWARDED
            if self.unrepeated:
                cause = self.unrepeated
            elif not self.alone:
                cause = NOT_ALONE
            elif self.before and failure.kind != "crash":
                cause = KEPT
            where = "bad_input" if failure.kind == "crash" else failure.kind
            line = self.call.line(
                failure.inputs, failure.attrs, failure.modes, failure.shapes
            )
            if where == "determinism":
                call = replace(self.call, inputs=failure.inputs, attrs=failure.attrs)
                line = call.check_line(where)
            line = with_expected(line, seen, expected)
            if self.before:
                line = in_turn(*(self.call.line(*one) for one in self.before), line)
            result = Result(
                "fuzz",
                "fail",
                f"{failure.kind}, after {self.calls} generated calls",
                expected,
                seen,
                cause,
                registry.CHECKS[where].chapter,
                line,
            )
        name = name_of(self.call.op)
        counts = self.calls, self.errors, self.failing, len(self.kinds)
        return FuzzReport(name, result, *counts)
