"""Runs opcheck on the ops of an installed library, or of TensorFlow itself, with samples of samples.py or guesses:

    pip install --no-deps deepmd-kit==3.2.0; pip install tensorflow-cpu==2.21.0
    python packages/opcheck/wild/look.py FOUND.json deepmd-kit [--ops A,B] [--seconds 3600]

FOUND.json gets what was found after each op. A second run goes on where the first one ended. TensorFlow's own ops,
those of tensorflow-cpu, come in an order that depends on their names alone.
"""

import argparse
import functools
import hashlib
import importlib
import importlib.metadata
import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import tensorflow as tf
from samples import SAMPLES
from tensorflow.python.framework import op_def_registry

from opcheck.library import Found, look_at, look_at_function, ops_of
from opcheck.subject import kernels_of

# They reach other machines, write files, wait for others, end the process on purpose or belong to a machinery.
OF_OTHERS = re.compile(
    "Kafka|Http|Big[A-Z]|Bigtable|Bigq|Pub[Ss]ub|Sql|Elastic|Mongo|Atlas|Genome|Prometheus|LLVM|Video|Write|Save"
    "|Load|Readable|Writable|Layer|Grpc|Oss|Azfs|Hdfs|Redis|Dataset|Arrow|Record|BabelSequence|GenericInput"
)
OF_TENSORFLOW = re.compile(
    "Save|Restore|File|Write|Read|Collective|TPU|Xla|Queue|Stage|Barrier|Dataset|Iterator|Rpc|Send|Recv|Abort|Debug"
    "|Print|Summary|Checkpoint|Ragged.*Variant|^_|V1$|Nccl|Dist|Mutex|Py[Ff]unc|Timestamp|Configure|Shutdown|Sleep"
)


def of_library(name: str) -> Iterator[tuple[str, str, Callable]]:
    """Each op of an installed library: its file, its name, and what looks at it."""
    for place in sorted(importlib.metadata.files(name)):
        file = Path(place.locate())
        if file.suffix != ".so" or b"OpDefBuilder" not in file.read_bytes():
            continue
        try:
            definitions = ops_of(str(file))
        except ValueError as error:
            print(f"{place}: {error}")
            continue
        for op, op_def in definitions.items():
            if not OF_OTHERS.search(op):
                yield str(place), op, functools.partial(look_at, str(file), op_def)


def of_tensorflow() -> Iterator[tuple[str, str, Callable]]:
    """The same for TensorFlow's ops with tensors in and out and a kernel for the CPU."""
    functions = {}
    for path in Path(tf.__file__).parent.glob("python/ops/gen_*.py"):
        functions |= vars(importlib.import_module(f"tensorflow.python.ops.{path.stem}"))
    for op in sorted(
        dir(tf.raw_ops), key=lambda x: hashlib.sha256(x.encode()).digest()
    ):
        function = functions.get(getattr(getattr(tf.raw_ops, op), "__name__", ""))
        op_def = op_def_registry.get(op)
        if (
            function is not None
            and op_def is not None
            and op_def.input_arg
            and op_def.output_arg
            and not op_def.is_stateful
            and not OF_TENSORFLOW.search(op)
            and kernels_of(op, "CPU")
        ):
            yield "", op, functools.partial(look_at_function, function, op_def)


def main() -> None:
    """Looks at ops until time is up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("found", type=Path)
    parser.add_argument("library", help="as pip calls it")
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--ops", help="only these: A,B")
    options = parser.parse_args()
    wanted = options.ops.split(",") if options.ops else None
    seen = json.loads(options.found.read_text()) if options.found.exists() else []
    known = {(one["file"], one["op"]) for one in seen}
    own = options.library == "tensorflow-cpu"
    end = time.monotonic() + options.seconds
    for file, op, look in of_tensorflow() if own else of_library(options.library):
        if time.monotonic() > end:
            break
        if (file, op) in known or (wanted and op not in wanted):
            continue
        sample = SAMPLES.get(options.library, {}).get(op)
        try:
            told = look(10.0, sample, checks=("empty", "bad_input"))
        except Exception as error:  # opcheck's own fault
            told = Found(op, left_out=f"opcheck raised {type(error).__name__}: {error}")
        seen.append({"file": file, **told.as_dict()})
        print(op, len(told.failures), told.left_out, flush=True)
        options.found.write_text(json.dumps(seen, indent=1))


if __name__ == "__main__":
    main()
