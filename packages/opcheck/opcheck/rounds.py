"""Rounds of generated calls, for the ops of one file: `python -m opcheck fuzz x_fuzz.py`.

Such a file holds `FUZZ`, from the name of each op that the libraries beside it register to how to call it: an op, a
strategy of `opcheck.strategies.calls` and a reference; or to a string that says why not. First `opcheck.fuzz`
looks for a failure and shrinks it. Then come calls by the thousand in this process, from several threads with
--threads: each that Hypothesis thinks of, and that call again with other values. The op must return what the
reference returns, and refuse what the reference raises an error for and nothing else; NotImplementedError alone
says that the reference does not know. Few calls may be refused, and not all be of one kind: they test little. Each
dtype of a kernel is among them.
"""

import argparse
import collections
import contextlib
import itertools
import pickle
import re
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import tensorflow as tf
from hypothesis.strategies import SearchStrategy

from opcheck.findings.compare import difference
from opcheck.fuzzing import allowed, fuzz, generate, kind_of
from opcheck.inputs.samples import as_arrays
from opcheck.inputs.variations import variations
from opcheck.references import outputs_of
from opcheck.subject import CLEAN_ERRORS, is_builtin, kernels_of, registered
from opcheck.tensors import arrays, constant, tensors_of
from opcheck.usage import BadUse, load

VARIATIONS = 50
LEAST_DRAWN = 50
LEAST_COMPARED = 0.1
LEAST_KINDS = 5
MOST_DRAWN = 500


class Target(NamedTuple):
    """How to fuzz an op.

    Attributes:
      op: A function of a module.
      strategy: For its inputs and attrs.
      reference: From the same arguments to the result, in NumPy; or why there is none.
      skip: What `opcheck.fuzz` is not to look at.
    """

    op: Callable
    strategy: SearchStrategy
    reference: Callable | str
    skip: tuple[str, ...] = ()

    def judge(self, inputs: list, attrs: dict) -> tuple[str, str]:
        """Calls the op and its reference.

        Returns:
          "refused", "compared" or, where there is nothing to compare, "answered"; and what is wrong, nothing in most
          cases.
        """
        actual, refusal = [], ""
        try:
            tensors = tf.nest.map_structure(constant, inputs)
            actual = arrays(tensors_of(self.op(*tensors, **attrs)))
        except CLEAN_ERRORS as error:
            refusal = str(error)
        except MemoryError:
            return "answered", ""
        except Exception as error:
            return "refused", f"{type(error).__name__}: {error}"
        kind = "refused" if refusal else "answered"
        if isinstance(self.reference, str):
            return kind, ""
        try:
            expected = outputs_of(self.guarded, inputs, attrs)
        except NotImplementedError:
            return kind, ""
        except Exception as error:
            seen = f"an answer where the reference has none ({error!r})"
            return kind, "" if refusal else seen
        if refusal:
            return kind, f"refused, though the reference has an answer: {refusal}"
        if different := difference(expected, actual, strict=False):
            expected = allowed(self.guarded, inputs, attrs, expected, actual)
            different = difference(expected, actual, strict=False)
        return "compared", different

    def guarded(self, *inputs, **attrs):
        """The reference, without answer to subnormal numbers, which are zero to TensorFlow's threads."""
        for array in map(np.asarray, tf.nest.flatten(inputs)):
            if array.dtype.kind == "f":
                small = np.abs(array) < np.finfo(array.dtype).tiny
                if np.any(small & (array != 0)):
                    raise NotImplementedError("a subnormal number")
        return self.reference(*inputs, **attrs)


def types_of(inputs: list, attrs: dict) -> set[str]:
    """The dtypes of a call, those in its attrs included."""
    flat = map(np.asarray, tf.nest.flatten(inputs))
    named = re.findall(r"\w+", repr(attrs))
    return {*named, *(tf.as_dtype(array.dtype).name for array in flat)}


def types_of_kernels(name: str) -> set[str]:
    """The dtypes for which an op has kernels on the CPU, as far as these name any."""
    return {
        tf.as_dtype(one).name
        for kernel in kernels_of(name, "CPU")
        if not kernel.label
        for constraint in kernel.constraint
        for one in constraint.allowed_values.list.type
    }


def batches(strategy: SearchStrategy, count: int, use: Callable[[list], None]) -> None:
    """Gives `use` lists of pairs of inputs and attrs, `count` pairs in all.

    The first pair of each list is Hypothesis's, the others have its shapes and attrs and other values.
    """
    size = min(VARIATIONS, -(-count // LEAST_DRAWN))
    done = seed = 0
    while done < count:

        def one(call: tuple[list, dict]) -> None:
            nonlocal done
            inputs, attrs = call
            calls = variations(as_arrays(inputs), 2 * size, extremes=True)
            of_one_shape = (varied for varied, same in calls if same)
            some = itertools.islice(of_one_shape, min(size, count - done))
            batch = [(varied, attrs) for varied in some]
            done += len(batch)
            use(batch)

        generate(one, strategy, count=-(-(count - done) // size), seed=seed)
        seed += 1


def fuzz_op(
    name: str,
    target: Target,
    calls: int = 10_000,
    shrink: int = 100,
    threads: int = 1,
    state: BinaryIO | None = None,
) -> tuple[bool, str]:
    """Fuzzes one op.

    Args:
      name: Of the registered op.
      target: How to call it.
      calls: How many are generated.
      shrink: How many are generated by `opcheck.fuzz` before.
      threads: That call at the same time.
      state: Always holds the last call, pickled.

    Returns:
      Whether all went well, and what to say.
    """
    start = time.process_time()
    without = isinstance(target.reference, str)
    if shrink:
        report = fuzz(
            target.op,
            target.strategy,
            examples=shrink,
            reference=None if without else target.guarded,
            skip=target.skip,
            progress=False,
        )
        if report.failures:
            return False, str(report)
    tally, wrong = collections.Counter(), []
    kinds_of_calls, types = set(), set()

    def one(call) -> tuple[str, str]:
        if state:
            state.seek(0)
            state.write(pickle.dumps((name, *call)))
        return target.judge(*call)

    def use(batch: list) -> None:
        kinds_of_calls.add(kind_of(*batch[0]))
        types.update(types_of(*batch[0]))
        for call, (kind, seen) in zip(batch, run(one, batch)):
            tally[kind] += 1
            if seen:
                wrong.append(f"{target.op.__name__}{call}: {seen}")

    with ThreadPoolExecutor(threads) as pool:
        run = map if threads == 1 else pool.map
        batches(target.strategy, calls, use)
    if wrong:
        return False, "\n".join([f"{len(wrong)} wrong answers", *wrong[:3]])
    if len(kinds_of_calls) < LEAST_KINDS:
        seen = f"{len(kinds_of_calls)} kinds of calls, of shapes, dtypes and attrs"
        return False, f"the strategy makes only {seen}"
    if types_of_kernels(name) - types:  # few calls may be without it by chance

        def more(call: tuple[list, dict]) -> None:
            types.update(types_of(*call))

        generate(more, target.strategy, count=MOST_DRAWN, seed=0)
    if missing := types_of_kernels(name) - types:
        return False, f"no calls for the kernels of {', '.join(sorted(missing))}"
    kinds = ", ".join(f"{tally[kind]} {kind}" for kind in sorted(tally))
    if not without and tally["compared"] < LEAST_COMPARED * calls:
        return False, f"too few calls can be compared: {kinds}"
    took = f"{time.process_time() - start:.1f} s"
    said = f"{shrink + calls} calls in {took}: {kinds}"
    return True, f"{said}, {target.reference}" if without else said


def results(
    file: Path, state: Path | None = None, **options: int
) -> Iterator[tuple[bool, str]]:
    """For each op of a file, whether all went well, and what to say; the ops that are missing come last.

    Args:
      file: Holds `FUZZ`.
      state: A file for the last call.
      **options: Of `fuzz_op`.
    """
    before, folder = set(registered()), file.parent
    sys.path[:0] = [str(folder), str(folder.parent)]
    targets = load(f"{file}:FUZZ")
    if not isinstance(targets, dict):
        raise BadUse(f"{file}: FUZZ is not a dictionary")
    with state.open("wb", buffering=0) if state else contextlib.nullcontext() as opened:
        for name, target in targets.items():
            if isinstance(target, str):
                yield True, f"{name}: left out, {target}"
            else:
                fine, text = fuzz_op(name, Target(*target), state=opened, **options)
                yield fine, f"{name}: {text}"
    for library in folder.glob("lib*.so"):
        with contextlib.suppress(Exception):  # some are not to be loaded
            tf.load_op_library(str(library))
    new = {name for name in set(registered()) - before if not is_builtin(name)}
    for names, said in (
        (
            new - set(targets),
            "FUZZ has no strategy for {}, which a library beside it has",
        ),
        (set(targets) - new, "FUZZ has {}, and no library beside it has this op"),
    ):
        for name in sorted(names):
            yield False, said.format(name)


def failures(*arguments, **options) -> list[str]:
    """Of the `results`, what went wrong."""
    return [text for fine, text in results(*arguments, **options) if not fine]


def last_call(state: Path) -> str:
    """The call that a process with --state made when it died."""
    try:
        name, inputs, attrs = pickle.loads(state.read_bytes())
    except (OSError, EOFError, pickle.UnpicklingError):
        return "before the first one"
    return f"{name}: inputs {inputs!r}, attrs {attrs!r}"


def main(options: argparse.Namespace) -> int:
    """Runs `fuzz`: 0 if nothing was found, else 1."""
    given = {name: value for name, value in vars(options).items() if name != "command"}
    failed = False
    for fine, text in results(**given):
        print(text, flush=True)
        failed |= not fine
    return int(failed)
