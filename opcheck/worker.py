"""What runs in a child process: checks, and single calls of the op."""

import os
import pickle
import resource
import sys
import traceback
from multiprocessing.connection import Connection

import numpy as np

from opcheck import children
from opcheck.report import Findings, Skip, describe_error

_EXHAUSTED = ("error", ("MemoryError: more than the option `memory` allows", ""))


def serve(connection: Connection) -> None:
    """Answers requests until the other side closes the connection."""
    children.in_worker = True
    worker = None
    while True:
        try:
            request, arguments = connection.recv()
        except EOFError:
            return
        try:
            if request == "start":
                worker = Worker(connection, **arguments)
                answer = None
            else:
                answer = getattr(worker, request)(**arguments)
            reply = ("answer", answer)
        except MemoryError:
            reply = _EXHAUSTED
        except Exception as error:
            reply = ("error", (describe_error(error), place(error)))
        try:
            connection.send(reply)
        except MemoryError:
            connection.send(_EXHAUSTED)
        except BrokenPipeError:
            return


class Worker:
    """The requests: each public method is one.

    Args:
      connection: For questions to the parent, or None in the parent itself.
      location: Of the op; None: only `load_saved_model` is going to be called.
      inputs: Arrays and lists of arrays.
      attrs: Of the op.
      options: Of the checks.
      has_reference: Whether the parent has a reference function.
      extra: The caller's own checks by name: functions, or where to find them.
      path: `sys.path` of the parent.
      folder: Its working directory.
      threads: The number of intra-op threads; 0 leaves it to TensorFlow.
      gpu: Whether the op may run on a GPU.
    """

    def __init__(
        self,
        connection: Connection | None,
        location=None,
        inputs=(),
        attrs=None,
        options=None,
        has_reference=False,
        extra=None,
        path=None,
        folder=None,
        threads=0,
        gpu=False,
    ):
        import tensorflow as tf

        self._connection = connection
        self._extra = extra or {}
        if path is not None:
            sys.path[:] = path
        if folder is not None:
            os.chdir(folder)
        if connection is not None:
            _limit_memory(options or {})
            if threads:
                tf.config.threading.set_intra_op_parallelism_threads(threads)
            if not gpu:
                tf.config.set_visible_devices([], "GPU")
            for device in tf.config.get_visible_devices("GPU"):
                tf.config.experimental.set_memory_growth(device, True)
        if location is not None:
            from opcheck.subject import Subject

            op = location if callable(location) else location.load()
            self.subject = Subject(
                op,
                list(inputs),
                dict(attrs or {}),
                options or {},
                self._reference if has_reference else None,
                self._progress,
            )

    def _progress(self, label: str) -> None:
        if self._connection is not None:
            self._connection.send(("progress", label))

    def _reference(self, *inputs, **attrs):
        self._connection.send(("reference", (inputs, attrs)))
        fine, answer = self._connection.recv()
        if not fine:
            raise ReferenceError_(answer)
        return answer

    def ping(self) -> None:
        """Nothing; the process has started when this is answered."""

    def names(self) -> list[str]:
        """What an error message may call the inputs and attrs of the op by."""
        return self.subject.parameters()

    def describe(self):
        """What tracing tells of the op."""
        return self.subject.describe()

    def check(self, name: str):
        """Runs one check: a Result."""
        from opcheck.checks import IN_WORKER

        def run(found):
            check = IN_WORKER[name][0] if name in IN_WORKER else self._extra[name]
            check = check if callable(check) else check.load()
            return check(self.subject, found)

        return run_check(name, IN_WORKER.get(name, (None, ""))[1], run)

    def call(self, inputs, attrs, modes):
        """Calls the op: see `calls.call`."""
        from opcheck import calls

        return calls.call(self.subject, inputs, attrs, modes)

    def fuzz(self, inputs, attrs, count, thorough, outputs):
        """A generated call and its variations: see `generated.fuzz`."""
        from opcheck import generated

        return generated.fuzz(self.subject, inputs, attrs, count, thorough, outputs)

    def other_sizes(self):
        """Larger and smaller versions of the sample: see `calls.other_sizes`."""
        from opcheck import calls

        return calls.other_sizes(self.subject)

    def repeat(self, samples, times: int):
        """The outputs of some calls, each in memory that held something else before."""
        from opcheck import calls

        return calls.repeat(self.subject, samples, times)

    def save_model(self, folder: str):
        """Writes a SavedModel that calls the op."""
        from opcheck import calls

        return calls.save_model(self.subject, folder)

    def load_saved_model(self, folder: str, inputs):
        """Loads a SavedModel and calls it."""
        from opcheck import calls

        return calls.load_saved_model(folder, inputs)


class ReferenceError_(Exception):
    """The caller's reference function raised."""


def run_check(name, chapter, check):
    """Runs a check and turns what it raises into a Result."""
    from dataclasses import replace

    found = Findings(name, chapter)
    try:
        summary = check(found)
    except Skip as reason:
        return replace(found.result(), verdict="skip", detail=str(reason))
    except Exception as error:
        found.fail(*refused(describe_error(error), place(error)))
        summary = ""
    return found.result(summary or "")


def refused(error: str, place: str) -> tuple[str, str, str, str]:
    """What was tried, what was expected and seen, and the likely cause."""
    cause = (
        "the op, or the reference function, refuses the sample in this mode, or the op's module "
        "cannot be imported"
    )
    return (
        "the check could not go on",
        "a result for the sample inputs",
        error,
        f"{cause} ({place})" if place else cause,
    )


def place(error: BaseException) -> str:
    """The caller's own file and line that raised, if any: not TensorFlow's and not opcheck's."""
    own = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if "/tensorflow/" not in frame.filename
        and not frame.filename.startswith("<frozen")
        and not frame.filename.startswith(os.path.dirname(__file__) + os.sep)
    ]
    return f"{os.path.basename(own[-1].filename)}, line {own[-1].lineno}" if own else ""


def _limit_memory(options) -> None:
    """Lets a huge allocation fail instead of the machine; sanitizers reserve too much for that."""
    limit = options.get("memory", 4 << 30)
    maps = open("/proc/self/maps").read() if os.path.exists("/proc/self/maps") else ""
    if not limit or not maps or any(f"lib{s}san" in maps for s in ("a", "t", "ub")):
        return
    with open("/proc/self/statm") as statm:
        used = int(statm.read().split()[0]) * resource.getpagesize()
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    soft = used + limit
    if hard == resource.RLIM_INFINITY or soft < hard:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def is_picklable(value) -> bool:
    """Whether a value can be sent to a worker."""
    try:
        pickle.dumps(value)
    except Exception:
        return False
    return not isinstance(value, np.ndarray) or value.dtype != object or True
