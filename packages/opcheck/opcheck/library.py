"""`python -m opcheck lib.so`: the ops of a library, with samples that are guessed from their interfaces."""

import argparse
import itertools
import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from opcheck.arguments import check_name, choose
from opcheck.findings.report import Report, Result, by_signal, essence
from opcheck.findings.source import function_of, line
from opcheck.inputs.guesses import RANKS, combined, guesses, named
from opcheck.locations import LibraryOp, locate, ops_of
from opcheck.processes import calls
from opcheck.processes.children import Child, Crash, WorkerError
from opcheck.run import check
from opcheck.usage import BadUse

_MOST_CRASHES = 20
_MOST_SECONDS = 20  # of guessing


@dataclass
class Found:
    """An op of a library, and what came of it.

    Attributes:
      op_type: Its name.
      sample: The call that it took, as a line of Python; empty without one.
      left_out: Why it was not checked, if so.
      report: Of the checks.
    """

    op_type: str
    sample: str = ""
    left_out: str = ""
    report: Report | None = None
    failures: list[Result] = field(default_factory=list)

    def as_dict(self) -> dict:
        """What JSON can hold."""
        told = ("check", "detail", "expected", "seen", "line")
        return {
            "op": self.op_type,
            "sample": self.sample,
            "left_out": self.left_out,
            "failures": [
                {name: getattr(one, name) for name in told} for one in self.failures
            ],
        }


def look_at(
    file: str, op_def, timeout: float, sample: tuple | None = None, **options
) -> Found:
    """Guesses a sample of an op of a library, and runs the checks that need no reference."""
    try:
        op = LibraryOp(file, function_of(op_def.name))
    except AttributeError as error:
        return Found(op_def.name, left_out=str(error))
    if not op.handles:
        return look_at_function(op, op_def, timeout, sample, **options)
    from tensorflow.core.framework.types_pb2 import DT_FLOAT

    of_values = type(op_def)()
    of_values.CopyFrom(op_def)
    for i in op.handles:
        of_values.input_arg[i].type = DT_FLOAT
    skip = dict.fromkeys(("dtypes", "gradient"), "a variable of floats was guessed")
    return look_at_function(op, of_values, timeout, sample, skip=skip, **options)


def look_at_function(
    op: Callable,
    op_def,
    timeout: float,
    sample: tuple | None = None,
    skip: dict | None = None,
    **options,
) -> Found:
    """Does the same for a function that a child process can import, and that takes the op's inputs by position.

    Args:
      op: The function.
      op_def: Of the op.
      timeout: Seconds of a call.
      sample: Inputs and attrs, if they are known; else they are guessed.
      skip: Checks that do not run, and why, besides `reference`.
      **options: Of `opcheck.check`.
    """
    found, taken = _guessed(op, op_def, timeout, sample)
    if taken is None:
        return found
    inputs, attrs = taken
    found.report = check(
        op,
        *inputs,
        attrs=attrs,
        skip={"reference": "none for a foreign op", **(skip or {})},
        fast=True,
        timeout=timeout,
        **options,
    )
    found.failures += found.report.failures
    return found


def _guessed(op: Callable, op_def, timeout: float, sample: tuple | None):
    """What came of the guesses, and the inputs and attrs that the op took."""
    found = Found(op_def.name)
    start = {"location": locate(op)}
    # One call is enough.
    start["options"] = {"memory": 4 << 30, "nondeterministic": True}
    refused, crashes, seen = "", 0, set()
    end = time.monotonic() + _MOST_SECONDS
    with Child(None, timeout, **start) as child:
        some = _tried(child, op_def) if sample is None else [sample]
        try:
            for inputs, attrs in some:
                try:
                    # The shape function may refuse what the kernel takes.
                    ask = {
                        "inputs": inputs,
                        "attrs": attrs,
                        "modes": ("eager", "graph"),
                    }
                    outcomes = child.ask(calls.call, **ask)
                except Crash as crash:
                    crashes += 1
                    died = re.sub(r"\d+", "", str(crash))
                    if died not in seen:
                        shown = line(start["location"], op, inputs, attrs)
                        found.failures.append(
                            Result(
                                *("guess", "fail", "a call that was guessed"),
                                *("a result or a TensorFlow error", str(crash)),
                                *(by_signal(str(crash)), "", shown),
                            )
                        )
                    seen.add(died)
                    refused = "the process dies of each"
                    if crash.hung or crashes == _MOST_CRASHES:
                        break
                    continue
                errors = [one.error for one in outcomes if one.outputs is None]
                if not errors:
                    found.sample = line(start["location"], op, inputs, attrs)
                    return found, (inputs, attrs)
                refused = errors[0]
                if time.monotonic() > end:
                    break
        except (LookupError, WorkerError) as error:
            refused = str(error)
    found.left_out = f"no call was guessed: {' '.join(essence(refused).split())[:120]}"
    return found, None


def _tried(child: Child, op_def) -> Iterator[tuple[list, dict]]:
    """All guesses, those that names suggest first."""
    by_names = list(named(op_def))
    for candidates, attrs in by_names:
        yield [some[0] for some in candidates], attrs
    for candidates, attrs in by_names:
        most = max(map(len, candidates), default=0)
        rows = [[some[n % len(some)] for some in candidates] for n in range(most)]
        if len(candidates) > 1 and (taken := _accepted(child, rows, attrs)):
            candidates = [
                [x for n, x in enumerate(some) if n in numbers]
                for some, numbers in zip(candidates, taken)
            ]
        for inputs in combined(candidates):
            yield inputs, attrs
    ranks = None
    if len(op_def.input_arg) > 1:
        inputs, (attrs, *_) = zip(*itertools.islice(guesses(op_def), len(RANKS)))
        taken = _accepted(child, inputs, attrs)
        ranks = taken and [[RANKS[i] for i in one] or RANKS for one in taken]
    yield from guesses(op_def, ranks)


def _accepted(child: Child, samples: Sequence, attrs: dict) -> list[list[int]] | None:
    """For each input the samples that the shape function takes while it knows nothing of the other inputs."""
    try:
        return child.ask(calls.accepted, samples=list(samples), attrs=attrs)
    except (Crash, WorkerError):
        return None


def main(options: argparse.Namespace) -> int:
    """Runs the command: 0 if no check failed, else 1."""
    file = str(options.file.resolve())
    try:
        definitions = ops_of(file)
        wanted = options.ops or list(definitions)
        for name in wanted:
            check_name("op", name, definitions)
    except ValueError as error:
        raise BadUse(f"{options.file}: {error}") from None
    try:
        choose(options.checks, None)
    except ValueError as error:
        raise BadUse(str(error)) from None
    ops = "op" if len(definitions) == 1 else "ops"
    print(f"{options.file}: {len(definitions)} {ops}: {', '.join(definitions)}")
    if options.list:
        return 0
    failed, everything = 0, []
    for name in wanted:
        found = look_at(file, definitions[name], options.timeout, checks=options.checks)
        failed += bool(found.failures)
        everything.append(found)
        if options.json:  # after each op, since the next one may take long
            options.json.write_text(json.dumps([one.as_dict() for one in everything]))
        print()
        if found.left_out:
            print(f"{name}: left out, {found.left_out}")
        else:
            print(f"{found.report.summary()}\n  sample    {found.sample}")
        for one in (one for one in found.failures if one.check == "guess"):
            print(one.explanation())
        for text in found.report.explanations() if found.report else ():
            print(text, flush=True)
    left_out = sum(bool(one.left_out) for one in everything)
    if not failed and not any(one.report and one.report.ok for one in everything):
        raise BadUse(f"{options.file}: no op was checked")
    told = f", {left_out} left out" if left_out else ""
    print(f"\n{failed} of {len(wanted)} ops with failures{told}")
    return int(failed > 0)
