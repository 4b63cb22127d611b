"""Change the interface of MuLaw, and see what becomes of the model that version 1 saved.

No process can hold two versions of an op. So each is loaded in a process of its own, a fork of one that has
imported TensorFlow and done nothing else. `backward_compatibility_changed.cc` takes any interface.
"""

import functools
import multiprocessing
import multiprocessing.forkserver
import os
import re
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
CALL = r'(\w+)\("?(.*?)"?\)$'
INPUT, OUTPUT = '.Input("signal: float")', '.Output("result: float")'


class Change(NamedTuple):
    """What takes the place of what in version 1.

    Attributes:
      new: Lines of the interface, or a part of one.
      old: What they replace; the empty string: `new` comes before the input.
      kernel: What is special about the kernel: nothing, "other" or "none".
    """

    new: str
    old: str = ""
    kernel: str = ""


class Verdict(NamedTuple):
    """What becomes of last year's files.

    Attributes:
      checks: What the checks of TensorFlow complain of, or the empty string.
      graph: What becomes of the GraphDef: `same result`, `another result`, or an error.
      model: What becomes of the SavedModel.
      log: What TensorFlow logged meanwhile.
      features: What the model returned, if anything.
      python: What becomes of calls of the generated function.
    """

    checks: str
    graph: str
    model: str
    log: str
    features: Any
    python: str


CHANGES = {
    "Attr": {
        "added, with a default": Change('.Attr("gain: float = 1.0")'),
        "added, without one": Change('.Attr("gain: float")'),
        "a default changed": Change("mu: float = 10.0", "mu: float = 255.0"),
        "a default taken away": Change("mu: float", "mu: float = 255.0"),
        "removed": Change("", '.Attr("mu: float = 255.0")'),
        "one value more": Change("{'encode', 'decode', 'both'}", "{'encode', 'decode'}"),
        "any value": Change("mode: string", "mode: {'encode', 'decode'}"),
        "one value less": Change("{'decode'}", "{'encode', 'decode'}"),
        "in place of a type": Change(
            '.Attr("T: {float, double} = DT_FLOAT")\n.Input("signal: T")\n.Output("result: T")',
            f"{INPUT}\n    {OUTPUT}",
        ),
        "any type": Change(
            '.Attr("T: type = DT_FLOAT")\n.Input("signal: T")\n.Output("result: T")',
            f"{INPUT}\n    {OUTPUT}",
        ),
    },
    "Input": {
        "renamed": Change('.Input("sound: float")', INPUT),
        "made a list": Change('.Attr("N: int >= 1 = 1")\n.Input("signals: N * float")', INPUT),
        "made a list of any types": Change(
            '.Attr("Ts: list(type) = [DT_FLOAT]")\n.Input("signals: Ts")', INPUT
        ),
        "added": Change(f'{INPUT}\n.Input("noise: float")', INPUT),
        "an empty list added": Change(
            f'.Attr("N: int >= 0 = 0")\n{INPUT}\n.Input("others: N * float")', INPUT
        ),
    },
    "Output": {
        "renamed": Change('.Output("code: float")', OUTPUT),
        "made a list": Change('.Attr("M: int >= 1 = 1")\n.Output("result: M * float")', OUTPUT),
        "added": Change(f'{OUTPUT}\n.Output("range: float")', OUTPUT),
        "an empty list added": Change(
            f'.Attr("M: int >= 0 = 0")\n{OUTPUT}\n.Output("more: M * float")', OUTPUT
        ),
        "another type": Change('.Output("result: double")', OUTPUT),
    },
    "The rest": {
        "a stricter shape function": Change(".SetShapeFn(MatrixShape)", ".SetShapeFn(UnchangedShape)"),
        "another result of the kernel": Change("", "", "other"),
        "no kernel": Change("", "", "none"),
        "another name": Change('REGISTER_OP("OpByOp>MuLaw")', 'REGISTER_OP("MuLaw")'),
        "an end in the future": Change('.Deprecated(3000, "Use OpByOp>MuLaw")'),
        "an end in the past": Change('.Deprecated(1700, "Use OpByOp>MuLaw")'),
    },
}  # fmt: skip


def version_1() -> str:
    """The interface of version 1, as its source has it, without the documentation."""
    source = (HERE / "backward_compatibility_v1.cc").read_text()
    return re.search(r"^REGISTER_OP.*?(?=\n *\.Doc)", source, re.M | re.S)[0]


def changed(change: Change) -> str:
    """The interface with a change.

    Raises:
      ValueError: Version 1 does not have what is to be replaced, or has it twice.
    """
    if change.kernel:
        return version_1()
    old, new = change.old, change.new
    if not old:
        old, new = INPUT, f"{new}\n{INPUT}"
    if version_1().count(old) != 1:
        raise ValueError(f"version 1 must have one {old}, got {version_1()}")
    return version_1().replace(old, new)


def load_changed(change: Change):
    """Loads MuLaw with a change, once in a process: the module of the generated function."""
    from op_library import load_op_library

    calls = re.findall(CALL, changed(change), re.M)
    os.environ["MU_LAW_INTERFACE"] = "\n".join(map(" ".join, calls))
    os.environ["MU_LAW_KERNEL"] = change.kernel
    return load_op_library(HERE / "libbackward_compatibility_changed.so")


def verdict(folder: Path, change: Change) -> Verdict:
    """What becomes of the files in `folder` and of calls; for a process that has loaded no other MuLaw."""
    import tensorflow as tf
    from op_def_check import check_op_def, op_defs
    from read_v1 import SIGNAL, called, logged, outcomes, saved_model_function

    library = load_changed(change)
    found, features, calls = [], [], []

    def look() -> None:
        try:
            complaints = check_op_def(op_defs(folder / "model")["MuLaw"])
        except tf.errors.NotFoundError as error:
            complaints = error.message
        found.extend(["".join(complaints), *outcomes(folder)])

    log = logged(look)
    logged(lambda: calls.append(called(library, folder)))
    if found[-1].endswith("result"):
        # A warning comes again after some seconds, and would end on the page.
        load = functools.partial(saved_model_function, folder / "model")
        logged(lambda: features.append(load()(SIGNAL).numpy()))
    return Verdict(*found, log, *features or [None], *calls)


def in_session(folder: Path, change: Change) -> str:
    """What becomes of the SavedModel in a session of TensorFlow 1; for a process that has loaded no other MuLaw."""
    import numpy as np
    from read_v1 import logged, outcome, session_function

    load_changed(change)
    found, expected = [], np.load(folder / "features.npy")
    load = functools.partial(session_function, folder / "model")
    logged(lambda: found.append(outcome(load, expected)))
    return found[0]


def save_a_list(change: Change, folder: Path) -> None:
    """Saves a model that passes two tensors to MuLaw with a change; in a process that has loaded no other MuLaw."""
    import tensorflow as tf

    op, model = load_changed(change).mu_law, tf.Module()
    model.encode = tf.function(
        lambda signal: op([signal, signal], mode="encode"),
        input_signature=[tf.TensorSpec([None], tf.float32)],
        autograph=False,
    )
    tf.saved_model.save(model, str(folder))


def load_a_list(change: Change, folder: Path) -> str:
    """What becomes of that model with another change; in a process that has loaded no other MuLaw."""
    import tensorflow as tf
    from read_v1 import logged

    load_changed(change)
    try:
        logged(lambda: tf.saved_model.load(str(folder)).encode([0.25]))
    except (ValueError, tf.errors.OpError) as error:
        return getattr(error, "message", str(error))
    return ""


def call(change: Change, *arguments) -> str:
    """Calls the generated function of MuLaw with a change; in a process that has loaded no other MuLaw."""
    result = load_changed(change).mu_law(*arguments)
    return (
        f"tuple of {len(result)}" if isinstance(result, tuple) else str(result.numpy())
    )


@functools.cache
def _context():
    """Starts the process that is forked; it and its forks log warnings."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tensorflow"])
    level = os.environ.get("TF_CPP_MIN_LOG_LEVEL", "0")
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "1"
    multiprocessing.forkserver.ensure_running()
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = level
    return context


def in_fork(function: Callable, *arguments):
    """Calls a function of a module in a process of its own."""
    with ProcessPoolExecutor(1, _context()) as process:
        return process.submit(function, *arguments).result()


def verdicts(folder: Path, changes: Iterable[Change]) -> list[Verdict]:
    """What becomes of the files in `folder`, for each change by itself."""
    with ThreadPoolExecutor(2) as threads:
        return list(threads.map(functools.partial(in_fork, verdict, folder), changes))
