"""Runs opcheck on TensorFlow's own ops: `python packages/opcheck/wild/built_in.py FOUND.json [--seconds 3600]`.

Takes the ops in an order that depends on their names alone, guesses a call of each from its interface, runs the
checks that need no reference in child processes, and writes what was found after each op. A second run goes on
where the first one ended.
"""

import argparse
import ast
import hashlib
import importlib
import inspect
import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import tensorflow as tf
from look import looked_at
from samples import SAMPLES
from tensorflow.python.framework import kernels, op_def_registry

from opcheck.library import look_at_function

# They write files, reach other machines, wait for others, end the process on purpose or belong to a machinery.
LEFT_OUT = re.compile(
    "Save|Restore|File|Write|Read|Collective|TPU|Xla|Queue|Stage|Barrier|Dataset|Iterator|Rpc|Send|Recv|Abort|Debug"
    "|Print|Summary|Checkpoint|Ragged.*Variant|^_|V1$|Nccl|Dist|Mutex|Py[Ff]unc|Timestamp|Configure|Shutdown|Sleep"
)
MODULES = (
    *("math", "array", "nn", "image", "string", "sparse", "linalg", "random", "parsing", "bitwise", "ragged_math"),
    *("ragged_array", "ragged_conversion", "sdca", "candidate_sampling", "ctc", "audio", "data_flow", "clustering"),
    *("spectral", "stateless_random", "stateless_random_ops_v2", "special_math", "manip", "decode_proto", "count"),
    *("boosted_trees", "sparse_csr_matrix", "state", "training", "set", "rnn", "logging", "list", "map", "functional"),
)  # fmt: skip


def functions() -> dict[str, Callable]:
    """The functions that take the ops' inputs by position, by the names that `tf.raw_ops` gives the ops."""
    by_name = {}
    for name in MODULES:
        where = f"tensorflow.python.ops.gen_{name.removesuffix('_ops')}_ops"
        try:
            by_name |= vars(importlib.import_module(where))
        except ImportError:
            continue
    found = {}
    for op in dir(tf.raw_ops):
        raw = getattr(tf.raw_ops, op)
        name = getattr(raw, "__name__", "")
        if callable(by_name.get(name)) and not LEFT_OUT.search(op):
            found[op] = by_name[name]
    return found


def chosen() -> Iterator[tuple[str, Callable]]:
    """The ops with tensors in and out and a kernel for the CPU, in the order of a digest of their names."""
    ops = functions()
    for name in sorted(ops, key=lambda name: hashlib.sha256(name.encode()).digest()):
        op_def = op_def_registry.get(name)
        registered = kernels.get_registered_kernels_for_op(name).kernel
        if (
            op_def is not None
            and op_def.input_arg
            and op_def.output_arg
            and not op_def.is_stateful
            and any(one.device_type == "CPU" for one in registered)
        ):
            yield name, ops[name]


class _Public(ast.NodeTransformer):
    """Replaces a function that takes inputs by position by `tf.raw_ops.OP`, which takes them by keyword."""

    def __init__(self, op: str, function: Callable):
        self._op, self._name = op, function.__name__
        self._inputs = list(inspect.signature(function).parameters)

    def visit_Name(self, node):  # noqa: N802
        if node.id == self._name:
            return ast.parse(f"tf.raw_ops.{self._op}", mode="eval").body
        return node

    def visit_Call(self, node):  # noqa: N802
        called = ast.unparse(node.func)
        self.generic_visit(node)
        if (
            called == "tf.function"
        ):  # it passes inputs on by position, and raw ops refuse that
            node.args[0] = ast.parse(
                f"lambda **x: tf.raw_ops.{self._op}(**x)", mode="eval"
            ).body
        if called in (self._name, "call") or called.startswith("tf.function("):
            given = [ast.keyword(*pair) for pair in zip(self._inputs, node.args)]
            node.args, node.keywords = [], given + node.keywords
        return node


def public(line: str, op: str, function: Callable) -> str:
    """The line that makes the same call through `tf.raw_ops`."""
    tree = ast.parse(line)
    if f"import {function.__name__}" not in line:
        return line
    imported = [ast.unparse(one) for one in tree.body[:-1]]
    imported = [one for one in imported if "gen_" not in one and "sys" not in one]
    if "import tensorflow as tf" not in imported:
        imported.insert(0, "import tensorflow as tf")
    call = _Public(op, function).visit(tree.body[-1])
    return "; ".join([*imported, ast.unparse(call)])


def main() -> None:
    """Looks at ops until time is up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("found", type=Path)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--ops", help="only these: A,B")
    options = parser.parse_args()
    if not options.found.resolve().parent.is_dir():
        parser.exit(1, f"built_in.py: there is no folder {options.found.parent}\n")
    end = time.monotonic() + options.seconds
    seen = json.loads(options.found.read_text()) if options.found.exists() else []
    wanted = options.ops.split(",") if options.ops else None
    for name, op in chosen():
        if time.monotonic() > end:
            break
        if (wanted and name not in wanted) or any(one["op"] == name for one in seen):
            continue
        start = time.monotonic()
        sample = SAMPLES["tensorflow-cpu"].get(name)
        op_def = op_def_registry.get(name)
        told = looked_at(look_at_function, op, op_def, sample)
        found = f"{len(told['failures'])} {told['left_out']}"
        print(f"{name}: {found} {time.monotonic() - start:.0f} s", flush=True)
        for one in told["failures"]:
            one["line"] = public(one["line"], name, op)
        seen.append(told)
        options.found.write_text(json.dumps(seen, indent=1))


if __name__ == "__main__":
    main()
