"""Many generated calls of the ops of the book: `python tools/fuzz.py examples/x/x_fuzz.py`.

Such a file holds `FUZZ`, from the name of each op that its libraries register to how to call it: an op, a
strategy of `opcheck.strategies.calls` and a reference; or to a string that says why not. First `opcheck.fuzz`
looks for a failure and shrinks it. Then come calls by the thousand in this process, from several threads with
--threads: each that Hypothesis thinks of, and that call again with other values. The op must return what the
reference returns, and refuse what the reference raises an error for and nothing else; NotImplementedError alone
says that the reference does not know. Few calls may be refused: they test little.
"""

import argparse
import collections
import contextlib
import functools
import importlib
import os
import pickle
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

if __name__ == "__main__":  # thousands of calls are to end with an error
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import hypothesis
import numpy as np
import tensorflow as tf
from hypothesis.strategies import SearchStrategy
from tensorflow.core.framework.op_def_pb2 import OpList
from tensorflow.python.client import pywrap_tf_session

import opcheck
from opcheck.compare import difference

VARIATIONS = 50
LEAST_DRAWN = 100
LEAST_COMPARED = 0.1
CLEAN = (
    tf.errors.InvalidArgumentError,
    tf.errors.NotFoundError,
    tf.errors.ResourceExhaustedError,
    tf.errors.UnimplementedError,
    TypeError,
    ValueError,
)


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


def load(path: Path) -> dict[str, Target | str]:
    """Imports the `FUZZ` of a file."""
    sys.path[:0] = [str(path.parent), str(path.parent.parent)]
    fuzz = importlib.import_module(path.stem).FUZZ
    return {
        name: found if isinstance(found, str) else Target(*found)
        for name, found in fuzz.items()
    }


def registered_by(folder: Path, before: set[str]) -> set[str]:
    """The names of the ops of all libraries of a folder: after this, those of several versions cannot be called."""
    for library in folder.glob("lib*.so"):
        with contextlib.suppress(Exception):  # some are not to be loaded
            tf.load_op_library(str(library))
    return registered() - before


def registered() -> set[str]:
    """The names of all ops of this process, but for TensorFlow's own."""
    ops = pywrap_tf_session.TF_GetAllOpList()
    names = {
        op.name for op in OpList.FromString(pywrap_tf_session.TF_GetBuffer(ops)).op
    }
    return {name for name in names if not hasattr(tf.raw_ops, name)}


def varied(array: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """An array of the same shape and dtype, with other values: moved, or some of them extreme."""
    flat = array.flatten()
    if random.random() < 0.5:
        flat = random.permutation(flat)
    if flat.dtype == object:
        for i in np.flatnonzero(random.random(flat.size) < 0.3):
            text = bytearray(flat[i])
            text[random.integers(len(text) + 1) :] = random.bytes(random.integers(40))
            flat[i] = bytes(text)
    elif flat.dtype != bool and random.random() < 0.4:
        chosen = random.random(flat.size) < random.choice([0.1, 0.5, 1.0])
        flat[chosen] = random.choice(extremes(flat.dtype), chosen.sum())
    return flat.reshape(array.shape)


@functools.cache
def extremes(dtype: np.dtype) -> np.ndarray:
    """Values at which kernels go wrong."""
    if np.issubdtype(dtype, np.integer):
        limits = np.iinfo(dtype)
        numbers = [0, 1, 2, 3, 7, 100, limits.max, limits.max - 1, limits.min]
        return np.array(numbers + [-1] * (limits.min < 0), dtype)
    numbers = [0, -0.0, 1, -1, 0.5, 2.5, 1e-30, 1e5, -1e38, 1e300]
    with np.errstate(over="ignore"):
        return np.array([*numbers, np.nan, np.inf, -np.inf]).astype(dtype)


def constant(value):
    """Tensors from arrays, those of lists too."""
    if isinstance(value, list | tuple):
        return [constant(one) for one in value]
    value = np.asarray(value)
    text = value.dtype == object
    return tf.constant(
        value.tolist() if text else value, tf.string if text else None, value.shape
    )


def array(tensor: tf.Tensor) -> np.ndarray:
    """A tensor's values; NumPy itself would take the zero bytes off the end of a scalar string."""
    return np.array(tensor.numpy(), object if tensor.dtype == tf.string else None)


def judge(target: Target, inputs: list, attrs: dict) -> tuple[str, str]:
    """Calls an op and its reference.

    Returns:
      "refused", "compared" or, where there is nothing to compare, "answered"; and what is wrong, nothing in most
      cases.
    """
    outputs, refusal = None, ""
    try:
        outputs = target.op(*map(constant, inputs), **attrs)
    except CLEAN as error:
        refusal = str(error)
    except Exception as error:
        return "refused", f"{type(error).__name__}: {error}"
    kind = "refused" if refusal else "answered"
    if isinstance(target.reference, str):
        return kind, ""
    try:
        with np.errstate(all="ignore"):
            expected = compared(target.reference)(*inputs, **attrs)
    except NotImplementedError:
        return kind, ""
    except Exception as error:
        seen = f"an answer where the reference has none ({error!r})"
        return kind, "" if refusal else seen
    if refusal:
        return kind, f"refused, though the reference has an answer: {refusal}"
    expected = [np.asarray(one) for one in tf.nest.flatten(expected)]
    actual = [array(one) for one in tf.nest.flatten(outputs)]
    return "compared", difference(expected, actual, strict=False)


def compared(reference: Callable) -> Callable:
    """A reference without answer to subnormal numbers, which are zero to TensorFlow's threads."""

    def guarded(*inputs, **attrs):
        for array in map(np.asarray, tf.nest.flatten(inputs)):
            if array.dtype.kind == "f":
                small = np.abs(array) < np.finfo(array.dtype).tiny
                if np.any(small & (array != 0)):
                    raise NotImplementedError("a subnormal number")
        return reference(*inputs, **attrs)

    return guarded


def batches(strategy: SearchStrategy, count: int, use: Callable[[list], None]) -> None:
    """Gives `use` lists of pairs of inputs and attrs, `count` pairs in all.

      The first pair of each list is Hypothesis's, the others have its shapes and attrs and, half of the time for each
    input, other values.
    """
    random = np.random.default_rng(0)
    size = min(VARIATIONS, -(-count // LEAST_DRAWN))
    done = seed = 0
    while done < count:

        @hypothesis.seed(seed)
        @hypothesis.settings(
            max_examples=-(-(count - done) // size),
            deadline=None,
            database=None,
            phases=[hypothesis.Phase.generate],
            suppress_health_check=list(hypothesis.HealthCheck),
        )
        @hypothesis.given(strategy)
        def one(call):
            nonlocal done
            inputs, attrs = call
            batch = [(inputs, attrs)]
            while len(batch) < min(size, count - done):
                batch.append(
                    (
                        tf.nest.map_structure(
                            lambda x: (
                                varied(np.asarray(x), random)
                                if random.random() < 0.5
                                else x
                            ),
                            inputs,
                        ),
                        attrs,
                    )
                )
            done += len(batch)
            use(batch)

        one()
        seed += 1


def fuzz(name: str, target: Target, options: argparse.Namespace) -> tuple[bool, str]:
    """Fuzzes one op.

    Returns:
      Whether all went well, and what to say.
    """
    start = time.process_time()
    without = isinstance(target.reference, str)
    if options.shrink:
        report = opcheck.fuzz(
            target.op,
            target.strategy,
            examples=options.shrink,
            seconds=60,
            reference=None if without else compared(target.reference),
            skip=target.skip,
            progress=False,
        )
        if not report.ok:
            return False, str(report)
    tally = collections.Counter()
    failures = []

    def one(call) -> tuple[str, str]:
        if options.state:
            options.state.seek(0)
            options.state.write(pickle.dumps((name, *call)))
        return judge(target, *call)

    def use(batch: list) -> None:
        for call, (kind, seen) in zip(batch, run(one, batch)):
            tally[kind] += 1
            if seen:
                failures.append(f"{target.op.__name__}{call}: {seen}")

    with ThreadPoolExecutor(options.threads) as pool:
        run = map if options.threads == 1 else pool.map
        batches(target.strategy, options.calls, use)
    if failures:
        return False, "\n".join([f"{len(failures)} wrong answers", *failures[:3]])
    kinds = ", ".join(f"{tally[kind]} {kind}" for kind in sorted(tally))
    took = (
        f"{options.shrink + options.calls} calls in {time.process_time() - start:.1f} s"
    )
    if without:
        return True, f"{took}: {kinds}, {target.reference}"
    if tally["compared"] < LEAST_COMPARED * options.calls:
        return False, f"too few calls can be compared: {kinds}"
    return True, f"{took}: {kinds}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--calls", type=int, default=10_000, help="of each op")
    parser.add_argument(
        "--shrink", type=int, default=100, help="calls by opcheck.fuzz before"
    )
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument(
        "--state",
        type=lambda path: open(path, "wb", buffering=0),
        help="a file that always holds the last call, pickled",
    )
    options = parser.parse_args()
    failed = False
    before = registered()
    targets = load(options.file)
    for name, target in targets.items():
        if isinstance(target, str):
            print(f"{name}: left out, {target}", flush=True)
            continue
        fine, text = fuzz(name, target, options)
        print(f"{name}: {text}", flush=True)
        failed |= not fine
    if different := registered_by(options.file.parent, before) ^ set(targets):
        print(
            f"FUZZ and the libraries beside it disagree about {', '.join(sorted(different))}"
        )
        failed = True
    sys.exit(failed)


if __name__ == "__main__":
    main()
