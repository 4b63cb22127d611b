"""`python -m opcheck lib.so`: the ops of a library, with samples that are guessed from their interfaces."""

import argparse
import inspect
import itertools
import json
import math
import operator
import os
import random
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from opcheck import calls
from opcheck.children import Child, Crash, WorkerError
from opcheck.report import Report, Result, essence
from opcheck.run import check, choose
from opcheck.samples import Location, locate
from opcheck.source import function_of, line

_RANKS = (1, 2, 0, 3, 4)
# The second for square matrices; the others for paddings, sizes and the like.
_SIZES = ((3, 4, 2, 5), (3, 3, 3, 3), (2, 2, 2, 2), (1, 1, 1, 1))
_MOST_TRIES = 150
_MOST_CRASHES = 20
_MOST_SECONDS = 20  # of guessing
_PREFERRED = ("float32", "int32", "int64", "string", "float64", "bool")


class LibraryOp:
    """The function that TensorFlow generates for an op of a library, as other processes find it."""

    def __init__(self, file: str, name: str):
        import tensorflow as tf

        self._function = getattr(tf.load_op_library(file), name)
        self.__name__ = name
        self.__doc__ = self._function.__doc__
        self.location = Location("", file, name)
        given = inspect.signature(self._function).parameters.values()
        some = [one for one in given if one.name != "name"]
        self.__signature__ = inspect.Signature(some)

    def __call__(self, *inputs, **attrs):
        return self._function(*inputs, **attrs)


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


def ops_of(file: str) -> dict:
    """Loads a library: the definitions of its ops, by their names.

    Raises:
      ValueError: It cannot be loaded, or has no ops.
    """
    import tensorflow as tf
    from tensorflow.core.framework.op_def_pb2 import OpList
    from tensorflow.python.client import pywrap_tf_session

    if not os.path.isfile(file):
        raise ValueError("there is no such file")
    try:
        handle = pywrap_tf_session.TF_LoadLibrary(file)
    except tf.errors.OpError as error:
        raise ValueError(
            f"it cannot be loaded: {' '.join(error.message.split())}"
        ) from None
    ops = OpList.FromString(pywrap_tf_session.TF_GetOpList(handle))
    if not ops.op:
        raise ValueError("it registers no op")
    return {op.name: op for op in ops.op}


def guesses(op_def, ranks: Sequence | None = None) -> Iterator[tuple[list, dict]]:
    """Inputs and attrs with which the op may be called, the simplest first.

    Args:
      op_def: Of the op.
      ranks: The ranks to try for each input; the same for all by default.

    Raises:
      LookupError: With the reason why nothing can be guessed.
    """
    import tensorflow as tf

    inferred = {
        name
        for arg in op_def.input_arg
        for name in (arg.type_attr, arg.number_attr, arg.type_list_attr)
        if name
    }
    attrs, types, lengths = {}, _types(op_def), {}
    for attr in op_def.attr:
        if attr.name in inferred:
            least = attr.minimum if attr.has_minimum else 1
            lengths[attr.name] = max(int(least), 2)
        elif not attr.HasField("default_value"):
            attrs[attr.name] = _value(attr, types)
    dtypes = []  # of each input; a list of them for a list
    for arg in op_def.input_arg:
        if arg.is_ref:
            raise LookupError(f"{arg.name} is a reference to a variable")
        name = types[arg.type_attr] if arg.type_attr else ""
        if arg.type:
            name = tf.as_dtype(arg.type).name
        if arg.type_list_attr:
            dtypes.append(["float32", "float32"])
            continue
        if name in ("resource", "variant"):
            raise LookupError(f"{arg.name} is a {name}")
        dtypes.append([name] * lengths[arg.number_attr] if arg.number_attr else name)
    tried = list(_ranks(ranks or [_RANKS] * len(dtypes)))
    both = itertools.product(_SIZES, tried)
    for sizes, some in itertools.islice(both, 2 * _MOST_TRIES):
        generator = np.random.default_rng(0)
        yield (
            [
                [_array(x, sizes[:rank], generator) for x in one]
                if isinstance(one, list)
                else _array(one, sizes[:rank], generator)
                for one, rank in zip(dtypes, some)
            ],
            attrs,
        )


def _types(op_def) -> dict[str, str]:
    """A dtype for each attr that is one, for all of which a kernel is registered if possible."""
    import tensorflow as tf
    from tensorflow.python.framework import kernels

    some = {}
    for attr in (attr for attr in op_def.attr if attr.type == "type"):
        allowed = [tf.as_dtype(x).name for x in attr.allowed_values.list.type]
        first = [x for x in _PREFERRED if x in allowed or not allowed]
        if attr.HasField("default_value"):
            first.insert(0, tf.as_dtype(attr.default_value.type).name)
        some[attr.name] = list(dict.fromkeys(first + allowed))
    served = []
    for kernel in kernels.get_registered_kernels_for_op(op_def.name).kernel:
        limits = {
            one.name: [tf.as_dtype(x).name for x in one.allowed_values.list.type]
            for one in kernel.constraint
        }
        types = {
            name: next((x for x in names if x in limits.get(name, names)), None)
            for name, names in some.items()
        }
        if kernel.device_type == "CPU" and None not in types.values():
            served.append(types)
    return min(
        served or [{name: names[0] for name, names in some.items()}],
        key=lambda types: sum(some[name].index(x) for name, x in types.items()),
    )


def _ranks(allowed: Sequence[Sequence[int]]) -> Iterator[tuple[int, ...]]:
    same = [(rank,) * len(allowed) for rank in _RANKS]
    same = [some for some in same if all(map(operator.contains, allowed, some))]
    if math.prod(map(len, allowed)) <= _MOST_TRIES:
        others = itertools.product(*allowed)
    else:  # some of everything
        choose_one = random.Random(0).choice
        others = (tuple(map(choose_one, allowed)) for _ in range(_MOST_TRIES))
    yield from itertools.islice(
        dict.fromkeys(itertools.chain(same, others)), _MOST_TRIES
    )


def _value(attr, types: dict):
    allowed = attr.allowed_values.list
    least = max(int(attr.minimum), 1) if attr.has_minimum else 2
    if attr.type == "type":
        import tensorflow as tf

        return tf.as_dtype(types[attr.name])
    if attr.type == "list(type)":
        import tensorflow as tf

        return [tf.float32] * least
    values = {
        "int": least,
        "float": 0.5,
        "bool": False,
        "string": allowed.s[0].decode() if allowed.s else "a",
        "shape": [2],
        "list(int)": [1] * least,
        "list(float)": [0.5] * least,
        "list(bool)": [False] * least,
        "list(string)": [allowed.s[0].decode() if allowed.s else "a"] * least,
        "list(shape)": [[2]] * least,
    }
    if attr.type not in values:
        raise LookupError(f"attr {attr.name} is a {attr.type}")
    return values[attr.type]


def _array(dtype: str, shape: tuple, generator: np.random.Generator) -> np.ndarray:
    import tensorflow as tf

    if dtype == "string":
        texts = [b"one two", b"three", b"Four. 5"]
        array = np.array([texts[i % 3] for i in range(int(np.prod(shape)))], object)
        return array.reshape(shape)
    target = tf.as_dtype(dtype)
    if target.is_quantized:
        raise LookupError(f"an input is {dtype}")
    if target.is_bool:
        return generator.integers(0, 2, shape).astype(bool)
    if target.is_integer:
        return generator.integers(0, 3, shape).astype(target.as_numpy_dtype)
    return generator.random(shape).astype(target.as_numpy_dtype)


def look_at(file: str, op_def, timeout: float, **options) -> Found:
    """Guesses a sample of an op of a library, and runs the checks that need no reference."""
    try:
        op = LibraryOp(file, function_of(op_def.name))
    except AttributeError as error:
        return Found(op_def.name, left_out=str(error))
    return look_at_function(op, op_def, timeout, **options)


def look_at_function(op: Callable, op_def, timeout: float, **options) -> Found:
    """Does the same for a function that a child process can import, and that takes the op's inputs by position."""
    found = Found(op_def.name)
    start = {"path": list(sys.path), "folder": os.getcwd(), "location": locate(op)}
    start["options"] = {
        "memory": 4 << 30,
        "nondeterministic": True,
    }  # one call is enough
    refused, crashes, seen = "", 0, set()
    end = time.monotonic() + _MOST_SECONDS
    with Child(None, timeout, **start) as child:
        try:
            for inputs, attrs in guesses(op_def, _accepted(child, op_def)):
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
                                *("the kernel trusts its input", "", shown),
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
                    break
                refused = errors[0]
                if time.monotonic() > end:
                    break
        except (LookupError, WorkerError) as error:
            refused = str(error)
    if not found.sample:
        found.left_out = (
            f"no call was guessed: {' '.join(essence(refused).split())[:120]}"
        )
        return found
    found.report = check(
        op,
        *inputs,
        attrs=attrs,
        skip={"reference": "none for a foreign op"},
        fast=True,
        timeout=timeout,
        **options,
    )
    found.failures += found.report.failures
    return found


def _accepted(child: Child, op_def) -> list[list[int]] | None:
    """The ranks that the shape function takes for each input while it knows nothing of the others."""
    if len(op_def.input_arg) < 2:
        return None
    some = itertools.islice(guesses(op_def), len(_RANKS))
    inputs, (attrs, *_) = zip(*some)
    try:
        taken = child.ask(calls.accepted, samples=list(inputs), attrs=attrs)
    except (Crash, WorkerError):
        return None
    return [[_RANKS[i] for i in one] or _RANKS for one in taken]


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser("python -m opcheck lib.so", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--list", action="store_true", help="only name the ops")
    parser.add_argument("--ops", help="only these: A,B")
    parser.add_argument("--checks", help="only these: A,B")
    parser.add_argument("--json", type=Path, help="where to write what was found")
    parser.add_argument("--timeout", type=float, default=20.0, help="seconds of a call")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> int:
    """Runs the command: 0 if no check failed, else 1."""
    options = parsed(arguments)
    file = str(options.file.resolve())
    try:
        definitions = ops_of(file)
    except ValueError as error:
        print(f"opcheck: {options.file}: {error}", file=sys.stderr)
        return 1
    ops = "op" if len(definitions) == 1 else "ops"
    print(f"{options.file}: {len(definitions)} {ops}: {', '.join(definitions)}")
    if options.list:
        return 0
    wanted = options.ops.split(",") if options.ops else list(definitions)
    if unknown := [name for name in wanted if name not in definitions]:
        print(
            f"opcheck: {options.file}: no op {', '.join(unknown)} in it",
            file=sys.stderr,
        )
        return 1
    checks = options.checks.split(",") if options.checks else None
    try:
        choose(checks, None)
    except ValueError as error:
        print(f"opcheck: {error}", file=sys.stderr)
        return 1
    failed, everything = 0, []
    for name in wanted:
        found = look_at(file, definitions[name], options.timeout, checks=checks)
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
    print(f"\n{failed} of {len(wanted)} ops with failures")
    return int(failed > 0)
