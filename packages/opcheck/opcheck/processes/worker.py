"""What runs in a child process: checks, and single calls of the op."""

import os
import resource
import sys
import tempfile
import traceback
from multiprocessing.connection import Connection

from opcheck.findings.report import UNTRACED, Findings, Skip, describe_error
from opcheck.processes import children
from opcheck.registry import CHECKS

_PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep
_EXHAUSTED = ("error", ("MemoryError: more than the option `memory` allows", ""))


def serve(connection: Connection, temporary: str = "") -> None:
    """Answers requests until the other side closes the connection.

    A request is a function of the Subject and its other arguments; the first one is "start", with those of `start`.

    Args:
      connection: To the parent.
      temporary: The folder for temporary files, once the op's module is imported: this may look for its own.
    """
    children.in_worker = True
    subject = None
    while True:
        try:
            function, arguments = connection.recv()
        except EOFError:
            return
        try:
            if function == "start":
                subject, answer = start(connection, **arguments), None
                if temporary:
                    tempfile.tempdir = os.environ["TMPDIR"] = temporary
            else:
                answer = function(subject, **arguments)
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


def start(
    connection: Connection,
    location=None,
    inputs=(),
    attrs=None,
    options=None,
    has_reference=False,
    constants=None,
    path=(),
    folder=".",
    threads=0,
    gpu=False,
):
    """Prepares the process.

    Args:
      connection: For questions to the parent.
      location: Of the op; None: only SavedModels are going to be loaded.
      inputs: Arrays and lists of arrays.
      attrs: Of the op.
      options: Of the checks.
      has_reference: Whether the parent has a reference function.
      constants: Those that its code names.
      path: `sys.path` of the parent.
      folder: Its working directory.
      threads: The number of intra-op threads; 0 leaves it to TensorFlow.
      gpu: Whether the op may run on a GPU.

    Returns:
      The Subject, if there is an op.
    """
    import tensorflow as tf

    sys.path[:] = path
    os.chdir(folder)
    limit_memory(options or {})
    if threads:
        tf.config.threading.set_intra_op_parallelism_threads(threads)
    if not gpu:
        tf.config.set_visible_devices([], "GPU")
    for device in tf.config.get_visible_devices("GPU"):
        tf.config.experimental.set_memory_growth(device, True)
    if location is None:
        return None
    from opcheck.subject import Subject

    def reference(*inputs, **attrs):
        connection.send(("reference", (inputs, attrs)))
        fine, answer = connection.recv()
        if not fine:
            raise ReferenceError_(answer)
        return answer

    def progress(label, flat=None, attrs=None):
        call = None
        if flat is not None:
            call = subject.pack(flat), subject.attrs if attrs is None else attrs
        connection.send(("progress", (label, call)))

    subject = Subject(
        location.load(),
        list(inputs),
        dict(attrs or {}),
        options or {},
        reference if has_reference else None,
        progress,
    )
    subject.location = location
    subject.constants = constants or subject.constants
    return subject


def check_inside(subject, name: str, own=None):
    """Runs a check that takes the Subject: a Result.

    Args:
      subject: The op.
      name: Of the check.
      own: If it is one of the caller's own: the function, or where to find it.
    """
    from opcheck.subject import whole_tracebacks

    def run(found):
        function = own or CHECKS[name].function
        function = function if callable(function) else function.load()
        with whole_tracebacks():
            try:
                return function(subject, found)
            except Skip:
                raise
            except Exception:
                if not found.failures and subject.has_no_graph():
                    raise Skip(UNTRACED) from None
                raise

    return run_check(name, "" if own else CHECKS[name].chapter, run)


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
    return (
        "the check could not go on",
        "a result for the sample inputs",
        error,
        f"it is raised in {place}" if place else "",
    )


def place(error: BaseException) -> str:
    """The caller's own file and line that raised, if any: not TensorFlow's and not opcheck's."""
    own = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if "/tensorflow/" not in frame.filename
        and not frame.filename.startswith("<frozen")
        and not frame.filename.startswith(_PACKAGE)
    ]
    return f"{os.path.basename(own[-1].filename)}, line {own[-1].lineno}" if own else ""


def limit_memory(options) -> None:
    """Lets a huge allocation fail instead of the machine; sanitizers reserve too much for that.

    Memory that is reserved but cannot be written yet does not count: malloc has 64 MiB of it for a thread, CUDA more.
    """
    limit = options.get("memory", 4 << 30)
    maps = open("/proc/self/maps").read() if os.path.exists("/proc/self/maps") else ""
    if not limit or not maps or any(f"lib{s}san" in maps for s in ("a", "t", "ub")):
        return
    with open("/proc/self/statm") as statm:
        used = int(statm.read().split()[5]) * resource.getpagesize()
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    soft = used + limit
    if hard == resource.RLIM_INFINITY or soft < hard:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
